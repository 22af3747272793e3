# SPDX-License-Identifier: GPL-2.0
"""The packages of a kernel for servers are built, have what a server needs, and boot."""

from __future__ import annotations

import lzma
import re
from pathlib import Path

import pytest

from kloc.build import kernel_package, root
from kloc.build.kernel_package import Packages
from kloc.build.root import Bind
from support.in_machine import OFF, ON, kloc_run, read_run

pytestmark = pytest.mark.soak

INSIDE = Path("/package.deb")
"""The path of a package in the tool root."""

SIGNATURE = b"~Module signature appended~\n"
"""The end of a signed module."""

UNTAINTED = "0"
"""What /proc/sys/kernel/tainted says if all modules that were loaded have a valid signature."""


@pytest.fixture(scope="module")
def packages(tmp_path_factory: pytest.TempPathFactory) -> Packages:
    """The packages; the build takes over an hour the first time."""
    return kernel_package.build("cloud-amd64", tmp_path_factory.mktemp("kernel"))


def dpkg_deb(package: Path, *argv: str, binds: tuple[Bind, ...] = ()) -> str:
    """Run dpkg-deb on a package, whose path is put behind the first argument."""
    action, *rest = argv
    binds = (Bind(package, INSIDE), *binds)
    return root.tool_root().run(["dpkg-deb", action, str(INSIDE), *rest], binds=binds)


def listed(package: Path) -> set[str]:
    """Return the paths of the package's files and directories."""
    lines = dpkg_deb(package, "--contents").splitlines()
    return {line.split(maxsplit=5)[5].removeprefix(".").partition(" -> ")[0] for line in lines}


def test_control_fields_are_those_of_the_version(packages: Packages) -> None:
    version = packages.version
    for package, name in ((packages.image, "image"), (packages.headers, "headers")):
        fields = dpkg_deb(package, "--field", "Package", "Version", "Architecture").splitlines()
        assert fields == [
            f"Package: linux-{name}-{version.release}",
            f"Version: {version.package}",
            "Architecture: amd64",
        ]


def test_image_has_the_kernel_its_modules_and_scripts(packages: Packages) -> None:
    release, files = packages.version.release, listed(packages.image)
    for name in ("vmlinuz", "config", "System.map"):
        assert f"/boot/{name}-{release}" in files
    modules = {name for name in files if ".ko" in name}
    assert len(modules) > 1000
    assert all(name.startswith(f"/lib/modules/{release}/kernel/") for name in modules)
    assert {"kmem.ko.xz", "xfs.ko.xz"} <= {Path(name).name for name in modules}
    # depmod writes these on a server otherwise, and a purge would leave them.
    written = {f"/lib/modules/{release}/modules.{name}" for name in ("dep", "dep.bin", "weakdep")}
    assert written <= files
    script = dpkg_deb(packages.image, "--info", "postinst")
    assert "/etc/kernel/postinst.d" in script and release in script


def test_modules_are_signed_and_the_configuration_is_debians_and_ours(
    packages: Packages, tmp_path: Path
) -> None:
    inside = Path("/build")
    dpkg_deb(packages.image, "--extract", str(inside), binds=(Bind(tmp_path, inside),))
    (module,) = tmp_path.rglob("xfs.ko.xz")
    content = lzma.decompress(module.read_bytes())
    assert content.endswith(SIGNATURE)
    assert f"vermagic={packages.version.release} ".encode() in content
    (config,) = tmp_path.glob("boot/config-*")
    text = config.read_text()
    for line in ("CONFIG_TIERING=y", "CONFIG_RELOC_SLAB=y", "CONFIG_DEV_DAX_KMEM=m"):
        assert re.search(f"^{line}$", text, re.MULTILINE), line


def test_all_files_have_the_time_of_the_commit(packages: Packages) -> None:
    times = {line.split()[3] for line in dpkg_deb(packages.image, "--contents").splitlines()}
    assert times == {f"{packages.version.date:%Y-%m-%d}"}


def test_headers_build_a_module(packages: Packages, tmp_path: Path) -> None:
    inside = Path("/build")
    dpkg_deb(packages.headers, "--extract", str(inside), binds=(Bind(tmp_path, inside),))
    source = tmp_path / "module"
    source.mkdir()
    (source / "Makefile").write_text("obj-m := hello.o\n")
    (source / "hello.c").write_text(
        "#include <linux/memcontrol.h>\n#include <linux/module.h>\n"
        'MODULE_LICENSE("GPL");\nMODULE_DESCRIPTION("A test");\n'
    )
    headers = inside / "usr" / "src" / f"linux-headers-{packages.version.release}"
    kernel_package.packaging_root().run(
        ["make", "-C", str(headers), f"M={inside}/module", "modules"],
        binds=[Bind(tmp_path, inside)],
    )
    built = (source / "hello.ko").read_bytes()
    assert f"vermagic={packages.version.release} ".encode() in built


def test_image_boots_with_policy_kloc_and_its_modules_do_not_taint_it(
    packages: Packages, tmp_path: Path
) -> None:
    result = tmp_path / "result.json"
    script = f"uname -r; cat /proc/sys/kernel/tainted; {OFF} && {ON} && echo selected"
    options = ["--kernel", packages.image, "--policy", "kloc", "--json", result]
    process = kloc_run(*options, "--", "sh", "-c", script)
    assert process.stdout.splitlines()[:3] == [packages.version.release, UNTAINTED, "selected"]
    assert read_run(result)["policy"] == "kloc"


def test_image_boots_with_slabs_that_can_move(packages: Packages) -> None:
    script = "cat /sys/kernel/debug/reloc/caches"
    process = kloc_run(
        "--kernel", packages.image, "--policy", "kloc-slab", "--", "sh", "-c", script
    )
    assert re.search(r"^ext4_inode_cache\t[1-9]", process.stdout, re.MULTILINE)
