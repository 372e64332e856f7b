"""Runs: a fit on files, from its settings to the folder that holds what came of it."""
