"""Parameters of test items: how probable each answer is at an ability, and tables as other packages write them."""

from __future__ import annotations

import os
import re
import warnings
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt
from scipy.special import expit, softmax

from seqclass._utils.arrays import FloatArray
from seqclass._utils.frames import exact_floats
from seqclass._utils.model_files import Stored
from seqclass._utils.tables import Readable
from seqclass._utils.text import join_names, sentence, short_repr
from seqclass._utils.validation import check_choice, check_finite, check_flag, check_real, in_order, own_labels

#: Columns that say nothing about the answers: counts and means that TAM writes beside the parameters.
_BESIDE = {"N", "M", "xsi.item", "est.guess"}
#: Names of the single parameters; what stands for the number k of an outcome follows below.
_SINGLE = ("a", "b", "c", "d", "g", "u", "a1", "alpha", "beta", "guess", "alphaj")
_NUMBERED = {
    **{name: rf"{name}([1-9]\d*)" for name in ("a", "b", "c", "alphaj", "betaj", "deltaj", "cj")},
    **{name: rf"{name}(\d+)" for name in ("d", "ak")},
    **{"AXsi_": r"AXsi_\.Cat([1-9]\d*)", "B": r"B\.Cat([1-9]\d*)\.Dim1"},
}
#: Columns, in small letters, that name the items though they be numbers, and those that say of what model each is.
NAMING = {"item", "items", "id", "item_id", "itemid", "item id", "name", "label", "question"}
_MODELS = {"model", "itemtype", "item_type", "type", "kind"}
#: How pandas calls columns without a name.
UNNAMED = "Unnamed:"
#: Models of which ``a, b1, b2, ...`` says the same only with them.
_KIND_OF = dict.fromkeys(("grm", "gr", "graded"), "graded") | dict.fromkeys(
    ("gpcm", "gpc", "pcm", "pc", "partial credit"), "partial credit"
)
#: What the parameters of TestDesign, PAR1, PAR2, ..., are by model; the others thresholds.
_LEADING = {"1PL": "b", "2PL": "ab", "3PL": "abc", "PC": "", "GPC": "a", "GR": "a"}
#: Words for parameters, and what the models that a table may name have no need of.
_WORDS = {"discrimination": "a", "difficulty": "b", "guessing": "c"}
_SLOPE_WORDS = {"slope": "a"}, {"slope": "a1", "intercept": "d"}  # without an intercept and with one
_LACKING = {"rasch": "acdgu", "1pl": "acdgu", "2pl": "cdgu", "3pl": "du"}
#: Parameters that an item may lack where all do, by those that place it.
_OPTIONAL = {"b": "acdgu", "beta": ("guess",), "d": "gu"}
_KNOWN = "ItemParameters.from_table lists the forms that are known"


