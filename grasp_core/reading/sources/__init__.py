"""Sources of bytes: paths, folders, addresses, published data."""
