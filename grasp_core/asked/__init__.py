"""Questions, by a command or from Python: options become a reading of the files and a run."""
