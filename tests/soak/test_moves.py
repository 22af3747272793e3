# SPDX-License-Identifier: GPL-2.0
"""Over two million pages of relocatable slabs move under load, and no file is lost.

On two, four and eight CPUs, while files of ext4, XFS and tmpfs are made, renamed and removed, TCP
connections come and go on the loopback device, and caches are dropped; once with slabs that SLUB
checks. They also move while the machine is suspended and hibernates.
"""

import dataclasses

import pytest

from kloc.build import kernel
from kloc.machine import launcher, profile
from kloc.machine.parts import prepare_parts
from kloc.measure import policy
from support import selftests

pytestmark = pytest.mark.soak

SECONDS = 1500
"""How long the moves may take."""

PACKAGES = ("e2fsprogs", "xfsprogs")

FILE_SYSTEMS = {
    "ext4": "export TMPDIR=/data\n",
    "xfs": """
mkfs.xfs -q -d file=1,name=/data/xfs,size=400m
mkdir /run/files
mount -o loop /data/xfs /run/files
export TMPDIR=/run/files
""",
    "tmpfs": """
mkdir /run/files
mount -t tmpfs -o size=100m tmpfs /run/files
export TMPDIR=/run/files
""",
}
"""Shell commands that choose where the files are."""

CONNECTIONS = """
ip link set lo up
perl -MIO::Socket::INET -e '
    my $server = IO::Socket::INET->new(LocalAddr => "127.0.0.1", LocalPort => 7000, Listen => 9,
        ReuseAddr => 1) or die "$!";
    if (!fork) {
        while (my $peer = $server->accept) { print $peer scalar <$peer>; close $peer }
    }
    for (my $i = 0; ; $i++) {
        my $socket = IO::Socket::INET->new(PeerAddr => "127.0.0.1", PeerPort => 7000) or next;
        print $socket "$i\\n";
        my $echo = <$socket>;
        die "got $echo for $i" if $echo ne "$i\\n";
        select undef, undef, undef, 0.02;
    }' 2>/run/connections &
"""
"""Shell commands that start what makes connections until the machine stops."""

CHECK = """
if [ -s /run/connections ]; then cat /run/connections; exit 1; fi
test "$(cat /sys/kernel/warn_count)" = 0
"""

CASES = {
    "2-ext4": (1_000_000, 2, "ext4", ()),
    "4-xfs": (500_000, 4, "xfs", ()),
    "8-tmpfs": (500_000, 8, "tmpfs", ()),
    "4-ext4-debug": (300_000, 4, "ext4", ("slab_debug=FZPU",)),
}
"""How many pages move, CPUs, file system and parameters of the kernel. More CPUs are slower."""


@pytest.mark.parametrize(("moves", "cpus", "files", "parameters"), CASES.values(), ids=CASES)
def test_pages_move_under_load(
    monkeypatch: pytest.MonkeyPatch,
    moves: int,
    cpus: int,
    files: str,
    parameters: tuple[str, ...],
) -> None:
    monkeypatch.setattr(launcher, "STAGE_HOST_SECONDS", SECONDS + 600)
    host = profile.load(profile.DEFAULT)
    limits = f"export RELOC_MOVES={moves} RELOC_SECONDS={SECONDS}\n"
    settings = policy.load("kloc").settings("", host)
    job = selftests.job(
        ["reloc/storm.sh"],
        host,
        settings,
        seconds=SECONDS + 300,
        setup=FILE_SYSTEMS[files] + limits + CONNECTIONS,
    )
    caches = ",".join((*selftests.CACHES, "xfs_inode"))
    job = dataclasses.replace(
        job,
        scripts={**job.scripts, "check": CHECK},
        cpus=cpus,
        packages=PACKAGES,
        parameters=(f"reloc.caches={caches}", *parameters),
    )
    raw = launcher.run(job, prepare_parts(PACKAGES))
    text, status = selftests.parse(raw.frames["measured"])["reloc/storm.sh"]
    assert status == 0, text


TROUBLE = [f"reloc/{name}.sh" for name in ("hibernate", "placed", "suspend")]
"""Selftests that need suspend, hibernation or fault injection, which a server's kernel lacks."""


def test_slabs_survive_suspend_hibernation_and_failed_allocations() -> None:
    host = profile.load(profile.DEFAULT)
    packages = ("e2fsprogs",)
    settings = policy.load("kloc").settings("", host)
    job = selftests.job(TROUBLE, host, settings, seconds=300)
    job = dataclasses.replace(job, packages=packages)
    parts = dataclasses.replace(prepare_parts(packages), kernel=kernel.build("trouble"))
    printed = selftests.parse(launcher.run(job, parts).frames["measured"])
    for script in TROUBLE:
        text, status = printed[script]
        assert status == 0, text
