# SPDX-License-Identifier: GPL-2.0
"""The kernel for servers: its configuration and version, without compiling it."""

from __future__ import annotations

from fnmatch import fnmatchcase
from pathlib import Path

import pytest

from kloc.build import kernel_package
from kloc.build.kernel_make import settings
from kloc.build.kernel_package import Build, Version
from kloc.build.kernel_source import KERNEL
from kloc.build.root import Root

DIFFERENCES = {
    "CC_VERSION_TEXT": "the compiler's own words",
    "PAHOLE_*": "the version of the program that makes BTF, which is not there",
    "DEBUG_INFO*": "no debug information",
    "*BTF*": "made from debug information",
    "PARAVIRT_XXL": "for Xen PV",
    "XEN_PV*": "no Xen PV",
    "XEN_512GB": "for Xen PV",
    "XEN_HAVE_*": "for Xen PV",
    "XEN_MCE_LOG": "for dom0, which is PV",
    "XEN_MEMORY_HOTPLUG_LIMIT": "for Xen PV",
    "XEN_PCIDEV_FRONTEND": "for Xen PV",
    "SWIOTLB_XEN": "for Xen PV",
}
"""Symbols that Debian's configuration sets and the kernel for servers has otherwise, with reasons.

kernel/config/server.config explains those that it sets itself.
"""


@pytest.mark.parametrize("flavour", kernel_package.FLAVOURS)
def test_configuration_has_our_settings_and_loses_none_of_debians(
    flavour: str, tmp_path: Path
) -> None:
    build = Build(flavour)
    configured, debian = settings(build.configured(tmp_path)), settings(build.config)
    own: dict[str, str] = {}
    for name in kernel_package.FRAGMENTS:
        own |= settings((KERNEL / "config" / name).read_text())
    assert {"TIERING", "RELOC_SLAB", "XEN_PV"} <= own.keys()
    assert {symbol: configured.get(symbol, "n") for symbol in own} == own
    assert sum(value == "m" for value in configured.values()) > 1000
    lost = {
        symbol: f"{value}, is {configured.get(symbol, 'n')}"
        for symbol, value in debian.items()
        if configured.get(symbol, "n") != value and symbol not in own
    }
    unexplained = {
        symbol: change
        for symbol, change in lost.items()
        if not any(fnmatchcase(symbol, pattern) for pattern in DIFFERENCES)
    }
    assert not unexplained
    # What a server with slow memory needs.
    for symbol in ("HIBERNATION", "MEMORY_HOTPLUG", "ACPI_HMAT", "NUMA_BALANCING", "KLOC"):
        assert configured[symbol] == "y", symbol
    for symbol in ("DEV_DAX_KMEM", "CXL_MEM"):
        assert configured[symbol] in ("y", "m"), symbol
    # Control policies are for experiments.
    assert configured["TIERING_CONTROLS"] == "n"
    # Debian's file has its key's name; ours must build without.
    assert configured["SYSTEM_TRUSTED_KEYS"] == '""'


@pytest.mark.parametrize("debian", ["6.12.118-1", "6.12.117-1~deb12u1", "6.12.118-2+deb13u1"])
def test_version_is_after_debians_of_the_same_source_and_before_the_next(
    tools: Root, debian: str
) -> None:
    version = Version(debian, "amd64", "0123456789abcdef0123", 1795862243)
    upstream, _, revision = debian.partition("-")
    later = f"{upstream}-{int(revision[0]) + 1}"
    patch = int(upstream.rpartition(".")[2]) + 1
    for one, relation, other in [
        (version.package, "gt", debian),
        (version.package, "lt", later),
        (version.package, "lt", f"6.12.{patch}-1"),
        # A later change of the patches gives a later version of the same source.
        (version.package, "lt", Version(debian, "amd64", "0" * 20, 1796000000).package),
    ]:
        tools.run(["dpkg", "--compare-versions", one, relation, other])
