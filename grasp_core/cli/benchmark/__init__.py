"""The commands of the few-shot benchmark, below ``raft``."""
