"""Exports of crowdsourcing platforms."""
