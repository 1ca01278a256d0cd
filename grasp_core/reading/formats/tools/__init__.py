"""Exports of annotation tools, one module each."""
