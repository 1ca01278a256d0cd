"""The panel of a group's items: the contribution of each to the group's label use and distance."""
