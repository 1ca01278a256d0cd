"""Parsing of untrusted bytes in a process of limited memory and time that ends afterwards.

A helper process (:mod:`.process`) has imported the readers and forks a child for each file (:mod:`.parse`).
The process that serves or computes only streams bytes to the child and receives a finished table
(:mod:`.read`). Later work on tables, i.e. guesses and data sets, runs in such a child
too.
"""
