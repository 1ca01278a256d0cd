"""The panel of one axis given another: the same groups, shuffled within its values too."""
