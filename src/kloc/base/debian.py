# SPDX-License-Identifier: GPL-2.0
"""Asks dpkg about the Debian packages of this host."""

from __future__ import annotations

import subprocess


def is_installed(package: str) -> bool:
    """Return whether a package is installed. The host has the program dpkg-query."""
    query = ["dpkg-query", "--show", "--showformat=${db:Status-Status}", package]
    found = subprocess.run(query, capture_output=True, text=True, check=False)
    return found.returncode == 0 and found.stdout == "installed"
