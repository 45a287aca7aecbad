"""How good a fitted classifier is on given rows: scores, curves, certified errors."""
