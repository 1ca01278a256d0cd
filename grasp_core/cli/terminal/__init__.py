"""What commands say on a terminal, and the files that they write.

Imports `asked`, `engine`, `rater_map` and `report`.
"""
