"""Cohesion: how far each group agrees with itself and with the others, GAI, and the DSI of every axis."""
