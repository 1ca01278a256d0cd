"""Bytes of one file as a table: text, JSON, workbooks, statistical programs."""
