"""Statistics of experiments: intervals of means, paired tests, ranks over data sets, wins and losses, tests of risks.

Scores come a row a data set (or fold) and a column a method, as an array or a data frame. A score that is missing is an
error unless ``nan="omit"`` says that its row or pair is to be left out.
"""

from __future__ import annotations

from seqclass.stats.friedman import CriticalDifference, FriedmanTest, critical_difference, friedman_test
from seqclass.stats.intervals import MeanInterval, mean_interval
from seqclass.stats.paired import GroupDifference, PairedTest, group_differences, paired_t_test, wilcoxon_test
from seqclass.stats.risk import (
    binomial_p_value,
    binomial_upper_bound,
    fallback_test,
    hoeffding_bentkus_p_value,
    hoeffding_bentkus_upper_bound,
    rows_needed,
)
from seqclass.stats.wins import WinTieLoss, win_tie_loss

__all__ = [
    "CriticalDifference",
    "FriedmanTest",
    "GroupDifference",
    "MeanInterval",
    "PairedTest",
    "WinTieLoss",
    "binomial_p_value",
    "binomial_upper_bound",
    "critical_difference",
    "fallback_test",
    "friedman_test",
    "group_differences",
    "hoeffding_bentkus_p_value",
    "hoeffding_bentkus_upper_bound",
    "mean_interval",
    "paired_t_test",
    "rows_needed",
    "wilcoxon_test",
    "win_tie_loss",
]
