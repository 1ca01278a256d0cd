"""Quality: limits of what the data can show, told before any run.

Imports `guards`, `io`, `permutation`, `remarks`, `report`, `screens` and `statistics`.
"""
