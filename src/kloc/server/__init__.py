# SPDX-License-Identifier: GPL-2.0
"""Inspects policies of memory tiers and contexts on the running kernel. Imports only kloc.base."""
