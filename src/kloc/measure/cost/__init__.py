# SPDX-License-Identifier: GPL-2.0
"""Measures what the kernel patches cost: instructions and cache lines of system calls."""
