"""Statistics of experiments: intervals of means, paired tests, ranks over data sets, wins and losses, tests of risks.

Scores are an array or a data frame with one row per data set (or fold) and one column per method. A missing score is an
error unless ``nan="omit"`` says to leave out its row or pair.
"""

from seqclass.stats.friedman import critical_difference, friedman_test
from seqclass.stats.intervals import mean_interval
from seqclass.stats.paired import paired_t_test

__all__ = ["critical_difference", "friedman_test", "mean_interval", "paired_t_test"]
__dir__ = __all__.copy  # tab completion
