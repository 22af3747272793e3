# SPDX-License-Identifier: GPL-2.0
"""What every other package uses: errors, messages, progress, the cache. Imports nothing of kloc."""
