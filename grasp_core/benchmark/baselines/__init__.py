"""Baselines: ways of labelling a task's rows from its few labelled ones, by one protocol."""
