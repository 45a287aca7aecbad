"""Many prices at once, and budgets."""
