"""The panel of a group's items: which of them carry its label use and its distance."""
