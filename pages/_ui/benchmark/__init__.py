"""The few-shot benchmark."""
