# SPDX-License-Identifier: GPL-2.0
"""Heat maps: what DAMON sees of memory over time, recorded and drawn (DAOS, Figure 6).

Recording needs the standard library only; drawing and reading need numpy.
"""
