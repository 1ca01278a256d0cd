"""Webhooks: addresses are told, signed, that a run has ended."""
