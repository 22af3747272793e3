# SPDX-License-Identifier: GPL-2.0
"""The kernel's build: how long it takes, and its errors. No program runs."""

from __future__ import annotations

import errno
import os
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, cast

import pytest

from kloc.base.errors import KlocError
from kloc.build.kernel_make import FIRST_STEPS, STEPS, TAKEN_OVER_STEPS, Make
from kloc.build.root import Root


class FakeRoot:
    """A root in which every program prints `lines` and ends with `status`."""

    def __init__(self, lines: Sequence[str], status: int = 0) -> None:
        self.lines, self.status = lines, status
        self.installed = {"gcc": "14", "libc6-dev": "2.41"}

    def packages(self) -> dict[str, str]:
        return self.installed

    def run(self, argv: Sequence[str], **_: Any) -> str:
        return "".join(self.lines)

    def follow(self, argv: Sequence[str], on_line: Callable[[str], None], **_: Any) -> int:
        for line in self.lines:
            on_line(line)
        return self.status


def make(tmp_path: Path, lines: Sequence[str] = (), status: int = 0) -> Make:
    objects = tmp_path / "objects"
    objects.mkdir(exist_ok=True)
    return Make(cast(Root, FakeRoot(lines, status)), tmp_path, objects)


def test_build_counts_the_lines_for_the_next_one(empty_cache: Path, tmp_path: Path) -> None:
    assert make(tmp_path).expected_steps() == FIRST_STEPS
    make(tmp_path, ["CC file.o\n"] * 7).compile()
    assert make(tmp_path).expected_steps() == 7


def test_count_of_the_last_build_survives_a_full_disk(
    monkeypatch: pytest.MonkeyPatch, empty_cache: Path, tmp_path: Path
) -> None:
    def write_text(path: Path, *_: Any, **__: Any) -> int:
        path.open("w").close()
        raise OSError(errno.ENOSPC, "No space left on device")

    make(tmp_path, ["CC file.o\n"] * 7).compile()
    with monkeypatch.context() as full:
        full.setattr(Path, "write_text", write_text)
        with pytest.raises(KlocError, match="No space"):
            make(tmp_path, ["CC file.o\n"] * 8).compile()
    assert make(tmp_path).expected_steps() == 7


def test_a_similar_configuration_begins_with_the_objects_of_another_one(
    empty_cache: Path, tmp_path: Path
) -> None:
    build, other = make(tmp_path), tmp_path / "other"
    (other / "mm").mkdir(parents=True)
    build.take_over(other)
    # The other one was not built to its end.
    assert not any(build.objects.iterdir())
    (other / "vmlinux").write_text("other")
    (other / "mm" / "slub.o").write_text("slub")
    os.utime(other / "mm" / "slub.o", (1e9, 1e9))
    (other / STEPS).write_text("2391")
    build.take_over(other)
    taken = build.objects / "mm" / "slub.o"
    # make decides by times.
    assert (taken.read_text(), taken.stat().st_mtime) == ("slub", 1e9)
    assert build.expected_steps() == TAKEN_OVER_STEPS
    taken.write_text("own")
    build.take_over(other)
    assert taken.read_text() == "own"
    assert (other / "mm" / "slub.o").read_text() == "slub"


def test_a_copy_that_was_interrupted_is_made_again(empty_cache: Path, tmp_path: Path) -> None:
    build, other = make(tmp_path), tmp_path / "other"
    other.mkdir()
    (other / "vmlinux").touch()
    draft = tmp_path / "objects.draft"
    draft.mkdir()
    (draft / "left.o").touch()
    build.take_over(other)
    assert sorted(path.name for path in build.objects.iterdir()) == [STEPS, "vmlinux"]
    assert not draft.exists()


@pytest.mark.parametrize("text", ["", "seven"])
def test_unreadable_count_is_unknown(empty_cache: Path, tmp_path: Path, text: str) -> None:
    build = make(tmp_path)
    (tmp_path / "objects" / STEPS).write_text(text)
    assert build.expected_steps() == FIRST_STEPS


def test_compiled_files_are_used_again_only_with_the_same_headers(
    empty_cache: Path, tmp_path: Path
) -> None:
    def namespace(**changed: str) -> str:
        tools = FakeRoot(())
        tools.installed |= {name.replace("_", "-"): version for name, version in changed.items()}
        return Make(cast(Root, tools), tmp_path, tmp_path).environment["CCACHE_NAMESPACE"]

    assert namespace() == namespace(gcc="15") != namespace(libc6_dev="2.42")
    assert namespace() != namespace(libelf_dev="0.192")


def test_configuration_that_does_not_change_keeps_its_time(
    empty_cache: Path, tmp_path: Path
) -> None:
    build = make(tmp_path)
    config, built = tmp_path / "objects" / ".config", tmp_path / "objects" / "vmlinux"
    config.write_text("CONFIG_MMU=y\n")
    built.touch()
    time = config.stat().st_mtime_ns
    build.configure(["base.config"])
    assert config.stat().st_mtime_ns == time
    assert build.expected_steps() is None


def test_setting_that_kconfig_rejects_is_named(empty_cache: Path, tmp_path: Path) -> None:
    output = "Requested value:  CONFIG_KLOC=y\nActual value:     \n"
    with pytest.raises(KlocError, match="CONFIG_KLOC=y"):
        make(tmp_path, [output]).configure(["kloc.config"])


def test_error_quotes_the_compiler_and_names_the_log(empty_cache: Path, tmp_path: Path) -> None:
    lines = [*["CC file.o\n"] * 20, "mm/kloc/main.c:7: error: expected ';'\n", "CC other.o\n"]
    build = make(tmp_path, lines, status=2)
    with pytest.raises(KlocError) as error:
        build.compile()
    assert error.value.message.splitlines()[1:] == ["mm/kloc/main.c:7: error: expected ';'"]
    assert str(build.log) in (error.value.hint or "")


def test_warnings_are_of_the_given_files_only(empty_cache: Path, tmp_path: Path) -> None:
    lines = [
        "mm/kloc/main.c:7: warning: unused variable\n",
        "mm/other.c:8: warning: unused variable\n",
        "CC mm/kloc/main.o\n",
    ]
    assert make(tmp_path, lines).warnings([Path("mm/kloc/main.c")]) == lines[:1]
