# SPDX-License-Identifier: GPL-2.0
"""The Debian package kloc: it is built, checked by lintian, installed, used and removed."""

from __future__ import annotations

import gzip
import os
import re
import shlex
import subprocess
from collections.abc import Sequence
from pathlib import Path

import pytest

from kloc import __version__, commands
from kloc.base import revision
from kloc.base.paths import PROJECT
from kloc.build import deb

OVERLAY = """\
set -e
root=$1; package=$2; state=$3; shift 3
mount -t tmpfs tmpfs "$state"
mkdir "$state/upper" "$state/work" "$state/root"
mount -t overlay overlay -o "lowerdir=$root,upperdir=$state/upper,workdir=$state/work" "$state/root"
mount --rbind /proc "$state/root/proc"
mount --rbind /dev "$state/root/dev"
cp "$package" "$state/root/kloc.deb"
exec chroot "$state/root" /bin/sh -ec "$1"
"""
"""Runs a script in a copy of the Debian root that only lives as long as the script."""

AS_NOBODY = "cd /var/tmp; setpriv --reuid=65534 --regid=65534 --clear-groups -- "

COMPLETE = """\
. /usr/share/bash-completion/completions/kloc
export COMP_LINE='kloc sta' COMP_POINT=8 COMP_TYPE=9
COMP_WORDS=(kloc sta)
COMP_CWORD=1
_python_argcomplete kloc
echo "${COMPREPLY[@]}"
"""
"""Prints how bash completes `kloc sta`."""

SERVER_COMMANDS = [one.file for one in commands.ALL if one.check is None]