@dataclass(frozen=True, eq=False, repr=False)
class ItemParameters(Readable, Stored):
    """What is known of the items of a test: P(outcome | ability) of each, in one form whatever package wrote it.

    A graded item (Samejima 1969) of outcomes 0..V-1 has

        P(outcome >= k | ability) = lower + (upper - lower) logistic(slope ability + intercept_k),    k = 1..V-1,

    which for two outcomes is the logistic item of one to four parameters, outcome 1 being right. A nominal item (Bock
    1972) has

        P(outcome k | ability) proportional to exp(slope_k ability + intercept_k),    slope_0 = intercept_0 = 0.

    Attributes
    ----------
    kinds : tuple of str of length n_items
        ``"graded"`` or ``"nominal"``.
    slopes, intercepts : ndarray of shape (n_items, V_max - 1)
        Of the outcomes from 1 on; NaN beyond those of an item. A graded item has one slope, repeated.
    lower, upper : ndarray of shape (n_items,)
        P(right) of those who know nothing and everything; 0 and 1 but for items of two outcomes.
    names : tuple of str or None
        Names of the items.

    References
    ----------
    .. [1] F. Samejima, "Estimation of latent ability using a response pattern of graded scores", Psychometrika
       Monograph 17, 1969.
    .. [2] R. D. Bock, "Estimating item parameters and latent ability when responses are scored in two or more nominal
       categories", Psychometrika 37, 1972.

    Examples
    --------
    >>> items = ItemParameters.from_table({"a": [1.0, 2.0], "b": [0.0, 1.0], "c": [0.2, 0.25]})
    >>> items.intercepts.ravel(), items.probabilities([0.0, 1.0])[:, 1].round(3)
    (array([ 0., -2.]), array([[0.6  , 0.785],
           [0.339, 0.625]]))
    """

    kinds: tuple[str, ...]
    slopes: FloatArray
    intercepts: FloatArray
    lower: FloatArray
    upper: FloatArray
    names: tuple[str, ...] | None = None

    _KINDS: ClassVar[tuple[str, ...]] = ("graded", "partial credit")

    def __len__(self) -> int:
        return len(self.kinds)

    @property
    def n_outcomes(self) -> npt.NDArray[np.intp]:
        """Number of outcomes of each item."""
        return np.asarray(1 + np.isfinite(self.intercepts).sum(axis=1), dtype=np.intp)

    @classmethod
    def _from_value(cls, items: Any) -> ItemParameters:
        """Parameters as they are, or read from a table."""
        return items if isinstance(items, cls) else cls.from_table(items)

    @classmethod
    def from_table(
        cls,
        table: Any,
        *,
        kind: str | None = None,
        asymptotes: str = "probability",
        scale: float = 1.0,
        any_slope: bool = False,
    ) -> ItemParameters:
        """Read parameters from a table in the form in which mirt, catR or TAM write it.

        Columns say what is meant, item by item; cells that do not concern an item are empty or NA. A parameter that
        others of its form have, such as a or c, may lack where ``model`` says so (Rasch, 1PL, 2PL, 3PL).

        - mirt, ``coef(model, simplify=TRUE)$items``: ``a1, d`` with ``g, u``; graded ``a1, d1, d2, ...``; nominal and
          partial credit ``a1, ak0, ak1, ..., d0, d1, ...``. With ``IRTpars=TRUE``: ``a, b`` with ``g, u``; nominal
          ``a1, a2, ..., c1, c2, ...``; and ``a, b1, b2, ...``, which is graded or partial credit: say ``kind``.
        - catR: ``a, b, c, d``, where d is the upper asymptote; graded ``alphaj, betaj1, ...``; partial credit
          ``alphaj, deltaj1, ...``; nominal ``alphaj1, cj1, alphaj2, cj2, ...``, the first outcome having 0 and 0.
        - TAM: ``alpha, beta``; or ``AXsi_.Cat1, B.Cat1.Dim1, ...`` of `model$item`, with ``guess``.
        - TestDesign: ``ID, MODEL, PAR1, PAR2, ...`` with models 1PL, 2PL, 3PL, PC, GPC and GR.
        - PROMIS: ``a, CB1, CB2, ...``, which is graded; ``NCAT`` is passed over.
        - ``param_a, param_b, ...`` are a, b, ...
        - ``b`` alone is the model of one parameter, of slope 1.

        Parameters
        ----------
        table : data frame, mapping of str to array-like of shape (n_items,), or path
            The table, or a file of comma-separated values. A column called ``item``, ``id`` or ``name``, or the only
            one of texts, or the index, names the items; beside one so called other texts, such as areas, are passed
            over. A column of texts called ``model`` or ``itemtype`` says what each is, such as GRM or GPCM.
        kind : {"graded", "partial credit"}, optional
            What ``a, b1, b2, ...`` means where the table does not say.
        asymptotes : {"probability", "logit"}
            What c, d (of catR), g, u and guess are. mirt writes probabilities unless told ``rawug=TRUE``.
        scale : float
            Constant D that multiplies a (ability - b), such as 1.702.
        any_slope : bool
            Whether slopes of 0 or less are read, of items that count the other way, such as reversed statements. Else
            they are refused, for the key of such a test item is wrong. Slopes of nominal items may always be any.

        Returns
        -------
        ItemParameters

        Raises
        ------
        ValueError
            If it is unclear what a column or an item means, or values are out of range; the message names them.

        Examples
        --------
        >>> ItemParameters.from_table({"a1": [1.2], "d1": [1.5], "d2": [-0.5]}).n_outcomes
        array([3])
        """
        check_choice(asymptotes, "asymptotes", ("probability", "logit"))
        if kind is not None:
            check_choice(kind, "kind", cls._KINDS)
        D = check_real(scale, "scale", 1e-6)
        check_flag(any_slope, "any_slope")
        columns, names, models, _ = _columns(table)
        for name in columns:
            if not _is_parameter(name):
                raise ValueError(
                    f"table: the column {short_repr(name)} is unclear; drop it if it is no parameter, or name it "
                    f"otherwise, such as a (slope), b (difficulty) or c (guessing); {_KNOWN}."
                )
        items = []
        for item, model in enumerate(models):
            values = {name: float(column[item]) for name, column in columns.items() if not np.isnan(column[item])}
            label = f"table: item {short_repr(names[item]) if names else item}"
            items.append(_Cells(values, label, _KIND_OF.get(model, kind), model, asymptotes == "logit", D, any_slope))
        there: dict[str, set[str]] = {}
        for cells in items:
            there.setdefault(cells.place, set()).update(cells.values)
        for cells in items:
            cells.check_blanks(there[cells.place])
        return join_items([_read_item(cells) for cells in items], names)

    def to_table(self) -> Any:
        """Give the parameters as a table, by the names of mirt.

        Returns
        -------
        pandas.DataFrame
            ``a1, d, g, u`` of items of two outcomes, ``a1, d1, d2, ...`` of graded and ``a1, ak0, ..., d0, ...`` of
            nominal ones, what does not concern an item NaN; `from_table` reads it. Items of one outcome have no
            parameters: they are left out, with a warning.
        """
        import pandas as pd

        labels = list(range(len(self)) if self.names is None else self.names)
        bare = np.flatnonzero(self.n_outcomes < 2)
        if bare.size:
            warnings.warn(
                f"to_table: items {join_names([labels[item] for item in bare])} have one outcome and so no parameters, "
                "and are left out; learn them from rows with other answers too.",
                stacklevel=2,
            )
        rows = []
        sizes = self.n_outcomes.tolist()
        for kind, size, slope, intercept, low, high in zip(
            self.kinds, sizes, self.slopes.tolist(), self.intercepts.tolist(), self.lower.tolist(), self.upper.tolist()
        ):
            steps = {f"d{k}": level for k, level in enumerate(intercept[: size - 1], 1)}
            if kind == "nominal":
                row = {"a1": 1.0, "ak0": 0.0, "d0": 0.0}
                rows.append(row | {f"ak{k}": slope[k - 1] for k in range(1, size)} | steps)
            elif size <= 2:
                rows.append({"a1": slope[0], "d": intercept[0], "g": low, "u": high} if size == 2 else {})
            else:
                rows.append({"a1": slope[0]} | steps)
        return pd.DataFrame(rows, index=None if self.names is None else labels).drop(index=[labels[i] for i in bare])

    def probabilities(self, ability: npt.ArrayLike) -> FloatArray:
        """P(outcome | ability).

        Parameters
        ----------
        ability : array-like of shape (n_points,)
            Abilities.

        Returns
        -------
        ndarray of shape (n_items, V_max, n_points)
            Zero beyond the outcomes of an item.
        """
        return self._curves(ability)[0]

    def information(self, ability: npt.ArrayLike) -> FloatArray:
        """Fisher information about the ability that an answer holds.

        Parameters
        ----------
        ability : array-like of shape (n_points,)
            Abilities.

        Returns
        -------
        ndarray of shape (n_items, n_points)
            Sum over the outcomes of P'(outcome)^2 / P(outcome).

        Examples
        --------
        >>> ItemParameters.from_table({"a": [2.0], "b": [0.0]}).information([0.0])
        array([[1.]])
        """
        chance, by_ability = self._curves(ability)
        return np.asarray((by_ability**2 / np.maximum(chance, 1e-300)).sum(axis=1))

    def _curves(self, ability: npt.ArrayLike) -> tuple[FloatArray, FloatArray]:
        """P(outcome | ability), and its derivative by the ability."""
        points = check_finite(np.atleast_1d(np.asarray(ability, dtype=np.float64)), "ability")
        n, n_cuts = self.intercepts.shape
        chance, by_ability = np.zeros((2, n, n_cuts + 1, len(points)))
        nominal = np.array([kind == "nominal" for kind in self.kinds], dtype=bool)
        known = np.isfinite(self.intercepts)
        slopes = np.where(known, self.slopes, 0.0)
        score = slopes[:, :, None] * points + np.where(known, self.intercepts, -np.inf)[:, :, None]
        some = np.flatnonzero(nominal)
        own = softmax(np.concatenate([np.zeros((len(some), 1, len(points))), score[some]], axis=1), axis=1)
        steep = np.concatenate([np.zeros((len(some), 1)), slopes[some]], axis=1)[:, :, None]
        chance[some], by_ability[some] = own, own * (steep - (own * steep).sum(axis=1, keepdims=True))
        some = np.flatnonzero(~nominal)
        inner, reach = expit(score[some]), (self.upper - self.lower)[some, None, None]
        above = np.where(known[some, :, None], self.lower[some, None, None] + reach * inner, 0.0)
        rises = reach * inner * (1 - inner) * slopes[some, :, None]
        edge = np.ones((len(some), 1, len(points)))
        above, rises = (np.concatenate([e, a, 0 * e], axis=1) for e, a in ((edge, above), (0 * edge, rises)))
        chance[some], by_ability[some] = above[:, :-1] - above[:, 1:], rises[:, :-1] - rises[:, 1:]
        return chance, by_ability


