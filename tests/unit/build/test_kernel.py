# SPDX-License-Identifier: GPL-2.0
"""The variants of the kernel, and the hash of what each is built from."""

from pathlib import Path

import pytest

from kloc.base.errors import KlocError
from kloc.build import kernel, kernel_source
from support import made_up_overlay


def test_unknown_variant_is_an_error() -> None:
    with pytest.raises(KlocError, match="did you mean 'machine'"):
        kernel.build("machin")


def test_series_hash_follows_files_patches_and_configuration(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    overlay = made_up_overlay.overlay(tmp_path, "0001.patch\n", {"0001.patch": "a patch\n"})
    (overlay / "config").mkdir()
    for name in {name for fragments in kernel.VARIANTS.values() for name in fragments}:
        (overlay / "config" / name).write_text(f"# {name}\n")
    for module in (kernel, kernel_source):
        monkeypatch.setattr(module, "KERNEL", overlay)

    def change(name: str) -> set[str]:
        """Change a file; return the variants whose hash changes."""
        before = {variant: kernel.series_hash(variant) for variant in kernel.VARIANTS}
        (overlay / name).write_text("changed\n")
        return {variant for variant in before if kernel.series_hash(variant) != before[variant]}

    patched = set(kernel.VARIANTS) - {kernel.UNPATCHED}
    assert change("files/mm/new.c") == patched
    assert change("patches/0001.patch") == patched
    assert change("config/base.config") == set(kernel.VARIANTS)
    assert change("config/kunit.config") == {"kunit", "debug", "debug-rt", "debug-kcsan"}
    assert change("config/pm.config") == {"trouble", "debug", "debug-rt", "debug-kcsan"}
    assert change("config/faults.config") == {"trouble", "debug", "debug-rt", "debug-kcsan"}
    assert change("config/debug.config") == {"debug", "debug-rt", "debug-kcsan"}
    assert change("config/kasan.config") == {"debug"}
    assert change("config/rt.config") == {"debug-rt"}
    assert change("config/kcsan.config") == {"debug-kcsan"}


@pytest.mark.parametrize(
    ("option", "image"), [("# CONFIG_KASAN is not set", "vmlinux"), ("CONFIG_KASAN=y", "bzImage")]
)
def test_kernel_with_kasan_is_not_entered_by_pvh(tmp_path: Path, option: str, image: str) -> None:
    config = tmp_path / "config"
    config.write_text(f"CONFIG_PVH=y\n{option}\n")
    built = kernel.Kernel(tmp_path / "bzImage", tmp_path / "vmlinux", config, "6.12", "abc")
    assert built.image == tmp_path / image
