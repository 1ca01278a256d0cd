"""What commands say on a terminal, and the files that they write.

Imports `asked`, `engine`, `permutation`, `rater_map` and `report`.
"""