def columns_read(table: Any) -> tuple[list[str], list[str]]:
    """Names of the columns of parameters, as `ItemParameters.from_table` understands them, and what it passes over."""
    columns, *_, passed = _columns(table)
    return list(columns), passed


def _is_parameter(name: Any) -> bool:
    return name in _SINGLE or any(re.fullmatch(form, str(name)) for form in _NUMBERED.values())


def _columns(table: Any) -> tuple[dict[str, FloatArray], tuple[str, ...] | None, list[str], list[str]]:
    """Columns of numbers by name, names of the items, the model of each in small letters, and what is passed over."""
    import pandas as pd

    if isinstance(table, (str, os.PathLike)):
        table = read_bank_file(table)
    frame = table if isinstance(table, pd.DataFrame) else pd.DataFrame(*_to_columns(table))
    if not len(frame) or not len(frame.columns):
        raise ValueError("table has no items: give a row an item and a column a parameter.")
    models = [name for name in frame.columns if str(name).lower() in _MODELS and not _is_number(frame[name])][:1]
    said = [str(model).lower() for name in models for model in frame[name]] or [""] * len(frame)
    if any(str(name).lower() == "cb1" for name in frame.columns):
        said = [model if model in _KIND_OF else "graded" for model in said]
    frame = _with_our_names(frame, frame[models[0]] if models else None).drop(columns=models)
    texts = [name for name in frame.columns if not _is_number(frame[name]) and not _is_parameter(name)]
    named = [name for name in frame.columns if str(name).lower() in NAMING][:1] or [
        name for name in texts if str(name).lower() != "area"
    ]
    if len(named) > 1:
        raise ValueError(
            f"table: the columns {join_names(named)} hold texts; call the one of the items' names 'item' or 'id'."
        )
    names = None
    if named:
        nameless = np.flatnonzero(frame[named[0]].isna())
        if nameless.size:
            row = f"row {nameless[0] + 1}, counted from 1,"
            raise ValueError(f"table: {row} has no name in the column {short_repr(named[0])}; give it one.")
        names = tuple(f"{name:.15g}" if isinstance(name, float) else str(name) for name in frame[named[0]].tolist())
    elif not isinstance(frame.index, pd.RangeIndex):
        names = tuple(map(str, frame.index))
    again = np.flatnonzero(pd.Index(names or ()).duplicated())
    if names is not None and again.size:
        name = names[again[0]]
        rows = f"rows {names.index(name) + 1} and {again[0] + 1}, counted from 1"
        raise ValueError(f"table names the item {short_repr(name)} twice, in {rows}: give each a name of its own.")
    # a column of row numbers that a file was written with
    beside = {*texts, *named, *(name for name in frame.columns if str(name).startswith(UNNAMED)), *_BESIDE}
    columns = {}
    for name in frame.columns.drop([name for name in frame.columns if name in beside]):
        column = pd.to_numeric(frame[name], errors="coerce").to_numpy(dtype=np.float64, na_value=np.nan)
        wrong = np.flatnonzero(~np.isfinite(column) & frame[name].notna().to_numpy())
        if wrong.size:
            item = short_repr(names[wrong[0]]) if names else wrong[0]
            raise ValueError(
                f"table: item {item}: {name} must be a finite number, got {short_repr(frame[name].iloc[wrong[0]])}; "
                "write decimals with a point, and leave empty what an item does not have."
            )
        if not np.isnan(column).all():
            columns[str(name)] = column
    if not columns:
        raise ValueError(f"table has no columns of parameters; {_KNOWN}.")
    return columns, names, said, [str(name) for name in frame.columns if name in beside and name not in named]


