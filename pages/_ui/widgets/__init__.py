"""Small widgets that any screen may use.

Imports the core alone.
"""
