"""How a classifier is fitted: steps, plans, calibration, cross-fitting, chunks."""