def _is_number(column: Any) -> bool:
    """Whether a column holds numbers, or nothing."""
    import pandas as pd

    return bool(pd.api.types.is_numeric_dtype(column) or column.isna().all())


def _with_our_names(frame: Any, models: Any) -> Any:
    """A table whose columns of parameters have the names of TestDesign and PROMIS, words or capitals, by ours."""
    ours = {name: re.sub(r"^cb(\d+)$", r"b\1", re.sub(r"^param_", "", str(name).lower())) for name in frame.columns}
    words = _WORDS | _SLOPE_WORDS["intercept" in ours.values()]
    ours = {name: words.get(new, new) for name, new in ours.items() if new != str(name).lower() or new in words}
    capitals = frame.columns.intersection(list("ABC"))
    if not frame.columns.intersection(list("abc")).size and any(_is_number(frame[name]) for name in capitals):
        ours |= {name: name.lower() for name in capitals}  # beside texts they are the answers to choose from
    ours = {name: new for name, new in ours.items() if new not in frame.columns}
    frame = frame.rename(columns=ours).drop(columns=[name for name in frame.columns if str(name).lower() == "ncat"])
    numbered = {int(match[1]): name for name in frame.columns if (match := re.fullmatch(r"(?i)par_?(\d+)", str(name)))}
    if not numbered:
        return frame
    if models is None:
        raise ValueError("table: PAR1, PAR2, ... mean nothing without a column MODEL, such as 2PL or GR.")
    rows = []
    for row, model in enumerate(models.astype(str).str.upper(), 1):
        if model not in _LEADING:
            raise ValueError(
                f"table: row {row}, counted from 1: the model {short_repr(model)} is none of "
                f"{join_names(list(_LEADING))}."
            )
        cells = [frame[numbered[k]].iloc[row - 1] for k in sorted(numbered)]
        lead = _LEADING[model]
        steps = {f"b{k}": cell for k, cell in enumerate(cells[len(lead) :], 1) if "b" not in lead}
        rows.append({"a": 1.0} | dict(zip(lead, cells)) | steps)
    names = dict.fromkeys(name for row in rows for name in row)
    frame = frame.drop(columns=list(numbered.values()))
    return frame.assign(**{name: [row.get(name, np.nan) for row in rows] for name in names})


