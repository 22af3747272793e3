# SPDX-License-Identifier: GPL-2.0
"""Memory management schemes (DAOS, section 3.2): their text, and DAMON, which runs them.

Imports only kloc.base.
"""
