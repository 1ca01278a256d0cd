"""The commands of the few-shot benchmark: ``raft COMMAND``."""
