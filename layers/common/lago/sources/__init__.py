"""Marketplace adapters: a query in, pages of ads out."""
