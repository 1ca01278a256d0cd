"""What results are told with: names of statistics and groups, label use, how data were read."""
