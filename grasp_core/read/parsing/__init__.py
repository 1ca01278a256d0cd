"""A stranger's bytes become a table, in a limited process; so does a data frame, in this one."""
