"""Null distributions: shuffled values kept whole or counted, and where an observed value lies among them."""
