"""Tests of textassay.survey.web."""
