"""Reports: a run of experiments as one HTML page that needs neither a server nor a network.

`write_report` makes the page; `explore` and `explore_run` return the instances of a run that the reader can step
through.
"""

from seqclass.experiment.explored import Explored
from seqclass.report.explore import explore
from seqclass.report.page import write_report

__all__ = ["Explored", "explore", "write_report"]
__dir__ = __all__.copy  # tab completion
