"""Exports of survey tools: a row per respondent."""