def read_bank_file(path: Any) -> Any:
    """A table of texts, of which columns of numbers become such; in the others NA is a text like any other."""
    import pandas as pd

    try:
        table = pd.read_csv(path, skipinitialspace=True, **exact_floats()).rename(columns=str.strip)
        plain = pd.read_csv(path, skipinitialspace=True, dtype=str, keep_default_na=False).rename(columns=str.strip)
    except ValueError as error:  # pandas has three kinds of it
        other = "it is no text in UTF-8; save it as CSV in UTF-8."
        why = other if isinstance(error, UnicodeDecodeError) else sentence(error)
        raise ValueError(f"table: {path} cannot be read: {why}") from error
    if len(table.columns) == 1 and re.search("[;\t]", table.columns[0]):
        raise ValueError(
            f"table: {path} has other marks than commas between its columns; read it by pandas, with sep=."
        )
    if not isinstance(table.index, pd.RangeIndex) and any(name.lower() in NAMING for name in table.columns):
        raise ValueError(f"table: the rows of {path} have more cells than the first; write decimals with a point.")
    numbers = [name for name in table.columns if pd.api.types.is_numeric_dtype(table[name]) or _is_parameter(name)]
    texts = [name for name in table.columns if name not in numbers or name.lower() in NAMING]
    return with_row_names(table.assign(**{name: plain[name].mask(plain[name] == "") for name in texts}))


