"""Simple rules and look-ahead."""
