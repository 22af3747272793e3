# SPDX-License-Identifier: GPL-2.0
"""Writeback comes at the times of the full-size machine, divided by the machine's scale."""

from __future__ import annotations

from collections.abc import Mapping

import pytest
from msgspec import structs

from kloc.machine import launcher, periods, profile
from kloc.machine.job import Job
from kloc.machine.parts import prepare_parts
from kloc.machine.profile import Profile
from kloc.measure import policy
from support.in_machine import parse_counts

pytestmark = pytest.mark.machine

EXPIRE = "/proc/sys/vm/dirty_expire_centisecs"
INTERVAL = "/proc/sys/vm/dirty_writeback_centisecs"

PAGES = 256
"""Pages of the file, few enough that the kernel does not write them back for their number."""

# cachestat(2) tells how many pages of a file are dirty, and how many are under writeback. A file
# that is written in a moment expires as a whole.
COMMANDS = f"""
dirty() {{
    perl -e '
        open($in, "<", "/data/file") or die "$!";
        $range = pack("QQ", 0, 0);
        $counts = pack("Q5", 0, 0, 0, 0, 0);
        syscall(451, fileno $in, $range, $counts, 0) == 0 or die "cachestat: $!";
        (undef, $dirty, $writeback) = unpack("Q5", $counts);
        print $dirty + $writeback'
}}
for file in {" ".join(periods.DEFAULTS)}; do echo $file $(cat $file); done
echo commit $(sed -n 's,.* /data ext4 .*commit=\\([0-9]*\\).*,\\1,p' /proc/mounts)
"""

# Waits until a file is as old as the machine's periods allow, and the flusher has had a round.
# A disk that has written nothing yet has no share of the pages that may be dirty: the flusher would
# write them back in its first round, whatever their age.
WAITS = """
head -c {bytes} /dev/zero >/data/first
sync
head -c {bytes} /dev/zero >/data/file
echo written $(dirty)
sleep {before}
echo before $(dirty)
sleep {rest}
echo after $(dirty)
"""


def values(host: Profile, script: str, settings: Mapping[str, str] | None = None) -> dict[str, int]:
    """Return the values that `script` prints on a machine under policy stock, by name."""
    job = Job(
        name="writeback",
        profile=host,
        scripts={"measured": COMMANDS + script},
        settings={**policy.load("stock").settings("", host), **(settings or {})},
    )
    return parse_counts(launcher.run(job, prepare_parts(())).frames["measured"])


def waits(host: Profile) -> str:
    """Return a script that tells how many pages of a new file are dirty before and after."""
    expire, interval = (int(periods.settings(host)[path]) / 100 for path in (EXPIRE, INTERVAL))
    before = expire / 2
    after = expire + 2 * interval
    return WAITS.format(bytes=PAGES * 4096, before=before, rest=f"{after - before:.2f}")


def test_a_file_that_nobody_syncs_is_clean_after_the_scaled_time() -> None:
    host = profile.load(profile.DEFAULT)
    found = values(host, waits(host))
    assert {path: str(found[path]) for path in periods.DEFAULTS} == periods.settings(host)
    assert found["commit"] == 1
    assert (found["written"], found["before"], found["after"]) == (PAGES, PAGES, 0)


@pytest.mark.parametrize("who", ["policy", "workload"])
def test_a_policy_or_a_workload_may_choose_other_periods(who: str) -> None:
    host = profile.load(profile.DEFAULT)
    own = {EXPIRE: "3000", INTERVAL: "500"}
    script = "".join(f"echo {value} >{path}\n" for path, value in own.items())
    if who == "policy":
        found = values(host, waits(host), own)
        assert {path: str(found[path]) for path in own} == own
    else:
        found = values(host, script + waits(host))
    assert found["after"] == PAGES


def test_an_unscaled_machine_has_the_kernels_defaults() -> None:
    host = structs.replace(profile.load(profile.DEFAULT), scale=1)
    found = values(host, "")
    assert {path: found[path] for path in periods.DEFAULTS} == periods.DEFAULTS
    # /proc/mounts shows the option only if it is not the default.
    assert "commit" not in found
