"""Fuzz targets for every reader of files: ``python -m tests.fuzz --help``."""
