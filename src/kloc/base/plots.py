# SPDX-License-Identifier: GPL-2.0
"""Files of plots: their formats, and figures of matplotlib that are the same on every host."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

from kloc.base import files
from kloc.base.errors import KlocError

SUFFIXES = (".svg", ".png")


def check(path: Path) -> None:
    """Raise KlocError unless the suffix of `path` names a supported format."""
    if path.suffix not in SUFFIXES:
        raise KlocError(
            f"--plot {path}: plots are {' or '.join(SUFFIXES)} files",
            f"name the file with one of these suffixes: {path.stem}{SUFFIXES[0]}",
        )


@contextmanager
def drawn(path: Path, *rows_and_columns: int, **options: Any) -> Iterator[Any]:
    """Yield a figure and its axes, as matplotlib's `subplots` makes them; write it to `path`.

    What was in the file is kept as FILE.old. matplotlib must be installed. Raises KlocError if the
    file cannot be written.
    """
    import matplotlib

    matplotlib.use("Agg")
    from matplotlib import pyplot

    # A date and random identifiers would make each file different.
    with matplotlib.rc_context({"svg.hashsalt": "kloc", "svg.fonttype": "none"}):
        figure, axes = pyplot.subplots(*rows_and_columns, layout="constrained", **options)
        draft = files.draft_of(path)
        try:
            yield figure, axes
            metadata = {"Date": None} if path.suffix == ".svg" else {}
            figure.savefig(draft, format=path.suffix[1:], metadata=metadata, dpi=120)
            files.keep_old(path)
            draft.rename(path)
        except OSError as error:
            with suppress(OSError):
                draft.unlink()
            raise KlocError(f"cannot write {path}: {error.strerror}") from error
        finally:
            pyplot.close(figure)
