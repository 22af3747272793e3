# SPDX-License-Identifier: GPL-2.0
"""Lets an installed package know the commit that it was built from, as a checkout does."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface

sys.path.insert(0, str(Path(__file__).parent / "src"))


class CommitHook(BuildHookInterface[Any]):
    """Adds kloc/data/commit, which kloc.base.revision reads."""

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        """Write the file, unless the commit is unknown, or the package uses the checkout itself."""
        from kloc.base import revision

        if version == "editable" or revision.commit() == revision.UNKNOWN:
            return
        file = Path(self.directory) / revision.FILE
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(f"{revision.commit()}\n")
        build_data["force_include"][str(file)] = f"kloc/data/{revision.FILE}"

    def finalize(self, version: str, build_data: dict[str, Any], artifact_path: str) -> None:
        """Remove the file from the directory of results."""
        from kloc.base import revision

        (Path(self.directory) / revision.FILE).unlink(missing_ok=True)
