"""Fitted models on disk: a safe archive, and a codec between objects and what it holds."""
