"""Compiled code that counts labels and adds up items' terms under permutations."""
