"""Hypothesis without time limits: the first example may have to wait for the kernel's compiler."""

from hypothesis import settings

settings.register_profile("untimed", deadline=None)
settings.load_profile("untimed")
