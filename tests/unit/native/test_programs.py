# SPDX-License-Identifier: GPL-2.0
"""What workloads need on a server: packages that are missing, and programs that are compiled."""

from __future__ import annotations

import subprocess
from dataclasses import replace
from pathlib import Path

import pytest

from kloc.base import terminal
from kloc.base.errors import KlocError
from kloc.measure import workload
from kloc.native import programs

DPKG_QUERY = """\
#!/bin/sh
printf 'gcc\\tinstall ok installed\\t4:12.2\\n'
printf 'redis-tools\\tdeinstall ok config-files\\t5:7.0\\n'
exit 1
"""


@pytest.fixture
def path(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    """A directory at the front of PATH, with a dpkg-query that knows two packages."""
    write(tmp_path / "dpkg-query", DPKG_QUERY)
    monkeypatch.setenv("PATH", f"{tmp_path}:/usr/bin:/bin")
    return tmp_path


def write(file: Path, text: str) -> None:
    file.write_text(text)
    file.chmod(0o755)


def test_packages_are_those_of_program_compiler_library_and_network() -> None:
    redis, rocksdb, fio = map(workload.load, ("redis", "rocksdb", "fio-randrw"))
    assert programs.packages([redis, fio]) == [
        *("redis-server", "redis-tools", "gcc", "libc6-dev", "iproute2", "fio")
    ]
    assert programs.packages([rocksdb])[-2:] == ["librocksdb-dev", "iproute2"]
    assert programs.packages([]) == []


def test_a_removed_package_is_not_installed(path: Path) -> None:
    assert programs.versions(["gcc", "redis-tools", "fio"]) == {"gcc": "4:12.2"}
    assert programs.versions([]) == {}


def test_missing_packages_are_named_with_the_command(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    # The tests may run with kloc test --yes.
    monkeypatch.setattr(terminal, "settings", terminal.Settings())
    programs.require(["gcc"])
    with pytest.raises(KlocError, match=r"lacks Debian packages.*: redis-tools, fio") as error:
        programs.require(["gcc", "redis-tools", "fio"])
    assert "apt-get install redis-tools fio" in str(error.value.hint)


def test_only_yes_installs_them(
    path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    write(path / "apt-get", "#!/bin/sh\necho apt-get $*\n")
    monkeypatch.setattr(terminal, "settings", terminal.Settings(yes=True))
    programs.require(["gcc", "fio"])
    printed = capfd.readouterr()
    assert "apt-get install --yes --no-install-recommends fio" in printed.err
    assert printed.out == ""
    write(path / "apt-get", "#!/bin/sh\nexit 100\n")
    with pytest.raises(subprocess.CalledProcessError):
        programs.require(["gcc", "fio"])


def test_c_programs_are_compiled_and_mistakes_shown(tmp_path: Path) -> None:
    good, bad = tmp_path / "good.c", tmp_path / "bad.c"
    good.write_text("int main(void) { return 7; }\n")
    bad.write_text("int main(void) { return seven; }\n")
    one = replace(workload.load("gups"), programs=(str(good),))
    programs.compile_all(one, tmp_path)
    assert subprocess.run([tmp_path / "good"]).returncode == 7
    with pytest.raises(KlocError, match=r"bad.c does not compile here:(.|\n)*seven"):
        programs.compile_all(replace(one, programs=(str(bad),)), tmp_path)
