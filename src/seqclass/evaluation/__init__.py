"""How good a fitted classifier is on rows: scores, curves, certified errors."""
