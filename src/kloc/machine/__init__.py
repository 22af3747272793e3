# SPDX-License-Identifier: GPL-2.0
"""Describes the two-tier machine, runs jobs on it in QEMU and returns their output."""
