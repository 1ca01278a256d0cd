"""From a run's result to figures: the same Altair charts on the page and in exports."""
