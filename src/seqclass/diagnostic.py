"""Diagnostic tests by their sensitivity and specificity: from a table to a plan, and the usual sequences beside it.

Results are taken to be independent given the class, as products of likelihood ratios take them. Tests that err together
need data, or a network (`seqclass.SequentialClassifier.from_network`).
"""

from __future__ import annotations

import itertools
import math
import os
from collections.abc import Callable, Sequence
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from seqclass._utils.arrays import BoolArray, FloatArray, IntArray
from seqclass._utils.text import join_names, near, short_repr
from seqclass._utils.validation import check_costs, check_distribution, check_finite, check_integer, in_order_of_texts
from seqclass.bn import NetworkTables
from seqclass.classifier import SequentialClassifier
from seqclass.costs import Costs
from seqclass.datasets._tables import CsvForm, Opener, open_file, read_frame
from seqclass.pomdp import AcquisitionProblem, ExactFreeOrder, ExactValueIteration, TableProblem, evaluate, with_names
from seqclass.pomdp.prices_after import code_answers, with_prices_after
from seqclass.pomdp.visits import with_visits

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["TestTable", "compare_strategies"]
__dir__ = __all__.copy  # tab completion

#: The node of the class in a network of tests.
TARGET = "diagnosis"
#: Columns of a table of tests that are about what each costs, and the settings of `Costs` that they become.
_COSTS = {"price": "feature_costs", "discounted": "discounted_costs", "delay": "delays"}
#: Its rows that are no tests.
_ROWS = ("prior", "wrong")
_ACCURACY = (("sensitivity", "specificity"), ("lr_positive", "lr_negative"))


