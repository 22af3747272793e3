# SPDX-License-Identifier: GPL-2.0
"""What a shell completes the values of arguments and options with."""

from __future__ import annotations

import argparse
from collections.abc import Callable, Iterable

Names = Callable[[], Iterable[str]]


def complete_names(action: argparse.Action, names: Names, suffix: str = "") -> None:
    """Let a shell complete the action's value with `names`, and with files that end in `suffix`.

    In a list such as `--policies stock,t<TAB>`, the part after the last comma is completed.
    """

    def complete(prefix: str, **_: object) -> list[str]:
        before = prefix[: prefix.rfind(",") + 1]
        return [before + name for name in names()] + (_files(prefix, suffix) if suffix else [])

    action.completer = complete  # type: ignore[attr-defined]
    action.names = names  # type: ignore[attr-defined]


def is_name(action: argparse.Action, text: str) -> bool:
    """Return whether `text` is one of the names that the action was given by `complete_names`."""
    names: Names | None = getattr(action, "names", None)
    return names is not None and text in names()


def _files(prefix: str, suffix: str) -> list[str]:
    from argcomplete.completers import FilesCompleter

    return list(FilesCompleter([suffix.lstrip(".")])(prefix))
