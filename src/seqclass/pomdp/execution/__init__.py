"""Policies run on instances, and what they cost."""
