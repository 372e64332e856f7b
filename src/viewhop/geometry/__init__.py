"""Geometry: from a spectrum to coordinates, distances and agreement of views."""
