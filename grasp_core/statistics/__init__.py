"""The definitions of docs/methods.md, one small function each, in plain NumPy.

The compiled kernel in :mod:`grasp_core.permutation` computes the same numbers faster; this is the
twin it is tested against. Letters: I items, J raters, K categories, G groups; ``c[i, k]`` is the number
of group members who gave item i category k, ``d[i, k]`` the same for the complement.
"""
