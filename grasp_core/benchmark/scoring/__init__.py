"""Scores of labels: against gold, each other and people, and by leave-one-out."""
