# SPDX-License-Identifier: GPL-2.0
"""Nobody finds the page of a kernel object in a way that is wrong for relocatable slabs."""

from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
from types import ModuleType

import pytest

from kloc.base.paths import PROJECT


@pytest.fixture(scope="module")
def tool() -> ModuleType:
    """tools/slab_addresses.py."""
    spec = spec_from_file_location("slab_addresses", PROJECT / "tools" / "slab_addresses.py")
    assert spec and spec.loader
    module = module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_all_uses_of_addresses_are_known(tool: ModuleType, linux: Path) -> None:
    lines = list(tool.differences(linux, tool.known()))
    assert not lines, "look at these, and change tools/slab_addresses.toml:\n" + "\n".join(lines)


@pytest.mark.parametrize("directory", ["fs", "io_uring", "net/ipv4"])
def test_a_new_use_is_seen(tool: ModuleType, tmp_path: Path, directory: str) -> None:
    source = tmp_path / directory / "new.c"
    source.parent.mkdir(parents=True)
    source.write_text("/* virt_to_page( */\n\tpage = virt_to_page(dentry);\n")
    assert list(tool.differences(tmp_path, {})) == [
        f"{directory}/new.c: 1 uses, 0 are known",
        f"{directory}/new.c:2: page = virt_to_page(dentry);",
    ]
    assert not list(tool.differences(tmp_path, {f"{directory}/new.c": 1}))


def test_a_new_use_in_a_driver_with_sockets_is_seen(tool: ModuleType, tmp_path: Path) -> None:
    for name in ("drivers/block/nbd.c", "drivers/infiniband/sw/siw/new.c", "drivers/ata/ahci.c"):
        source = tmp_path / name
        source.parent.mkdir(parents=True)
        source.write_text("sg_init_one(&sg, socket->sk, size);\n")
    assert [line for line in tool.differences(tmp_path, {}) if line.endswith("known")] == [
        "drivers/block/nbd.c: 1 uses, 0 are known",
        "drivers/infiniband/sw/siw/new.c: 1 uses, 0 are known",
    ]


def test_addresses_of_pages_count_where_a_page_may_be_of_a_slab(tool: ModuleType) -> None:
    assert not list(tool.uses("page_address(page);\n"))
    assert list(tool.uses("slab_folio(slab);\nfolio_address(folio);\n"))


def test_uses_by_wrappers_count(tool: ModuleType) -> None:
    assert list(tool.uses("addr = ib_dma_map_single(device, header, size, dir);\n"))
    assert list(tool.uses("pages[i] = kmap_to_page(buffer);\n"))


def test_an_assignment_through_a_pointer_is_no_comment(tool: ModuleType) -> None:
    assert not list(tool.uses("/*\n * virt_to_page(object)\n *\n */\n"))
    assert list(tool.uses("\t*page = virt_to_page(object);\n"))
