# SPDX-License-Identifier: GPL-2.0
"""The contexts file and kloc's server commands in the machine: status, top, exec, choose, release.

Each script runs once for several tests. It prints its results in parts: the line "== NAME" comes
before each part.
"""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest

from kloc.base.paths import PROJECT
from kloc.build.root import Bind, Root
from support.in_machine import OFF, ON, SELECT, run_script, split_parts

pytestmark = pytest.mark.machine

CONTEXTS = "/sys/kernel/debug/kloc/contexts"
PAGE = 4096
COLUMNS = [
    "id",
    "kind",
    "active",
    "age",
    "open",
    "cpu",
    "fast",
    "slow",
    "dev",
    "ino",
    "path",
]

SETUP = r"""
cd /data
mkdir -p sub/folder
head -c 819200 /dev/zero >sub/folder/kept
numactl --membind=1 head -c 409600 /dev/zero >slow
head -c 4096 /dev/zero >"$(printf 'a b\tc\\d\ne')"
head -c 4096 /dev/zero >linked
ln linked sub/other
echo gone >gone
"""

# The sparse file has more pages than the kernel counts before it lets other tasks run.
SEEN = rf"""
part() {{ echo "== $1"; }}
find() {{ awk -F '\t' -v "file=$1" '$9 " " $10 == file' {CONTEXTS}; }}
name() {{ stat -c '%Hd:%Ld %i' "$1"; }}
of() {{ find "$(name "$1")"; }}
cd /data
part mode; stat -c %a {CONTEXTS}
part columns; head -1 {CONTEXTS}
part closed; of sub/folder/kept
exec 3<sub/folder/kept; exec 4<sub/folder/kept; head -c 1 <&3 >/dev/null
part open; of sub/folder/kept
exec 3<&- 4<&-
part closed_again; of sub/folder/kept
part slow; of slow
part odd; cat a* >/run/odd; of a*
part linked; of linked
exec 3<gone; gone=$(name gone); rm gone
part gone; find "$gone"
exec 3<&-
part went; find "$gone"
part sparse; head -c 20000000 /dev/zero >sparse
    dd if=/dev/zero of=sparse bs=4096 seek=1000000 count=3 conv=notrunc 2>/dev/null; of sparse
truncate -s 400M image; mkfs.xfs -q image; mkdir /run/xfs; mount -o loop image /run/xfs
part large; head -c 30000000 /dev/zero >/run/xfs/large; of /run/xfs/large
umount /run/xfs; rm image
part unmounted; grep -c /large$ {CONTEXTS} || true
mkdir many; cd many; seq 3000 | xargs -n 500 touch; cat * >/dev/null; cd ..
# The second reading makes no new context.
for i in 1 2; do
    cat {CONTEXTS} >/run/whole
    dd if={CONTEXTS} of=/run/parts bs=100 status=none
done
part whole; cat /run/whole
part pieces; cut -f 1,10 /run/whole >/run/one; cut -f 1,10 /run/parts >/run/two
    cmp /run/one /run/two && echo same
part knodes; wc -l </run/whole; cat /sys/kernel/mm/kloc/knodes
part status; kloc status
part status_json; kloc status --json
mount --bind sub /mnt
part top; kloc top --json
part once; kloc top --once --lines 3 --sort slow
{SELECT.format("naive")}
part off; cat {CONTEXTS}
part off_status; kloc status 2>&1
part off_top; kloc top --once 2>&1 || true
"""

# $server is a shell that starts a process at once, and another one when something is written to
# /run/start. `flag` reads whether a process is chosen, with a prctl() of its own.
CHOSEN = r"""
part() { echo "== $1"; }
flag() { python3 -c "import ctypes; print(ctypes.CDLL(None).prctl(0x4b4c4f43, 0, $1, 0, 0))"; }
mkfifo /run/start
sh -c 'sleep 1000 & echo $! >/run/early; read -r _ </run/start; sleep 1000 & echo $! >/run/late
    wait' &
server=$!
while [ ! -s /run/early ]; do sleep 0.01; done
part before; flag $server
part choose; kloc choose $server 2>&1
part chosen; flag $server; flag "$(cat /run/early)"
echo >/run/start
while [ ! -s /run/late ]; do sleep 0.01; done
part child; flag "$(cat /run/late)"
part release; kloc release $server $server 2>/dev/null; flag $server; flag "$(cat /run/late)"
part exec; kloc exec -- sh -c 'python3 -c "
import ctypes, os
print(ctypes.CDLL(None).prctl(0x4b4c4f43, 0, 0, 0, 0), os.environ.get(\"PYTHONPATH\"))"' 2>/dev/null
part self; flag 0
part nobody; kloc choose 99999 2>&1 || true
part kernels; kloc choose 2 2>&1 || true
part others; chmod 755 /root
setpriv --reuid=1000 --regid=1000 --clear-groups kloc choose $server 2>&1 || true
part not_root; setpriv --reuid=1000 --regid=1000 --clear-groups kloc top --once 2>&1 || true
part preloaded; LD_PRELOAD=LIBRARY python3 -c "import ctypes
print(ctypes.CDLL(None).prctl(0x4b4c4f43, 0, 0, 0, 0))"
part linked; KLOC_VERBOSE=1 LD_PRELOAD=LIBRARY sh -c 'sh -c true; kill -0 $$ && echo fine' 2>&1
"""

