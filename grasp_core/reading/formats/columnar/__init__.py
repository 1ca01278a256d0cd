"""Parquet and Arrow, whose cells may be lists."""
