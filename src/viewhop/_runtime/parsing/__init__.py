"""Parsers of other libraries, in a process of their own, with limits of time and memory."""
