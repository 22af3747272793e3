# SPDX-License-Identifier: GPL-2.0
"""Builds what a machine is made of: Debian roots, the kernel, the timing model, disk images."""
