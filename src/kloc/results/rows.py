# SPDX-License-Identifier: GPL-2.0
"""The rows of a comparison that are no policies of a kernel."""

LOWER, UPPER = "all-slow", "all-fast"
"""The policies that are the bounds."""
