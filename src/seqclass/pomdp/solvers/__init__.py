"""Solvers: settings in, certified policy out."""
