"""Exact value iteration by alpha vectors."""
