# SPDX-License-Identifier: GPL-2.0
"""Where the parts of the checkout are."""

from __future__ import annotations

from pathlib import Path

# The root folder of the checkout that this package runs from.
PROJECT = Path(__file__).resolve().parents[3]