class TestTable:
    """Tests with a positive and a negative result, what they cost, and how often there is what they look for.

    How good the tests are is said in one of three ways: sensitivity and specificity, likelihood ratios, or for any
    number of classes P(positive | class). Given the class, results are independent.

    Parameters
    ----------
    names : sequence of str
        Names of the tests.
    prior : float or array-like of shape (n_classes,)
        P(class) before any test; of two classes P(disease) will do, which is the first.
    sensitivity, specificity : array-like of shape (n_tests,), optional
        P(positive | disease) and P(negative | no disease), between 0 and 1.
    lr_positive, lr_negative : array-like of shape (n_tests,), optional
        Likelihood ratios instead, sensitivity / (1 - specificity) and (1 - sensitivity) / specificity: one of them at
        least 1 and the other at most 1; ``lr_positive`` may be infinite.
    positive : array-like of shape (n_tests, n_classes), optional
        P(positive | class) instead. What pandas has by name, here or above, goes by the names.
    classes : sequence of str
        Names of the classes; of two the first is the disease.
    costs : Costs, float, array-like or dict
        Prices of the tests, groups with discounts, and costs of decisions, in the order of the classes or by name; see
        `seqclass.Costs`.

    Raises
    ------
    ValueError
        If a probability is not between 0 and 1, likelihood ratios are those of no test, how good a test is is said
        twice or not at all, names are not different, or costs do not fit.

    Attributes
    ----------
    names, classes, decisions : tuple of str
        Names of the tests, of the classes in their order here, and of the decisions, the classes first.
    prior : ndarray of shape (n_classes,)
        P(class).
    positive : ndarray of shape (n_tests, n_classes)
        P(positive | class).
    decision_costs : ndarray of shape (n_classes, n_decisions)
        Cost of each decision, the first ones for the classes, when each class is true.
    prices : Prices
        Price of each test.
    costs : Costs
        What tests and decisions cost, as `classifier` takes it: decisions in the sorted order of the classes.

    See Also
    --------
    from_csv : The same from a file.
    compare_strategies : The usual sequences of tests beside the best.

    Examples
    --------
    >>> from seqclass import Costs
    >>> costs = Costs([20, 120], decision_costs=[[0, 1000], [100, 0]], unit="EUR")
    >>> tests = TestTable(["d-dimer", "scan"], 0.2, sensitivity=[0.95, 0.9], specificity=[0.5, 0.95], costs=costs)
    >>> tests
    TestTable(2 tests at 20 to 120 EUR, P(disease) = 0.2)
    >>> clf = tests.classifier()
    >>> session = clf.session()
    >>> session.next_feature.name, session.observe("d-dimer", "negative"), str(session.decision)
    ('d-dimer', None, 'no disease')
    """

    __test__ = False  # it is no test of pytest's

    def __init__(
        self,
        names: Sequence[str],
        prior: float | npt.ArrayLike,
        *,
        sensitivity: npt.ArrayLike | None = None,
        specificity: npt.ArrayLike | None = None,
        lr_positive: npt.ArrayLike | None = None,
        lr_negative: npt.ArrayLike | None = None,
        positive: npt.ArrayLike | None = None,
        classes: Sequence[str] = ("disease", "no disease"),
        costs: Any = 0.01,
    ) -> None:
        self.names, self.classes = _check_names(names, "names", 1), _check_names(classes, "classes", 2)
        if TARGET in self.names:
            raise ValueError(f"names: a test cannot be called {TARGET!r}, as the class is; call it otherwise.")
        prior = in_order_of_texts(prior, "prior", self.classes)
        scalar = np.ndim(prior) == 0 and len(self.classes) == 2
        prior = np.append(sick := self._fractions([prior], "prior"), 1 - sick) if scalar else prior
        self.prior = check_distribution(prior, len(self.classes), "prior")
        ways = {"sensitivity": sensitivity, "specificity": specificity}
        ways |= {"lr_positive": lr_positive, "lr_negative": lr_negative, "positive": positive}
        stated = tuple(name for name, value in ways.items() if value is not None)
        if stated not in (*_ACCURACY, ("positive",)) or (len(stated) == 2 and len(self.classes) != 2):
            raise ValueError(
                "say how good the tests are by sensitivity and specificity, by lr_positive and lr_negative, or, which "
                "more than two classes need, by positive, P(positive | class); "
                f"there is {' and '.join(stated) or 'none of them'}."
            )
        if stated == _ACCURACY[0]:
            sick, well = (self._fractions(ways[name], name, (len(self.names),)) for name in stated)
            positive = np.column_stack([sick, 1 - well])
        elif stated == _ACCURACY[1]:
            ratios = (in_order_of_texts(ways[name], name, self.names) for name in stated)
            positive = self._of_ratios(*(np.array(one, dtype=np.float64) for one in ratios))
        self.positive = self._fractions(positive, "positive", (len(self.names), len(self.classes)))
        costs = Costs.from_value(costs)
        if costs.bundles is not None:
            raise ValueError("costs: bundles are of columns that are seen together; make one test of such tests.")
        self.prices = costs.prices(len(self.names), self.names)
        self.decision_costs, decisions = costs.of_decisions(np.array(self.classes))
        self.decisions = tuple(map(str, decisions.tolist()))
        # as classifiers have them, which sort the classes
        rank, more = np.argsort(self.classes), decisions[len(self.classes) :].tolist()
        columns = np.append(rank, np.arange(len(rank), len(decisions)))
        sorted_costs = {"decision_costs": self.decision_costs[rank][:, columns], "decisions": more or None}
        self.costs = Costs(**(costs.non_default_params() | sorted_costs))

    def _fractions(self, value: Any, name: str, shape: tuple[int, ...] | None = None) -> FloatArray:
        axes = (self.names, self.classes)[: len(shape or ())]
        array = check_finite(in_order_of_texts(value, name, *axes) if axes else value, name, shape)
        if (wrong := (array < 0) | (array > 1)).any():
            of = "" if shape is None else f" of {short_repr(self.names[int(np.argwhere(wrong)[0, 0])])}"
            first = float(array[wrong].flat[0])
            raise ValueError(f"{name}{of} must lie between 0 and 1, got {first:g}{_without_percent(first)}.")
        return array

    def _of_ratios(self, above: FloatArray, below: FloatArray) -> FloatArray:
        if above.shape != (len(self.names),) or below.shape != above.shape:
            raise ValueError(f"lr_positive and lr_negative must hold a number for each of the {len(self.names)} tests.")
        with np.errstate(divide="ignore", invalid="ignore"):
            well = np.where(np.isinf(above), 1.0, (above - 1) / (above - below))
            well[(above == 1) & (below == 1)] = 0.5  # it says nothing, however often it is positive
            sick = 1 - below * well
        if (wrong := ~((well >= 0) & (well <= 1) & (sick >= 0) & (sick <= 1))).any():
            q = int(wrong.argmax())
            raise ValueError(
                f"lr_positive {above[q]:g} and lr_negative {below[q]:g} of {short_repr(self.names[q])} are those of no "
                "test: one is at least 1 and the other at most 1."
            )
        return np.column_stack([sick, 1 - well])

    @classmethod
    def from_csv(
        cls, path: str | os.PathLike[str], *, sep: str | None = None, decimal: str = ".", **settings: Any
    ) -> TestTable:
        """Read the tests from a CSV, TSV or Parquet file.

        Parameters
        ----------
        path : path
            The file; its columns are described in `from_frame`.
        sep : str, optional
            Column separator; by default a comma, in TSV files a tab.
        decimal : {".", ","}
            Decimal separator.
        **settings
            Passed to `from_frame`.

        Returns
        -------
        TestTable

        Raises
        ------
        ValueError
            If the file or one of its cells is wrong; the message names column and test.
        """
        return cls.from_frame(read_tests(Path(path), CsvForm(sep, decimal)), **settings)

    @classmethod
    def from_frame(
        cls,
        frame: pd.DataFrame,
        *,
        prior: float | npt.ArrayLike | None = None,
        price: float | None = None,
        **costs: Any,
    ) -> TestTable:
        """Take the tests from a data frame with a row for each.

        Parameters
        ----------
        frame : pandas.DataFrame
            A column ``test`` of names; ``price``; if wanted ``group``, ``discounted`` (the price once another of the
            group was done) and ``delay``; and ``sensitivity`` and ``specificity``, or ``lr_positive`` and
            ``lr_negative``, or a column for each class with P(positive | class). Two rows are no tests: ``prior`` holds
            P(class), under sensitivity (or ``lr_positive``) that of the disease; ``wrong``, which may be left out,
            what a wrong decision costs when that class is true: there a missed disease, and under specificity a false
            alarm. By default it costs 1.
        prior : float or array-like of shape (n_classes,), optional
            P(disease), or P(class), instead of the row.
        price : float, optional
            Price of the tests for which there is none.
        **costs
            Further settings of `seqclass.Costs`, such as ``decision_costs`` or ``unit``.

        Returns
        -------
        TestTable

        Raises
        ------
        ValueError
            If a column, a price or the prior is missing, or a cell is wrong; the message names column and test.

        Examples
        --------
        >>> import pandas as pd
        >>> rows = [["prior", None, 0.2, 0.8], ["wrong", None, 1000, 100], ["d-dimer", 20, 0.95, 0.5]]
        >>> TestTable.from_frame(pd.DataFrame(rows, columns=["test", "price", "sensitivity", "specificity"]))
        TestTable(1 test at 20, P(disease) = 0.2)
        """
        import pandas as pd

        if "test" not in frame:
            raise ValueError(f"a table of tests needs a column 'test' of names; it has {join_names(frame.columns)}.")
        if (nameless := frame["test"].isna().to_numpy()).any():
            raise ValueError(
                f"row {nameless.argmax() + 1} has no name in the column 'test': give it one, or leave it out."
            )
        table = frame.set_axis([str(name).strip() for name in frame["test"]]).drop(columns="test")
        columns = _accuracy_columns([str(name) for name in table.columns])
        groups = table.pop("group") if "group" in table else None
        numbers = table.apply(pd.to_numeric, errors="coerce")
        if len(wrong := np.argwhere(numbers.isna().to_numpy() & table.notna().to_numpy())):
            row, column = wrong[0]
            cell = f"{table.columns[column]} of {short_repr(table.index[row])}"
            text, share = str(table.iloc[row, column]).strip(), math.nan
            with suppress(ValueError):
                share = float(text.removesuffix("%"))
            raise ValueError(f"{cell} must be a number, got {short_repr(text)}{_without_percent(share)}.")
        rows = {name: numbers.loc[name, columns].to_numpy() for name in _ROWS if name in numbers.index}
        if twice := [name for name, row in rows.items() if row.ndim > 1]:
            raise ValueError(f"there is more than one row {twice[0]!r}; keep one.")
        tests = numbers.drop(index=list(rows))
        if prior is None:
            prior = rows.get("prior")
            if prior is None:
                raise ValueError(
                    "there is no prior: add a row 'prior' with P(class), or give prior=0.1 (--prior 0.1 on the command "
                    "line)."
                )
            prior = prior[0] if np.isnan(prior[1:]).all() else prior
        tests["price"] = tests.get("price", pd.Series(np.nan, tests.index)).fillna(np.nan if price is None else price)
        if "discounted" in tests:
            tests["discounted"] = tests["discounted"].fillna(tests["price"])
        tests["delay"] = tests.get("delay", pd.Series(0.0, tests.index)).fillna(0.0)
        if len(lacking := np.argwhere(tests.isna().to_numpy())):
            row, column = lacking[0]
            other = ", or give price=1 (--price 1 on the command line)" if tests.columns[column] == "price" else ""
            cell = f"{tests.columns[column]} of {short_repr(tests.index[row])}"
            raise ValueError(f"{cell} is missing; fill it in{other}.")
        if "wrong" in rows and "decision_costs" not in costs:
            costs["decision_costs"] = check_costs(rows["wrong"], "row 'wrong'")[:, None] * (1 - np.eye(len(columns)))
        if groups is not None:
            costs["groups"] = [None if pd.isna(label) else label for label in groups.drop(index=list(rows))]
        timed = tests["delay"].any() or ("delay" in table and costs.get("delay_cost") is not None)
        there = [column for column in _COSTS if column in tests and (column != "delay" or timed)]
        costs |= {_COSTS[column]: tests[column].to_numpy() for column in there}
        own: dict[str, Any] = {name: tests[name].to_numpy() for name in columns}
        if tuple(columns) not in _ACCURACY:
            own = {"classes": columns, "positive": tests[columns].to_numpy()}
        return cls(tests.index.tolist(), prior, **own, costs=Costs(**costs))

    def __repr__(self) -> str:
        n, (low, high) = len(self.names), (self.prices.full.min(), self.prices.full.max())
        unit = f" {name}" if (name := self.costs.unit_name()) else ""
        prices = f"{low:g}{unit}" if low == high else f"{low:g} to {high:g}{unit}"
        shares = (
            f"P({self.classes[0]}) = {self.prior[0]:g}" if len(self.classes) == 2 else f"{len(self.classes)} classes"
        )
        return f"TestTable({n} test{'' if n == 1 else 's'} at {prices}, {shares})"

    def to_frame(self) -> pd.DataFrame:
        """Return the tests as a data frame.

        Returns
        -------
        pandas.DataFrame
            Test, price, and of two classes sensitivity, specificity and likelihood ratios, of more P(positive | class).
        """
        import pandas as pd

        columns: dict[str, Any] = {"test": list(self.names), "price": self.prices.full}
        if len(self.classes) == 2:
            sick, well = self.positive.T
            with np.errstate(divide="ignore", invalid="ignore"):
                ratios = {"lr_positive": sick / well, "lr_negative": (1 - sick) / (1 - well)}
            columns |= {"sensitivity": sick, "specificity": 1 - well} | ratios
        else:
            own = (f"P(positive | {name})" if name in columns else name for name in self.classes)
            columns |= dict(zip(own, self.positive.T))
        frame: pd.DataFrame = pd.DataFrame(columns)
        return frame

    def _repr_html_(self) -> str:
        return f"<p>{self!r}</p>{self.to_frame().to_html(index=False, float_format='{:.4g}'.format)}"

    def problem(self, tests: Sequence[str | int] | None = None, *, any_order: bool = True) -> AcquisitionProblem:
        """Return the acquisition problem, for any solver, with its names: outcome 0 is negative, 1 positive.

        Parameters
        ----------
        tests : sequence of str or int, optional
            Some of the tests, by name or number, in the order in which they are to be numbered; by default all.
        any_order : bool
            Whether any test may come next, or they come in this order.

        Returns
        -------
        TableProblem

        Examples
        --------
        >>> from seqclass.pomdp import optimal_cost
        >>> tests = TestTable(["a", "b"], 0.5, sensitivity=[0.9, 0.8], specificity=[0.8, 0.9], costs=0.01)
        >>> round(optimal_cost(tests.problem()), 4)
        0.16
        >>> tests.problem().initial_belief().update("b", "positive")
        <BeliefState: disease 88.9%, no disease 11.1%; 1 of 2 asked, 0.01 paid>
        """
        order = self._numbers(tests)
        prices, full, groups = self.prices.any_order(order)
        positive = self.positive[order][:, None, :]
        problem = TableProblem(
            self.prior,
            np.concatenate([1 - positive, positive], axis=1),
            prices,
            self.decision_costs,
            groups=groups,
            full_prices=full,
            any_order=any_order,
        )
        labels = {"outcomes": [["negative", "positive"]] * len(order), "classes": self.classes}
        named = with_names(problem, [self.names[q] for q in order], **labels, decisions=self.decisions)
        after = code_answers(self.prices.take(order).after, named._naming, problem.n_outcomes)
        priced = with_prices_after(named, after)
        return with_visits(priced, None if self.prices.visits is None else self.prices.visits.take(order))

    def _numbers(self, tests: Sequence[str | int] | None) -> IntArray:
        numbers = []
        for test in range(len(self.names)) if tests is None else tests:
            if isinstance(test, str) and test not in self.names:
                raise ValueError(f"tests: there is no {short_repr(test)}; {near(test, self.names, 'there are')}")
            named = isinstance(test, str)
            numbers.append(self.names.index(test) if named else check_integer(test, "tests", 0, len(self.names) - 1))
        if len({*numbers}) < len(numbers):
            raise ValueError("tests must name each test once: a second result of the same test tells nothing new here.")
        return np.array(numbers, dtype=np.intp)

    def network(self) -> NetworkTables:
        """Return the tests as a Bayesian network, whose node ``"diagnosis"`` is the class.

        Returns
        -------
        NetworkTables
        """
        tables = [self.prior, *np.stack([1 - self.positive, self.positive], axis=1)]
        states = [list(self.classes), *[["negative", "positive"]] * len(self.names)]
        return NetworkTables([TARGET, *self.names], states, [[], *[[0]] * len(self.names)], tables)

    def classifier(self, **settings: Any) -> SequentialClassifier:
        """Plan which test to do next, and return what asks live cases, explains, is saved and exported.

        Parameters
        ----------
        **settings
            Passed to `seqclass.SequentialClassifier.from_network`, such as ``max_cost`` or ``solver``.

        Returns
        -------
        SequentialClassifier
            Its columns are the tests, with the values ``"negative"`` and ``"positive"``.
        """
        return SequentialClassifier.from_network(self.network(), TARGET, **({"feature_costs": self.costs} | settings))


