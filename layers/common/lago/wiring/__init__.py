"""Puts each function together: its settings, stores, channels and sources. What handlers import."""