def with_row_names(table: Any) -> Any:
    """A table as R or pandas writes it, whose first column, without a name, names the items, or numbers the rows."""
    first = table.columns[0]
    if not str(first).startswith(UNNAMED):
        return table
    named = _is_number(table[first]) or any(str(name).lower() in NAMING for name in table.columns)
    return table.drop(columns=first) if named else table.rename(columns={first: "item"})


def _to_columns(table: Any) -> tuple[dict[str, Any], list[Any] | None]:
    """Columns, and the names of the items where these are Series that have some."""
    if not isinstance(table, Mapping):
        raise TypeError(
            f"table must be a data frame, a mapping of columns or the path of a CSV file, got {short_repr(table)}."
        )
    items = next((labels for column in table.values() if (labels := own_labels(column))), None)
    named = {name: in_order(column, f"table: {name}", items) for name, column in table.items()}
    columns = {name: np.atleast_1d(np.asarray(column)) for name, column in named.items()}
    lengths = {len(column) for column in columns.values()}
    if len(lengths) > 1:
        raise ValueError(f"table: its columns must be of one length, got {join_names(sorted(lengths))}.")
    return columns, items


#: An item: kind, slopes, intercepts, lower, upper.
Item = tuple[str, list[float], list[float], float, float]


@dataclass(frozen=True)
class _Cells:
    """The parameters that a table has of one item, as one form of them after another reads them."""

    values: dict[str, float]
    label: str
    kind: str | None
    model: str
    logits: bool
    D: float
    any_slope: bool

    #: Above which a point has been forgotten.
    _steep: ClassVar[float] = 10.0

    @property
    def place(self) -> str:
        """The parameter that places an item of one step."""
        return next((name for name in _OPTIONAL if name in self.values), "")

    def check_blanks(self, others: set[str]) -> None:
        """Refuse what lacks and others of the same place have, unless the model has no need of it."""
        needed = set(_OPTIONAL.get(self.place, ())) & others - {*_LACKING.get(self.model, "")}
        for name in sorted(needed - self.values.keys()):
            usual = 1 if name in "adu" else 0
            raise ValueError(
                f"{self.label} has no {name}, which others have: give it one, {usual} if that is meant, or name its "
                "model, such as Rasch or 2PL, in a column 'model'."
            )

    def slope(self, name: str) -> float:
        """A slope, times `D`, of an item whose higher outcomes are those of the able."""
        value = self.values.get(name, 1.0)
        if value <= 0 and not self.any_slope:
            raise ValueError(
                f"{self.label}: {name} must be above 0, got {value:g}: look at its key. An item that counts the other "
                "way is read by ItemParameters.from_table with any_slope=True."
            )
        if value > self._steep:
            warnings.warn(f"{self.label}: {name} is {value:g}; has its point been forgotten?", stacklevel=5)
        return self.D * value

    def numbered(self, form: str) -> dict[int, float]:
        """Parameters of a numbered form, by their numbers."""
        matches = ((re.fullmatch(_NUMBERED[form], name), value) for name, value in self.values.items())
        return {int(match[1]): value for match, value in matches if match}

    def series(self, form: str, first: int = 1) -> list[float]:
        """Parameters of a numbered form in order, times `D`."""
        name = {"B": "B.Cat", "AXsi_": "AXsi_.Cat"}.get(form, form)
        return [self.D * value for value in _consecutive(self.numbered(form), first, name, self.label)]

    def match(self, single: str, optional: str, many: str) -> bool:
        """Whether there are all single and numbered parameters of a form, and none beside these and optional ones."""
        have, forms = set(self.values), many.split()
        rest = have - {*single.split(), *optional.split()}
        known = all(any(re.fullmatch(_NUMBERED[form], name) for form in forms) for name in rest)
        return known and have >= set(single.split()) and all(map(self.numbered, forms))

    def dichotomous(self, slope: float, intercept: float, low: str = "g", high: str = "u") -> Item:
        """An item of two outcomes, with its asymptotes."""
        ends = []
        for name, default in ((low, 0.0), (high, 1.0)):
            value = self.values.get(name)
            if value is not None and not self.logits and not 0 <= value <= 1:
                raise ValueError(
                    f'{self.label}: {name} must be a probability, got {value:g}; of logits, say asymptotes="logit".'
                )
            ends.append(default if value is None else float(expit(value)) if self.logits else value)
        if ends[0] >= ends[1]:
            raise ValueError(f"{self.label}: {low} must be below {high}, got {ends[0]:g} and {ends[1]:g}.")
        return "graded", [slope], [intercept], ends[0], ends[1]

    def at_place(self) -> Item:
        """An item of two outcomes by slope and difficulty."""
        both = "c" in self.values and self.values.keys() & {"g", "u"}
        if both:
            raise ValueError(f"{self.label} has both c and g or u; leave out one of them.")
        slope = self.slope("a")
        ends = ("g", "u") if self.values.keys() & {"g", "u"} else ("c", "d")
        return self.dichotomous(slope, -slope * self.values["b"], *ends)

    def graded(self, slope: str, cuts: str, sign: float = 1.0) -> Item:
        """Graded outcomes, by intercepts, or by thresholds times the slope where ``sign`` is -1."""
        scale = self.slope(slope)
        steps = _consecutive(self.numbered(cuts), 1, cuts, self.label)
        levels = [self.D * d if sign > 0 else -scale * d for d in steps]
        if any(later >= earlier for earlier, later in pairwise(levels)):
            raise ValueError(
                f"{self.label}: the intercepts of graded outcomes must fall, and thresholds rise where the slope is "
                f"above 0; the intercepts are {join_names([round(level, 4) for level in levels])}."
            )
        return "graded", [scale] * len(levels), levels, 0.0, 1.0

    def partial(self, slope: str, steps: str) -> Item:
        """Partial credit."""
        scale, places = self.slope(slope), _consecutive(self.numbered(steps), 1, steps, self.label)
        slopes = [scale * k for k in range(1, len(places) + 1)]
        return "nominal", slopes, (-scale * np.cumsum(places)).tolist(), 0.0, 1.0

    def by_kind(self) -> Item:
        """Graded or partial credit, which ``a, b1, b2, ...`` alone do not tell."""
        if self.kind is None and len(self.numbered("b")) > 1:
            raise ValueError(
                f'{self.label}: a, b1, b2, ... may be graded or partial credit; say kind="graded" or '
                'kind="partial credit".'
            )
        return self.partial("a", "b") if self.kind == "partial credit" else self.graded("a", "b", -1.0)

    def nominal(self, slopes: list[float], levels: list[float]) -> Item:
        """Outcomes in no order."""
        if len(slopes) != len(levels) or len(slopes) < 2:
            raise ValueError(
                f"{self.label}: a nominal item has a slope and an intercept for each of at least two outcomes; it has "
                f"{len(slopes)} and {len(levels)}."
            )
        return "nominal", [s - slopes[0] for s in slopes[1:]], [c - levels[0] for c in levels[1:]], 0.0, 1.0

    def of_tam(self) -> Item:
        """An item as the R package TAM has it."""
        slopes, levels = self.series("B"), [-level for level in self.series("AXsi_")]
        if len(slopes) == len(levels) == 1:
            return self.dichotomous(self.slope("B.Cat1.Dim1"), levels[0], "guess")
        if self.values.get("guess", 0.0):
            raise ValueError(f"{self.label}: guess is for items of two outcomes; leave it out.")
        return self.nominal([0.0, *slopes], [0.0, *levels])


