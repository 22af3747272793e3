# SPDX-License-Identifier: GPL-2.0
"""Locations in the checkout."""

from __future__ import annotations

from pathlib import Path

# The root directory of the checkout that this package runs from.
PROJECT = Path(__file__).resolve().parents[3]
