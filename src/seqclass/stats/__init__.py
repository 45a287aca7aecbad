"""Statistics of experiments: intervals of means, paired tests, ranks over data sets, wins and losses, tests of risks.

Scores come a row a data set (or fold) and a column a method, as an array or a data frame. A score that is missing is an
error unless ``nan="omit"`` says that its row or pair is to be left out.
"""

from __future__ import annotations

from seqclass.stats.friedman import critical_difference, friedman_test
from seqclass.stats.intervals import mean_interval
from seqclass.stats.paired import paired_t_test

__all__ = ["critical_difference", "friedman_test", "mean_interval", "paired_t_test"]
