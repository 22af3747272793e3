# SPDX-License-Identifier: GPL-2.0
"""Compares the machine with known answers: what its profile says, and published hardware."""
