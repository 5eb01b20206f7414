"""Tests of textassay.survey.create."""
