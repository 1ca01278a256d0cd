"""RAFT, a few-shot benchmark, and a team's own tasks of its form.

From the top layer down: jobs, baselines and language models, scoring, submissions, tasks.
"""
