"""Work on untrusted bytes and tables in forked processes of limited memory and time that end afterwards."""