@pytest.fixture(scope="module")
def package(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return deb.build(tmp_path_factory.mktemp("deb"))


def in_debian(package: Path, tmp_path: Path, script: str) -> str:
    """Install the package in a Debian without a network, run the script and return its output."""
    apart = ["unshare", "--mount", "--net"]
    apart += [] if os.geteuid() == 0 else ["--map-root-user"]
    root = deb.packaging_root().path
    install = "dpkg --install /kloc.deb >/dev/null\n"
    argv: Sequence[str] = ["sh", "-c", OVERLAY, "sh", str(root), str(package), str(tmp_path)]
    done = subprocess.run(
        [*apart, "--", *argv, install + script],
        env={"PATH": "/usr/sbin:/usr/bin:/sbin:/bin", "HOME": "/nonexistent", "LANG": "C.UTF-8"},
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


def listed(package: Path) -> list[str]:
    """Return the paths of the package's files and directories."""
    command = ["dpkg-deb", "--contents", str(package)]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    return [line.split(maxsplit=5)[5].removeprefix(".") for line in done.stdout.splitlines()]


@pytest.mark.parametrize(
    ("argv", "printed"),
    [
        ("kloc --version", "kloc 0"),
        ("kloc doctor", "only the commands for servers"),
        ("kloc scheme check prcl", "prcl: 1 correct"),
        ("python3 -m kloc scheme show prcl", "pageout"),
        ("kloc tune --help", "usage: kloc tune"),
        ("kloc compare --help", "usage: kloc compare"),
        ("kloc completion bash", "kloc"),
    ],
)
def test_servers_commands_work_in_debian(
    argv: str, printed: str, package: Path, tmp_path: Path
) -> None:
    assert printed in in_debian(package, tmp_path, AS_NOBODY + argv)


@pytest.mark.parametrize(
    ("argv", "message"),
    [
        ("kloc compare redis", "only the commands for servers"),
        ("kloc policies", "apt install python3-msgspec"),
        ("kloc tune prcl --optimizer paper --samples 3 -- true", "apt install python3-numpy"),
        ("kloc tune prcl --samples 3 -- true", "Debian has no"),
    ],
)
def test_what_the_package_lacks_is_named(
    argv: str, message: str, package: Path, tmp_path: Path
) -> None:
    script = f"{AS_NOBODY}{argv} 2>&1 && exit 1; exit 0"
    assert message in in_debian(package, tmp_path, script)


def test_package_knows_its_version_and_commit(package: Path, tmp_path: Path) -> None:
    version = re.escape(__version__) + r"\+git\d{8}\.\d{6}\.[0-9a-f]{7}(\+modified[\d.]+)?"
    script = "kloc --version; dpkg-query --show --showformat='${Version}' kloc"
    said, installed = in_debian(package, tmp_path, script).splitlines()
    assert re.fullmatch(version, installed)
    assert package.name == deb.file_name(installed)
    assert said == f"kloc {installed} ({revision.commit()})"


def test_package_has_man_pages_and_completion(package: Path) -> None:
    found = listed(package)
    pages = {f"/usr/share/man/man1/kloc-{name}.1.gz" for name in SERVER_COMMANDS}
    assert pages | {"/usr/share/man/man1/kloc.1.gz"} <= set(found)
    for path in (
        "/usr/share/bash-completion/completions/kloc",
        "/usr/share/zsh/vendor-completions/_kloc",
        "/usr/share/fish/vendor_completions.d/kloc.fish",
    ):
        assert path in found


def test_documents_are_named_by_their_paths_in_the_package(package: Path, tmp_path: Path) -> None:
    subprocess.run(["dpkg-deb", "--extract", package, tmp_path], check=True)
    docs = tmp_path / "usr/share/doc/kloc"
    assert {path.name for path in docs.glob("*.md")} == {
        path.name for path in (PROJECT / "docs").glob("*.md")
    }
    code = (tmp_path / "usr/lib/python3/dist-packages/kloc").rglob("*.*")
    texts = {path: path.read_text() for path in [*code, *docs.glob("*.md")] if path.is_file()}
    pages = (tmp_path / "usr/share/man/man1").glob("*.gz")
    texts |= {path: gzip.decompress(path.read_bytes()).decode() for path in pages}
    assert not [
        path for path, text in texts.items() if re.search(r"(?<!/)\bdocs/[a-z-]+\.md", text)
    ]
    assert not [path for path in docs.glob("*.md") if "packaging/" in path.read_text()]
    name = re.compile(r"/usr/(?:share/doc|lib/(?:systemd|udev))/[\w./-]*\w")
    named = {found for text in texts.values() for found in name.findall(text)}
    assert "/usr/share/doc/kloc/server.md" in named
    assert {name for name in named if not (tmp_path / name.lstrip("/")).exists()} == set()


def test_package_has_the_units_of_the_project(package: Path) -> None:
    units = [path.name for path in (PROJECT / "packaging").glob("*.service")]
    assert {Path(path).name for path in listed(package) if path.endswith(".service")} == set(units)
    assert [path for path in listed(package) if path.endswith("/rules.d/60-kloc.rules")]


def test_package_has_no_machine(package: Path) -> None:
    data = "/usr/lib/python3/dist-packages/kloc/data/"
    inside = {
        path.removeprefix(data).split("/")[0]
        for path in listed(package)
        if path.startswith(data) and path != data
    }
    assert inside == {"commit", "kernel", "machine", "policies", "schemes", "version", "workloads"}
    assert not [path for path in listed(package) if path.endswith((".patch", "plugin/"))]
    kernel = {path for path in listed(package) if path.startswith(f"{data}kernel/")}
    names = {Path(path).name for path in kernel if not path.endswith("/")}
    assert names == {"sysfs-kernel-mm-kloc", "sysfs-kernel-mm-tiering"}


def test_bash_completes_with_the_package(package: Path, tmp_path: Path) -> None:
    script = shlex.join(["bash", "-c", COMPLETE])
    assert in_debian(package, tmp_path, script).split() == ["status"]


SYSTEMD = """\
mkdir -p /run/systemd/system
for name in deb-systemd-invoke systemctl; do
    printf '#!/bin/sh\\necho "%s $*" >>/invoked\\n' "$name" >/usr/bin/$name
    chmod +x /usr/bin/$name
done
"""
"""A system with systemd, whose programs write what they are told to /invoked."""


def test_service_is_stopped_by_a_removal_only(package: Path, tmp_path: Path) -> None:
    script = f"""{SYSTEMD}
dpkg --install /kloc.deb >/dev/null
cat /invoked
rm /invoked
dpkg --remove kloc >/dev/null
cat /invoked
"""
    upgrade, removal, *reload = in_debian(package, tmp_path, script).splitlines()
    # So that systemctl stop and reload do what the new units say.
    assert upgrade == "systemctl --system daemon-reload"
    assert removal == "deb-systemd-invoke stop kloc-metrics.service kloc.service"
    assert set(reload) == {upgrade}


RECORDED = """\
mkdir -p /run/kloc
printf 60 >/run/value
cat >/run/kloc/server.json <<'END'
{"policy": "kloc", "complete": true, "before": {"/run/value": "15"}}
END
: >/run/kloc/server.lock
"""
"""A server on which somebody has run kloc on, without the service."""


def test_removal_restores_what_was_set_without_the_service(package: Path, tmp_path: Path) -> None:
    script = f"{RECORDED} dpkg --remove kloc >/run/printed; cat /run/value; cat /run/printed"
    value, *printed = in_debian(package, tmp_path, script).splitlines()
    assert value == "15"
    assert "kloc is off, and what it had set is restored" in printed


def test_purge_keeps_the_record_of_what_could_not_be_restored(
    package: Path, tmp_path: Path
) -> None:
    # Nobody can write to this file.
    script = f"""{RECORDED}
sed -i s,/run/value,/proc/version, /run/kloc/server.json
dpkg --purge kloc 2>&1
ls /run/kloc
"""
    printed = in_debian(package, tmp_path, script).split("\n")
    assert "a reboot restores the other settings" in printed
    assert "server.json" in printed


def test_package_is_removed_without_a_trace(package: Path, tmp_path: Path) -> None:
    used = f"kloc --version >/dev/null; {RECORDED}"
    find = "find / -xdev -name '*kloc*' -not -path '/proc/*' -not -path '/dev/*'"
    left = in_debian(package, tmp_path, f"{used} dpkg --purge kloc >/dev/null; {find}")
    assert left.split() == ["/kloc.deb"]
