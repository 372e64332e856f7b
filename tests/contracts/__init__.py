"""Suites that any affinity and any walk inherits: two or three hooks give dozens of tests."""
