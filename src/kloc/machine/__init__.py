# SPDX-License-Identifier: GPL-2.0
"""Describes the two-tier machine, starts it in QEMU, and collects what a run leaves."""
