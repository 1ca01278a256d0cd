"""What a server does with strangers' tables, in a process of limited memory and time.

The functions are in :mod:`.work`, and are called there by :mod:`.limited`. Commands and notebooks, whose
files are their own, call what these call.
"""
