"""Formats that a graph can be read from."""
