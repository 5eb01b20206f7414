"""Tests of textassay.survey.turk."""
