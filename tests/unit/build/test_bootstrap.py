# SPDX-License-Identifier: GPL-2.0
"""mmdebstrap's arguments, and the errors of a root that it cannot make."""

from __future__ import annotations

import os
import pwd
from collections.abc import Callable
from pathlib import Path

import pytest

from kloc.base.errors import KlocError
from kloc.build import bootstrap, host


@pytest.fixture
def replace_mmdebstrap(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Callable[[str], Path]:
    """Replace mmdebstrap by a shell script, on a host that has all packages."""
    programs = tmp_path / "bin"
    programs.mkdir()
    monkeypatch.setenv("PATH", str(programs), prepend=os.pathsep)
    monkeypatch.setattr(host, "missing", list)
    monkeypatch.setattr(os, "geteuid", lambda: 0)

    def replace(script: str) -> Path:
        program = programs / "mmdebstrap"
        program.write_text(f"#!/bin/sh\n{script}\n")
        program.chmod(0o755)
        return tmp_path / "root.tar"

    return replace


def test_root_is_written_with_the_packages_and_a_fixed_time(
    replace_mmdebstrap: Callable[[str], Path],
) -> None:
    tar = replace_mmdebstrap('echo "$@"; echo "$SOURCE_DATE_EPOCH"')
    lines = ["deb http://mirror.example/debian trixie main"]
    bootstrap.bootstrap("a root", ["bc", "make"], tar, seconds=1, lines=lines)
    arguments, epoch = tar.read_text().splitlines()
    assert "--mode=root" in arguments
    assert "--include=bc,make" in arguments
    assert arguments.endswith(f"trixie - {lines[0]}")
    assert epoch == str(bootstrap.EPOCH)


def test_source_package_is_fetched_by_the_root_s_apt(
    replace_mmdebstrap: Callable[[str], Path],
) -> None:
    tar = replace_mmdebstrap('for argument; do echo "$argument"; done')
    fetch = bootstrap.fetch_source("qemu", "qemu-system-data", Path("usr/src/qemu"))
    bootstrap.bootstrap("a root", ["bc"], tar, seconds=1, hook=fetch)
    (hook,) = (line for line in tar.read_text().splitlines() if "hook" in line)
    assert hook.startswith('--customize-hook=mkdir -p "$1/usr/src/qemu" && cd "$1/usr/src/qemu"')
    assert "source qemu=$(dpkg-query" in hook
    assert hook.endswith("qemu-system-data)")
    assert "$MMDEBSTRAP_APT_CONFIG" in hook


def test_pinned_versions_are_preferred_while_the_root_is_made(
    replace_mmdebstrap: Callable[[str], Path],
) -> None:
    tar = replace_mmdebstrap(
        """for argument; do
            case $argument in
            --setup-hook=*) sh -c "${argument#*=}" exec "$PWD$TMPDIR/root-$$" ;;
            esac
            echo "$argument"
        done
        cat "$PWD$TMPDIR/root-$$/etc/apt/preferences.d/kloc"
        rm -r "$PWD$TMPDIR/root-$$" """
    )
    bootstrap.bootstrap("a root", ["bc"], tar, seconds=1, pinned=True)
    text = tar.read_text()
    assert "--customize-hook=rm" in text
    assert "Package: libc6\nPin: version 2." in text
    assert not list(bootstrap.TEMPORARY.glob("kloc-pins-*"))


def test_newest_versions_are_taken_if_pinned_ones_conflict(
    replace_mmdebstrap: Callable[[str], Path], capsys: pytest.CaptureFixture[str]
) -> None:
    tar = replace_mmdebstrap(
        """case $* in
        *--setup-hook*) echo "The following packages have unmet dependencies:" >&2; exit 1 ;;
        esac
        echo "$@" """
    )
    bootstrap.bootstrap("a root", ["bc"], tar, seconds=1, pinned=True)
    assert "--include=bc" in tar.read_text()
    assert "no longer offers the pinned versions for a root" in capsys.readouterr().err


def test_other_errors_with_pinned_versions_are_errors(
    replace_mmdebstrap: Callable[[str], Path],
) -> None:
    tar = replace_mmdebstrap("echo 'E: Unable to locate package bcc' >&2; exit 1")
    with pytest.raises(KlocError, match="no package bcc"):
        bootstrap.bootstrap("a root", ["bcc"], tar, seconds=1, pinned=True)


def test_root_may_have_no_packages(replace_mmdebstrap: Callable[[str], Path]) -> None:
    tar = replace_mmdebstrap('echo "$@"')
    bootstrap.bootstrap("an empty root", [], tar, seconds=1, variant="custom")
    assert "--include" not in tar.read_text()


def test_missing_package_is_named(replace_mmdebstrap: Callable[[str], Path]) -> None:
    tar = replace_mmdebstrap("echo 'E: Unable to locate package redsi' >&2; exit 1")
    with pytest.raises(KlocError, match="no package redsi"):
        bootstrap.bootstrap("a guest", ["redsi"], tar, seconds=1)


def test_failure_quotes_the_last_lines_and_names_the_mirror(
    replace_mmdebstrap: Callable[[str], Path],
) -> None:
    tar = replace_mmdebstrap("for i in $(seq 100); do echo line $i >&2; done; exit 1")
    with pytest.raises(KlocError, match="a guest") as error:
        bootstrap.bootstrap("a guest", ["bc"], tar, seconds=1)
    assert error.value.message.endswith("line 100")
    assert "line 50\n" not in error.value.message
    assert "http" in (error.value.hint or "")


def test_user_without_subordinate_ids_is_told_how_to_get_them(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    user = pwd.struct_passwd(("nobody-has-this-name", "x", 1 << 30, 1, "", "/", "/bin/sh"))
    monkeypatch.setattr(pwd, "getpwuid", lambda uid: user)
    with pytest.raises(KlocError, match="nobody-has-this-name") as error:
        bootstrap.check_subordinate_ids()
    assert "usermod" in (error.value.hint or "")


def test_full_disk_is_no_fault_of_the_network(
    replace_mmdebstrap: Callable[[str], Path],
) -> None:
    tar = replace_mmdebstrap("echo 'dpkg: cannot copy: No space left on device' >&2; exit 1")
    with pytest.raises(KlocError, match=r"no space left on .* for a guest") as error:
        bootstrap.bootstrap("a guest", ["bc"], tar, seconds=1)
    assert "network" not in (error.value.hint or "")
