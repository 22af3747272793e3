# SPDX-License-Identifier: GPL-2.0
"""Inspects and controls contexts on the running kernel. Imports only kloc.base."""
