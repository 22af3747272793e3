# SPDX-License-Identifier: GPL-2.0
"""kloc: kernel objects in tiered memory, and the two-tier machine to see them in."""

__version__ = "0.1"
