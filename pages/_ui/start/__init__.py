"""The Start screen's actions."""
