"""Fast-OSFS: OSFS with the conditioning sets cut down to those that matter."""

from __future__ import annotations

from seqclass.selection.osfs import OSFS


class FastOSFS(OSFS):
    """The faster form of `OSFS`: the new feature first, then the others by sets that hold it.

    A feature that depends on the class is dropped at once if some set of at most `max_condition` kept features makes it
    independent of the class. Otherwise it is kept, and each older one is dropped if such a set *with the new feature in
    it* makes that one independent.

    Parameters
    ----------
    test, alpha, max_condition, class_coding, rows_per_freedom
        As of `OSFS`.

    Attributes
    ----------
    selected_, scores_, support_, classes_, n_features_in_, feature_names_in_, n_seen_
        As of `OSFS`.

    Notes
    -----
    The authors' LOFS code tests the new feature a second time, against a part of the sets, along with the older ones;
    here it is tested once, against all sets, as the papers describe.

    References
    ----------
    X. Wu, K. Yu, W. Ding, H. Wang, X. Zhu, "Online feature selection with streaming features", IEEE Transactions on
    Pattern Analysis and Machine Intelligence 35, 2013.

    Examples
    --------
    >>> import numpy as np
    >>> rng = np.random.default_rng(0)
    >>> y = np.repeat([0, 1], 300)
    >>> cause = y + 0.8 * rng.normal(size=600)
    >>> X = np.stack([cause + rng.normal(size=600), rng.normal(size=600), cause], axis=1)
    >>> FastOSFS().fit(X, y).get_support(indices=True)
    array([2])
    """

    _replaces = False

    def _prune(self) -> None:
        new = len(self._kept) - 1
        if self._test.separated(new, self.max_condition):
            self._drop(new)
            return
        member = 0
        while member < len(self._kept) - 1:
            if self._test.separated(member, self.max_condition, through=len(self._kept) - 1):
                self._drop(member)
            else:
                member += 1
