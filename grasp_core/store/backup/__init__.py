"""Backups: all that lasts in one file, in the open or sealed by a key, and read into an empty database.

`earlier_documents` brings kept answers of former versions up to date, `earlier_addresses` who holds a mail
address, for backups and for migrations.
"""
