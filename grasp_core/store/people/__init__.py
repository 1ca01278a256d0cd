"""Users of a server: people, their sessions, their personal tokens and their projects."""
