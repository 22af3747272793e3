# SPDX-License-Identifier: GPL-2.0
"""Runs kloc as `python -m kloc`; the launcher does this."""

import sys

from kloc.cli import main

sys.exit(main())
