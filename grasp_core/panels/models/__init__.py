"""Models as raters: how far each model agrees with each group, held against chance groups.

Imports `io`, `permutation`, `remarks` and `statistics`.
"""
