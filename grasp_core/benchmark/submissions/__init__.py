"""Submissions: a system's labels of every row of every task, in files, and the faults of these."""