#: Forms of parameters: those that there have to be, those that may be, numbered ones, and how they are read.
_FORMS: tuple[tuple[str, str, str, Callable[[_Cells], Item]], ...] = (
    ("a1 d", "g u", "", lambda c: c.dichotomous(c.slope("a1"), c.D * c.values["d"])),
    ("b", "a c g u", "", _Cells.at_place),
    ("a b c d", "", "", _Cells.at_place),  # without c or u, the d beside a and b may be an intercept as well
    (
        "alpha beta",
        "guess",
        "",
        lambda c: c.dichotomous(c.slope("alpha"), -c.slope("alpha") * c.values["beta"], "guess"),
    ),
    ("a1", "", "d", lambda c: c.graded("a1", "d")),
    ("alphaj", "", "betaj", lambda c: c.graded("alphaj", "betaj", -1.0)),
    ("alphaj", "", "deltaj", lambda c: c.partial("alphaj", "deltaj")),
    ("a", "", "b", _Cells.by_kind),
    ("a1", "", "ak d", lambda c: c.nominal([c.values["a1"] * ak for ak in c.series("ak", 0)], c.series("d", 0))),
    ("", "", "a c", lambda c: c.nominal(c.series("a"), c.series("c"))),
    ("", "", "alphaj cj", lambda c: c.nominal([0.0, *c.series("alphaj")], [0.0, *c.series("cj")])),
    ("", "guess", "AXsi_ B", _Cells.of_tam),
)


