# SPDX-License-Identifier: GPL-2.0
"""Defines workloads and policies, runs them on machines, and records what was measured."""
