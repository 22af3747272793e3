# SPDX-License-Identifier: GPL-2.0
"""Run as `python -m kloc`, which is what the launcher does."""

import sys

from kloc.cli import main

sys.exit(main())
