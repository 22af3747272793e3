# SPDX-License-Identifier: GPL-2.0
"""Finds the best value for a threshold of a scheme (DAOS, section 3.5).

Imports only kloc.base and kloc.schemes.
"""
