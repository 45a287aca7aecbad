"""Bounds on the optimal cost, and certificates made of them."""
