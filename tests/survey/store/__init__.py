"""Tests of textassay.survey.store."""
