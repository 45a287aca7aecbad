"""Adaptive order: rules that say what to ask next, when to stop along them, and the choice among them."""