def _read_item(cells: _Cells) -> Item:
    """Slopes and intercepts of one item, by the first form that fits what there is of it."""
    for single, optional, many, read in _FORMS:
        if cells.match(single, optional, many) and not (many == "d" and 0 in cells.numbered("d")):
            return read(cells)
    if not cells.values:
        raise ValueError(f"{cells.label} has no parameters.")
    if {"a", "d"} <= cells.values.keys():
        raise ValueError(
            f"{cells.label}: d may be an intercept or an upper asymptote; call the slope a1 if it is the first, and "
            "give b and c too if it is the second."
        )
    if cells.values.keys() <= {*"acgu"}:
        raise ValueError(f"{cells.label} has no b, its difficulty; give it one.")
    have = join_names(sorted(cells.values))
    raise ValueError(f"{cells.label}: it is unclear what {have} mean together; {_KNOWN}.")


def _consecutive(numbered_values: dict[int, float], first: int, name: str, label: str) -> list[float]:
    """Parameters that are numbered one after the other."""
    wanted = list(range(first, first + len(numbered_values)))
    if sorted(numbered_values) != wanted:
        missing = min(set(wanted) - set(numbered_values))
        raise ValueError(f"{label}: {name}{missing} is missing, though later ones are there.")
    return [numbered_values[number] for number in wanted]


def join_items(items: Sequence[Item], names: tuple[str, ...] | None) -> ItemParameters:
    """Items one by one as the parameters of all."""
    n_cuts = max([1, *(len(item[2]) for item in items)])
    slopes, intercepts = np.full((2, len(items), n_cuts), np.nan)
    for row, (_, slope, intercept, *_) in enumerate(items):
        slopes[row, : len(slope)], intercepts[row, : len(intercept)] = slope, np.asarray(intercept) + 0.0  # no -0
    lower, upper = np.array([item[3] for item in items]), np.array([item[4] for item in items])
    return ItemParameters(tuple(item[0] for item in items), slopes, intercepts, lower, upper, names)
