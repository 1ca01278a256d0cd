"""Words for results: names of statistics and groups, label use, how data were read."""