# The contexts file is read while files are created and removed, and while policies are selected.
# Prints how many lines are malformed, and how many have one of these files.
READ_UNDER_LOAD = rf"""
look() {{ awk -F '\t' 'NF != 11 {{w++}} /\/c/ {{f++}} END {{print w + 0, f + 0}}' {CONTEXTS}; }}
(cd /data; for i in $(seq 20); do
    head -c 1000000 /dev/urandom >a$i; cp a$i b$i; mv b$i c$i; cmp a$i c$i
    truncate -s 1000 c$i; rm a$i; [ $((i % 4)) != 0 ] || echo 2 >/proc/sys/vm/drop_caches
done; touch /run/done) &
while [ ! -e /run/done ]; do
    look >>/run/seen
    {OFF}
    {ON}
    look >>/run/seen
done
wait
awk '{{wrong += $1; found += $2}} END {{print wrong, found}}' /run/seen
"""


def run(directory: Path, script: str, *options: object) -> str:
    """Run a script and return its output.

    The script is the setup, which is not measured, because measuring takes longer.
    """
    setup = f"exec >/run/printed\n{script}"
    return run_script(directory, "kloc", setup, "cat /run/printed", "--with-kloc", *options)


@pytest.fixture(scope="module")
def seen(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    """The parts that SEEN printed, by name."""
    directory = tmp_path_factory.mktemp("seen")
    return split_parts(run(directory, SETUP + SEEN, "--packages", "xfsprogs"))


def context(part: str) -> dict[str, str]:
    """Return the columns of the only line of a part, by name."""
    (line,) = part.splitlines()
    return dict(zip(COLUMNS, line.split("\t"), strict=True))


def test_the_contexts_file_is_readable_by_root_only_and_has_a_heading(seen: dict[str, str]) -> None:
    assert seen["mode"] == "400\n"
    assert seen["columns"].split() == COLUMNS


def test_a_context_is_active_while_its_file_is_open(seen: dict[str, str]) -> None:
    closed, opened, again = (context(seen[name]) for name in ("closed", "open", "closed_again"))
    assert (closed["active"], closed["open"]) == ("0", "0")
    assert (opened["active"], opened["open"]) == ("1", "1")
    # A scan may have ended since the file was used.
    assert int(opened["age"]) <= 1
    assert (again["active"], again["open"]) == ("0", "0")
    assert closed["id"] == opened["id"] == again["id"]
    assert closed["path"] == "/sub/folder/kept"


def test_pages_are_counted_in_the_tier_that_they_are_in(seen: dict[str, str]) -> None:
    kept, slow = context(seen["closed"]), context(seen["slow"])
    assert (kept["fast"], kept["slow"]) == (str(819200 // PAGE), "0")
    assert (slow["fast"], slow["slow"]) == ("0", str(409600 // PAGE))
    sparse = context(seen["sparse"])
    assert int(sparse["fast"]) + int(sparse["slow"]) == -(-20000000 // PAGE) + 3
    # A file on XFS, whose folios are large.
    large = context(seen["large"])
    assert int(large["fast"]) + int(large["slow"]) == -(-30000000 // PAGE)
    assert seen["unmounted"] == "0\n"


def test_special_characters_in_paths_are_escaped(seen: dict[str, str]) -> None:
    assert context(seen["odd"])["path"] == r"/a\040b\011c\134d\012e"
    assert context(seen["linked"])["path"] in ("/linked", "/sub/other")
    gone = context(seen["gone"])
    assert (gone["path"], gone["active"]) == ("-", "1")
    assert seen["went"] == ""


def test_the_contexts_file_is_complete_in_large_and_small_reads(seen: dict[str, str]) -> None:
    lines = [line.split("\t") for line in seen["whole"].splitlines()]
    assert {len(line) for line in lines} == {len(COLUMNS)}
    ids = [int(line[0]) for line in lines[1:]]
    assert ids == sorted(set(ids))
    assert seen["pieces"] == "same\n"
    total, knodes = seen["knodes"].split()
    # Reading the contexts makes a few more.
    assert 3000 < int(total) - 1 <= int(knodes) < int(total) + 10
    kinds = {line[1] for line in lines[1:]}
    assert kinds == {"file", "blockdev"}


def test_status_shows_totals_of_contexts(seen: dict[str, str]) -> None:
    status = json.loads(seen["status_json"])
    assert (status["policy"], status["has_contexts"]) == ("kloc", True)
    assert {"naive", "kloc-cap", "migration-only"} < set(status["policies"])
    assert status["settings"]["kloc/inactive_age"] == "8"
    files = status["contexts"]["file"]
    assert files["number"] > 3000 and 0 < files["active"] < 100
    assert files["slow"] >= 409600 // PAGE
    assert status["placed"]["fast"] > 20000000 // PAGE
    assert set(status["counts"]) == {"anon", "file", "blockdev", "slab", "socket", "kernel"}
    table = seen["status"]
    assert re.search(r"^policy +kloc, Linux 6\.12\.", table)
    assert re.search(r"^ placed, fast +\d", table, re.M)
    assert re.search(r"^ file +\d,\d{3} ", table, re.M)


def test_top_shows_the_paths_that_the_user_sees(seen: dict[str, str]) -> None:
    rows: list[dict[str, Any]] = json.loads(seen["top"])["contexts"]
    by_place = {row["place"]: row for row in rows}
    assert by_place["/data/sub/folder/kept"]["fast"] == 819200 // PAGE
    assert by_place["/data/slow"]["slow"] == 409600 // PAGE
    assert "/data/a b\tc\\d\ne" in by_place
    assert by_place["/dev/vdc"]["kind"] == "blockdev"
    # The file system of the machine's Debian system is mounted where processes do not see it.
    assert "vda:/usr/bin/python3.13" in by_place
    fast = [row["fast"] for row in rows]
    assert fast == sorted(fast, reverse=True)
    first = seen["once"].splitlines()[4].split()
    assert (first[1], first[-1]) == ("0.4", "/data/slow")


def test_a_policy_without_contexts_is_named_with_how_to_select_one(seen: dict[str, str]) -> None:
    assert seen["off"].split() == COLUMNS
    assert seen["off_status"].startswith("policy")
    for part in ("off_status", "off_top"):
        text = " ".join(seen[part].split())
        assert "the selected policy, naive, has no contexts" in text
        assert "as root: echo kloc > /sys/kernel/mm/tiering/policy" in text


@pytest.fixture(scope="module")
def chosen(tools: Root, tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    """The parts that CHOSEN printed, by name."""
    directory = tmp_path_factory.mktemp("chosen")
    out, sources = Path("/out"), Path("/sources")
    binds = [Bind(PROJECT / "src" / "libkloc", sources), Bind(directory, out)]
    tools.run(["make", "-C", str(sources), f"OUT={out}"], binds=binds)
    library = directory / "libkloc.so"
    return split_parts(run(directory, CHOSEN.replace("LIBRARY", str(library)), "--copy", library))


def test_choosing_a_process_includes_the_processes_that_it_starts_later(
    chosen: dict[str, str],
) -> None:
    assert chosen["before"] == "0\n"
    assert chosen["chosen"] == "1\n0\n"
    assert chosen["child"] == "1\n"
    assert chosen["release"] == "0\n1\n"


def test_exec_chooses_its_command_but_not_the_caller(chosen: dict[str, str]) -> None:
    assert chosen["exec"] == "1 None\n"
    assert chosen["self"] == "0\n"


def test_processes_that_cannot_be_chosen_are_errors(chosen: dict[str, str]) -> None:
    assert "process 99999" in chosen["nobody"] and "not exist" in chosen["nobody"]
    assert "process 2" in chosen["kernels"] and "kernel thread" in chosen["kernels"]
    assert "no permission" in chosen["others"] and "as root" in chosen["others"]
    assert CONTEXTS in chosen["not_root"] and "as root" in chosen["not_root"]


def test_a_preloaded_library_chooses_its_process(chosen: dict[str, str]) -> None:
    assert chosen["preloaded"] == "1\n"
    assert chosen["linked"].startswith("fine\n")


def test_contexts_can_be_read_while_files_come_and_go(tmp_path: Path) -> None:
    printed = run(tmp_path, READ_UNDER_LOAD)
    wrong, found = map(int, printed.split()[:2])
    assert wrong == 0
    assert found > 0
