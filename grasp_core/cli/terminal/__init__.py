"""What commands say on a terminal, and the files that they write."""
