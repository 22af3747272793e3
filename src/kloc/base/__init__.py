# SPDX-License-Identifier: GPL-2.0
"""What every other package uses: errors, messages, progress, files, the cache.

Imports no other package of kloc.
"""
