"""One function to load any data set: by name, by path, or from OpenML."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import Any

from seqclass._utils.text import near
from seqclass.datasets._costs import cost_files
from seqclass.datasets._tables import ENDINGS
from seqclass.datasets.cube import make_cube, make_cube_nm, make_cube_nm_ar, make_cube_nuc
from seqclass.datasets.dataset import Dataset
from seqclass.datasets.files import EMBEDDED, file_stem, is_svmlight, load_embedded, load_file, load_openml
from seqclass.datasets.generated import make_naive_bayes_world, make_tree_world
from seqclass.datasets.pointer import make_indicator, make_sensors, make_xor_noisy_shortcut
from seqclass.datasets.syn import make_madelon_like, make_syn
from seqclass.datasets.synthetic_mnist import make_synthetic_mnist
from seqclass.datasets.text import make_sparse_text

#: Names the folder of the user's own sets.
VARIABLE = "SEQCLASS_DATA"
_OPENML = "openml:"
#: What draws a set, by the name that `load` knows it by.
GENERATORS: dict[str, Callable[..., Dataset]] = {
    make.__name__.removeprefix("make_"): make
    for make in (
        make_cube,
        make_cube_nm,
        make_cube_nm_ar,
        make_cube_nuc,
        make_indicator,
        make_madelon_like,
        make_naive_bayes_world,
        make_sensors,
        make_sparse_text,
        make_synthetic_mnist,
        make_tree_world,
        make_xor_noisy_shortcut,
    )
}
# SEFA draws the first three, INVASE six
GENERATORS |= {f"syn{n}": partial(make_syn, n, recipe="sefa" if n < 4 else "invase") for n in range(1, 7)}


def load(name: str | Path, data_dir: str | Path | None = None, **settings: Any) -> Dataset:
    """Return a data set by its name or path.

    Parameters
    ----------
    name : str or path
        One of the following, tried in this order: ``openml:NAME`` or ``openml:NUMBER``; a path, which has the ending of
        a table or includes a folder; a set of scikit-learn; a file in ``data_dir`` without its ending; a generated set.
    data_dir : path, optional
        Folder with your own files; by default the one in the environment variable SEQCLASS_DATA.
    **settings
        Passed to the function that reads the file (`load_file`), fetches from OpenML (`load_openml`) or draws the set.

    Returns
    -------
    Dataset

    Raises
    ------
    ValueError
        If there is no set of that name; the message lists similar names.
    FileNotFoundError
        If there is no such file or folder.

    Examples
    --------
    >>> load("iris")
    Dataset('iris', 150 x 4, 3 classes)
    >>> load("cube", n_samples=100, random_state=1)
    Dataset('cube', 100 x 20, 8 classes)
    """
    if not isinstance(name, (str, os.PathLike)):
        own = "data of your own are seqclass.datasets.Dataset(name, X, y, class_names)"
        raise TypeError(f"a data set must be a name or a path, got {type(name).__name__}; {own}.")
    text = os.fspath(name)
    if isinstance(name, str) and name.startswith(_OPENML):
        return load_openml(name.removeprefix(_OPENML), **settings)
    if isinstance(name, Path) or _is_path(text):
        return load_file(name, **settings)
    if text in EMBEDDED:
        if settings:
            raise TypeError(f"{text!r} takes no settings, got {', '.join(settings)}.")
        return load_embedded(text)
    files = _files(data_dir).get(text, [])
    if len(files) > 1:
        raise ValueError(
            f"{text!r} is the name of {' and of '.join(file.name for file in files)}; give the path of one."
        )
    if files:
        return load_file(files[0], **settings)
    if text in GENERATORS:
        return GENERATORS[text](**settings)
    known = list(list_datasets(data_dir))
    where = "" if _folder(data_dir) else f"; no folder of your own sets is known, pass data_dir or set {VARIABLE}"
    advice = near(text, known, "there are").rstrip(".") + where
    raise ValueError(f"there is no data set {text!r}: {advice}{'' if advice.endswith('?') else '.'}")


def list_datasets(data_dir: str | Path | None = None) -> dict[str, str]:
    """Return the names that `load` knows, and where each set comes from.

    Parameters
    ----------
    data_dir
        As in `load`.

    Returns
    -------
    dict of str to str
        ``"embedded"``, ``"generated"`` or the name of the file.

    Raises
    ------
    FileNotFoundError
        If there is no such folder.

    Examples
    --------
    >>> list_datasets()["tree_world"]
    'generated'
    """
    sources = dict.fromkeys(GENERATORS, "generated")
    sources |= {stem: ", ".join(file.name for file in files) for stem, files in _files(data_dir).items()}
    sources |= dict.fromkeys(EMBEDDED, "embedded")
    return dict(sorted(sources.items()))


def data_files(names: Sequence[str] | None, data_dir: str | Path | None = None) -> list[Path]:
    """Files that sets are read from, those of their costs included; of all sets in the folder if no name is given."""
    there = _files(data_dir)
    paths: list[Path] = []
    for name in there if names is None else names:
        paths += [Path(name)] if _is_path(name) else there.get(name, [])
    return paths + [costs for file in paths for costs in cost_files(file, file_stem(file))]


def _folder(data_dir: str | Path | None) -> Path | None:
    named = os.environ.get(VARIABLE) if data_dir is None else data_dir
    if not named:
        return None
    folder = Path(named)
    if not folder.is_dir():
        origin = VARIABLE if data_dir is None else "data_dir"
        raise FileNotFoundError(f"{origin} is {folder}, and there is no such folder.")
    return folder


def _files(data_dir: str | Path | None) -> dict[str, list[Path]]:
    """The sets in a folder by their names, without the files of their costs."""
    folder = _folder(data_dir)
    files: dict[str, list[Path]] = {}
    for file in sorted(folder.iterdir()) if folder else ():
        if file.is_file() and _is_table(file) and not file_stem(file).endswith(".costs"):
            files.setdefault(file_stem(file), []).append(file)
    return files


def _is_path(text: str) -> bool:
    return _is_table(Path(text)) or Path(text).name != text


def _is_table(path: Path) -> bool:
    return path.name.lower().endswith(ENDINGS) or is_svmlight(path)
