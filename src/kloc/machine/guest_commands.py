# SPDX-License-Identifier: GPL-2.0
"""kloc's own commands inside the machine: `kloc status` and its like, when they are asked for.

They need Python, which a guest has only then: nothing of this is in a machine that is measured
without them.
"""

from __future__ import annotations

import shutil
from pathlib import Path

from kloc.base.paths import PROJECT

PACKAGES = ("python3", "python3-rich")
"""What they need of Debian."""

NAME = "kloc"
"""What a program of one's own is called that is this."""

COMMAND = """\
#!/bin/sh
PYTHONPATH=/kloc/src exec python3 -P -m kloc "$@"
"""


def files(folder: Path) -> dict[str, Path]:
    """Return what goes where in the guest; copies are made in `folder`."""
    package, command = folder / "package", folder / "command"
    shutil.copytree(PROJECT / "src" / "kloc", package, ignore=shutil.ignore_patterns("__pycache__"))
    command.write_text(COMMAND)
    command.chmod(0o755)
    return {"/kloc/src/kloc": package, f"/usr/local/bin/{NAME}": command}
