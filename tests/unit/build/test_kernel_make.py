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
from kloc.build.kernel_make import (
    FIRST_STEPS,
    STEPS,
    TAKEN_OVER_STEPS,
    Make,
    settings,
)
from kloc.build.root import Bind, Root


class FakeRoot:
    """A root in which every program prints `lines` and ends with `status`."""

    def __init__(self, lines: Sequence[str], status: int = 0) -> None:
        self.lines, self.status = lines, status
        self.ran: list[tuple[list[str], dict[str, Any]]] = []
        self.installed = {"gcc": "14", "libc6-dev": "2.41"}

    def packages(self) -> dict[str, str]:
        return self.installed

    def run(self, argv: Sequence[str], **options: Any) -> str:
        self.ran.append((list(argv), options))
        return "".join(self.lines)

    def follow(self, argv: Sequence[str], on_line: Callable[[str], None], **options: Any) -> int:
        self.ran.append((list(argv), options))
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


class FakeKconfig(FakeRoot):
    """A root whose olddefconfig gives some symbols a value of its own, or none."""

    def __init__(self, objects: Path, **changed: str | None) -> None:
        super().__init__(())
        self.config, self.changed = objects / ".config", changed

    def run(self, argv: Sequence[str], **options: Any) -> str:
        assert argv[-1] == "olddefconfig"
        values = {**settings(self.config.read_text()), **self.changed}
        lines = [f"CONFIG_{name}={value}\n" for name, value in values.items() if value is not None]
        self.config.write_text("".join(lines))
        return ""


def configure_over(tmp_path: Path, base: str, **changed: str | None) -> dict[str, str]:
    """Return the configuration that is made of `base` and the fragments for servers."""
    objects = tmp_path / "objects"
    objects.mkdir(exist_ok=True)
    tools = cast(Root, FakeKconfig(objects, **changed))
    Make(tools, tmp_path, objects).configure_over(base, ["kloc.config", "server.config"])
    return settings((objects / ".config").read_text())


def test_fragments_win_over_a_complete_configuration(empty_cache: Path, tmp_path: Path) -> None:
    base = "CONFIG_XEN_PV=y\n# CONFIG_TIERING is not set\nCONFIG_EXT4_FS=m\n"
    made = configure_over(tmp_path, base, XEN_PV_SMP=None)
    assert (made["XEN_PV"], made["TIERING"], made["EXT4_FS"]) == ("n", "y", "m")


@pytest.mark.parametrize(("name", "got"), [("TIERING", None), ("XEN_PV", "y")])
def test_setting_that_kconfig_rejects_in_a_complete_configuration_is_named(
    empty_cache: Path, tmp_path: Path, name: str, got: str | None
) -> None:
    with pytest.raises(KlocError, match=f"CONFIG_{name}=.*is {got or 'not set'}"):
        configure_over(tmp_path, "CONFIG_XEN_PV=y\n", **{name: got})


def test_complete_configuration_that_does_not_change_keeps_its_time(
    empty_cache: Path, tmp_path: Path
) -> None:
    configure_over(tmp_path, "CONFIG_MMU=y\n")
    config = tmp_path / "objects" / ".config"
    os.utime(config, (1e9, 1e9))
    configure_over(tmp_path, "CONFIG_MMU=y\n")
    assert config.stat().st_mtime == 1e9
    configure_over(tmp_path, "CONFIG_MMU=n\n")
    assert config.stat().st_mtime > 1e9


def test_environment_and_binds_of_the_build_come_first(empty_cache: Path, tmp_path: Path) -> None:
    tools = FakeRoot(())
    above = Bind(tmp_path / "above", Path("/build"))
    local = {"LOCALVERSION": "-local"}
    build = Make(cast(Root, tools), tmp_path, tmp_path, environment=local, binds=[above])
    build.compile("all")
    ((argv, options),) = tools.ran
    assert argv[-1] == "all"
    assert options["env"]["LOCALVERSION"] == "-local"
    assert options["env"]["KBUILD_BUILD_HOST"] == "kloc"
    # The directories of the build are mounted in it.
    assert options["binds"][0] == above


def test_packages_have_the_given_control_file_and_changelog(
    empty_cache: Path, tmp_path: Path
) -> None:
    build = make(tmp_path, ["dpkg-deb: building package\n"] * 3)
    build.package(Path("/build"), 10)
    ((argv, _),) = cast(FakeRoot, build.tools).ran
    hook = "--hook-preinit='cp /build/control /build/changelog debian/'"
    assert argv[-2:] == ["bindeb-pkg", f"DPKG_FLAGS=--no-check-builddeps {hook}"]
    # The next build of the kernel takes as long as before.
    assert make(tmp_path).expected_steps(70) == 70


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
