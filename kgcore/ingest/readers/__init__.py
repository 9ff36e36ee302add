"""Readers of documents, one module a kind of file."""
