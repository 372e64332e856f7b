"""Fitted models on disk: a safe archive format, and a codec from objects to plain data."""
