"""Linear stopping thresholds, learned by stochastic approximation."""
