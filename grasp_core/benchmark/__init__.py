"""RAFT, a few-shot benchmark, and a team's own tasks of its form.

Inside, from the top: jobs, baselines and language models, scoring, submissions, tasks.
"""
