# SPDX-License-Identifier: GPL-2.0
"""Builds what a machine needs: Debian roots, the kernel, the QEMU plugins, programs, disk images.

Each result is an entry of the cache, and is built when it is first asked for.
"""
