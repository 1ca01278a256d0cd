"""Strangers' bytes, parsed in a process of limited memory and time that is gone afterwards.

A helper process (:mod:`.process`) has imported the readers and forks a child for each file (:mod:`.parse`).
The process that serves or computes only streams bytes to it and takes over a finished table
(:mod:`.read`). What is done with tables later, their guess and their data set, is done in such a child
too.
"""
