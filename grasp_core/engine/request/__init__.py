"""What a command or a call from Python asks for: options become a reading of the files and a run."""