def compare_strategies(
    table: TestTable, tests: Sequence[str | int] | None = None, *, any_order: bool = True
) -> pd.DataFrame:
    """Compare the usual ways to combine two or three tests with the plan that costs least.

    A usual way calls a case diseased if all results are positive, if any is, or if most are. Tests are done *in
    parallel*, all of them in each case, or *in series*, only until the outcome is settled: all positive in series is
    "believe the negative", which stops at the first negative, and any positive "believe the positive" [1]_, [2]_, [3]_.

    Parameters
    ----------
    table : TestTable
        Tests of two classes; visits must cost nothing.
    tests : sequence of str or int, optional
        Two to six of them, by name or number; by default all.
    any_order : bool
        Whether each way may do the tests in the order in which it costs least, and the plan whichever comes best after
        each result; otherwise all do them as they are listed.

    Returns
    -------
    pandas.DataFrame
        A row for each strategy: its name and order, expected number of tests, price, cost of wrong decisions and their
        total per case, and how sensitive and specific it is as a whole. Deciding at once comes first, the plan last.

    Raises
    ------
    ValueError
        If there are more classes, fewer or more tests, or visits cost something.

    References
    ----------
    .. [1] P. Politser, "Reliability, decision rules, and the value of repeated tests", Medical Decision Making 2, 1982.
    .. [2] R. J. Marshall, "The predictive value of simple rules for combining two diagnostic tests", Biometrics 45,
       1989.
    .. [3] M. L. Thompson, "Assessing the diagnostic accuracy of a sequence of tests", Biostatistics 4, 2003.

    Examples
    --------
    >>> costs = Costs([1, 4], decision_costs=[[0, 100], [20, 0]])
    >>> tests = TestTable(["swab", "scan"], 0.2, sensitivity=[0.8, 0.95], specificity=[0.9, 0.95], costs=costs)
    >>> strategies = compare_strategies(tests).set_index("strategy")
    >>> strategies.total.round(2).iloc[[0, 2, 4, 5]]
    strategy
    decide at once                                    16.00
    all positive, in series (believe the negative)     6.84
    any positive, in series (believe the positive)     6.56
    least cost                                         5.80
    Name: total, dtype: float64
    """
    order, problem = table._numbers(tests), table.problem(tests, any_order=any_order)
    n = len(order)
    if len(table.classes) != 2 or not 2 <= n <= 6 or problem.visits is not None:
        raise ValueError(
            "compare_strategies is for two classes, two to six tests, and visits that cost nothing; got "
            f"{len(table.classes)} classes, {n} tests{'' if problem.visits is None else ' and visits with a cost'}."
        )
    import pandas as pd

    answers = np.array(list(itertools.product([False, True], repeat=n)))
    likelihood = np.where(answers[:, :, None], table.positive[order], 1 - table.positive[order])
    joint = table.prior * likelihood.prod(axis=1)
    answers, joint = answers[joint.any(axis=1)], joint[joint.any(axis=1)]
    names = np.array([table.names[test] for test in order], dtype=object)
    ordered = map(np.array, itertools.permutations(range(n)) if any_order else [range(n)])
    orders = [(one, _cumulative_prices(problem, answers, one)) for one in ordered]

    def run(strategy: str, decision: IntArray, settled: Callable[[IntArray], IntArray]) -> dict[str, Any]:
        wrong = float((joint * table.decision_costs[:, decision].T).sum())
        tried = []
        for one, paid in orders:
            done = settled(one)
            price = float(joint.sum(axis=1) @ paid[np.arange(len(done)), done])
            tried.append((price, float(joint.sum(axis=1) @ done), done.max(), one))
        price, asked, most, one = min(tried, key=lambda row: row[0])
        right = [joint[decision == d, d].sum() / joint[:, d].sum() if joint[:, d].any() else np.nan for d in (0, 1)]
        return _row(strategy, ", ".join(names[one[:most]]), asked, price, wrong, right)

    at_once = np.full(len(joint), problem.decide(table.prior[None])[0])
    rows = [run("decide at once", at_once, lambda one: np.zeros(len(joint), dtype=np.intp))]
    ways = {"all positive": (n, "believe the negative"), "any positive": (1, "believe the positive")}
    if n % 2:
        ways["most positive"] = (n // 2 + 1, "until settled")
    for way, (needed, how) in ways.items():
        decision = np.where(answers.sum(axis=1) >= needed, 0, 1)
        rows.append(run(f"{way}, in parallel", decision, lambda one: np.full(len(joint), n)))
        rows.append(run(f"{way}, in series ({how})", decision, partial(_count_until_settled, answers, needed)))
    policy = (ExactFreeOrder() if problem.any_order else ExactValueIteration(certificate_paths=0)).solve(problem)
    best = evaluate(problem, policy, method="exact")
    right = [best.decision_given_class[d, d] if table.prior[d] else np.nan for d in (0, 1)]
    asks = "by the results" if any_order else ", ".join(names)
    rows.append(_row("least cost", asks, best.n_features, best.price, best.cost - best.price, right))
    frame: pd.DataFrame = pd.DataFrame(rows)
    return frame


def read_tests(path: Path, form: CsvForm, opener: Opener = open_file) -> pd.DataFrame:
    """A table of tests from a file, without empty rows, as `TestTable.from_frame` takes it."""
    frame: pd.DataFrame = read_frame(path, text=("group",), opener=opener, form=form, names=("test",)).dropna(how="all")
    return frame


def _row(strategy: str, order: str, tests: float, price: float, wrong: float, right: list[float]) -> dict[str, Any]:
    costs = {"expected_tests": tests, "price": price, "misclassification_cost": wrong, "total": price + wrong}
    return {"strategy": strategy, "order": order, **costs, "sensitivity": right[0], "specificity": right[1]}


def _count_until_settled(answers: BoolArray, needed: int, order: IntArray) -> IntArray:
    """Number of tests after which it is settled whether so many are positive, (n_answers,)."""
    positive, n = answers[:, order].cumsum(axis=1), len(order)
    negative = np.arange(1, n + 1) - positive
    return np.asarray(((positive >= needed) | (negative > n - needed)).argmax(axis=1) + 1)


def _cumulative_prices(problem: AcquisitionProblem, answers: BoolArray, order: IntArray) -> FloatArray:
    """Prices paid after none, one, ... of the tests in an order, by what all of them show, (n_answers, n + 1)."""
    belief = problem.initial_belief(len(answers))
    paid = [belief.spent]
    for test in order.tolist():
        belief = belief.asking(test).update(answers[:, test].astype(np.intp))
        paid.append(belief.spent)
    return np.column_stack(paid)


def _check_names(names: Sequence[str], what: str, least: int) -> tuple[str, ...]:
    known = tuple(map(str, names)) if not isinstance(names, str) else ()
    if twice := [name for name in known if known.count(name) > 1]:
        raise ValueError(f"{what} must be different names, and {short_repr(twice[0])} stands there twice.")
    if len(known) < least or not all(name.strip() for name in known):
        raise ValueError(f"{what} must hold at least {least} different names, got {short_repr(names)}.")
    return known


def _without_percent(number: float) -> str:
    """How to write what seems to be meant in percent."""
    return f" ({number:g}% is {number / 100:g})" if 0 <= number <= 100 else ""


def _accuracy_columns(columns: list[str]) -> list[str]:
    """The columns that say how good the tests are, that of the disease first."""
    rest = [name for name in columns if name not in ("group", *_COSTS)]
    pair = next((list(pair) for pair in _ACCURACY if {*pair} & {*rest}), rest)
    if len(rest) < 2 or {*pair} != {*rest}:
        raise ValueError(
            "a table of tests needs the columns sensitivity and specificity, or lr_positive and lr_negative, or one "
            f"for each class, beside test, price, group, discounted and delay; it has {join_names(rest) or 'none'}."
        )
    return pair
