"""Lago: classified-ads alerts without loss. One package shared by every function and the command line."""

__version__ = "0.1.0"
