# SPDX-License-Identifier: GPL-2.0
"""Reads, writes and presents results: documents, tables, plots, reports."""
