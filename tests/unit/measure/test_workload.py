# SPDX-License-Identifier: GPL-2.0
"""Workloads: scripts, outcomes, sizes, percentiles, and errors in workload files."""

import re
import subprocess
from collections.abc import Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from kloc.base.errors import KlocError
from kloc.base.paths import PROJECT
from kloc.machine import profile
from kloc.measure import policy, workload
from kloc.measure.task import Task
from kloc.measure.workload import FULL, LONG, QUICK, Outcome, Size, Workload, WorkloadFailed


def asked(name: str, what: str) -> int:
    """Return the number that follows `what` in the measured script of a workload."""
    found = re.search(rf"\b{what}(\d+)", workload.load(name).measured(FULL, 1))
    assert found
    return int(found[1])


KINDS = ("read_random", "write_random", "read_sequence", "write_sequence")
EACH = asked("rocksdb", "run ") // 4 * 50
# Reads took 4 to 6 us, writes 8 to 10 us.
ROCKSDB = "".join(f"{kind} {EACH}\n" for kind in KINDS) + "".join(
    f"times {kind}\ntime {'4000 6000' if 'read' in kind else '8000 10000'} {EACH}\n"
    for kind in KINDS
)
PIPELINES = asked("redis", "requests=") // 16
# Half of the pipelines took 40 to 60 us, half 80 to 100 us.
REDIS = f"""
requests {16 * PIPELINES}
ended 200000000
slice 0 {16 * PIPELINES}
time 40000 60000 {PIPELINES - PIPELINES // 2}
time 80000 100000 {PIPELINES // 2}
"""


def rocksdb(measured: str = ROCKSDB, keys: int = 150_000) -> Outcome:
    printed = {"measured": measured, "check": f"keys {keys}\n"}
    return workload.load("rocksdb").outcome(printed, FULL)


def redis(
    keys: int = 50_000,
    errors: int = 0,
    saved: int = 50_000,
    clients: str = REDIS,
    name: str = "redis",
) -> Outcome:
    check = 7 * "keys 50000\nerrors 0\n" + f"keys {keys}\nerrors {errors}\n"
    check += f"[offset 0] RDB looks OK! \\o/\n[info] {saved} keys read\n"
    return workload.load(name).outcome({"measured": clients, "check": check}, FULL)


def test_rocksdb_counts_operations_of_all_kinds() -> None:
    outcome = rocksdb()
    assert outcome.operations == 4 * EACH
    assert outcome.latency_ns == {"p50": 6000.0, "p95": 9800.0, "p99": 9960.0}
    assert outcome.figures == pytest.approx(
        {
            "read random p99, us": 5.98,
            "write random p99, us": 9.98,
            "read sequence p99, us": 5.98,
            "write sequence p99, us": 9.98,
        }
    )


@pytest.mark.parametrize(
    ("measured", "reason"),
    [
        ("rocksdb_clients: key 7 was not found\n", "it said: .* key 7 was not found"),
        (ROCKSDB.replace("write_random", "write"), f"not {EACH} times write_random"),
        (ROCKSDB.replace(f"6000 {EACH}", "6000 1"), "operations were done"),
    ],
)
def test_rocksdb_that_did_not_do_its_work_fails(measured: str, reason: str) -> None:
    with pytest.raises(WorkloadFailed, match=re.compile(reason, re.S)):
        rocksdb(measured)


def test_rocksdb_that_lost_keys_fails() -> None:
    with pytest.raises(WorkloadFailed, match=r"not 150000 keys at the end; it said: keys 149999"):
        rocksdb(keys=149_999)


def test_redis_counts_requests_and_has_the_latencies_of_pipelines() -> None:
    outcome = redis()
    assert outcome.operations == 16 * PIPELINES
    assert outcome.latency_ns == pytest.approx({"p50": 60e3, "p95": 98e3, "p99": 99.6e3}, rel=1e-3)


def test_redis_get_tells_its_kinds_of_requests_apart() -> None:
    pipelines = asked("redis-get", "requests=") // 16
    sets = "times set\ntime 8000 9000 1000\n"
    gets = f"times get\ntime 1000 2000 {pipelines - 1000}\n"
    outcome = redis(clients=sets + gets, name="redis-get")
    assert outcome.operations == 16 * pipelines
    assert outcome.figures == pytest.approx({"SET p99, us": 8.99, "GET p99, us": 1.99})
    assert not redis().figures


def test_redis_huge_differs_from_redis_only_in_huge_pages() -> None:
    redis, huge = workload.load("redis"), workload.load("redis-huge")
    for kind in ("warm_up", "start", "measured", "check", "outcome"):
        assert getattr(redis, kind) == getattr(huge, kind)
    option = " --disable-thp no"
    assert option not in redis.setup(FULL, 1) and option in huge.setup(FULL, 1)
    assert huge.setup(FULL, 1).replace(option, "") == redis.setup(FULL, 1)


def test_redis_that_lost_keys_or_requests_or_reported_errors_fails() -> None:
    with pytest.raises(WorkloadFailed, match="'keys 50000' 7 times, expected 8"):
        redis(keys=49_999)
    with pytest.raises(WorkloadFailed, match="'errors 0' 7 times"):
        redis(errors=2)
    with pytest.raises(WorkloadFailed, match="' 50000 keys read' 0 times"):
        redis(saved=49_999)
    fewer = REDIS.replace("time 80000 100000 ", "time 80000 100000 1")
    with pytest.raises(WorkloadFailed, match=f"of {16 * PIPELINES} requests were answered"):
        redis(clients=fewer)


@pytest.mark.parametrize("name", workload.names())
@pytest.mark.parametrize("size", [FULL, QUICK, LONG])
def test_every_script_is_valid_shell(name: str, size: Size) -> None:
    what = workload.load(name)
    scripts = [what.setup(size, 1), what.measured(size, 1)]
    scripts += [each(size, 1) for each in (what.start, what.check) if each]
    scripts.append(what.slices(size, 1) or "")
    for script in scripts:
        subprocess.run(["sh", "-n"], input=script, text=True, check=True)


def region(what: Workload, seed: int) -> str:
    return (what.start(FULL, seed) if what.start else "") + what.measured(FULL, seed)


@pytest.mark.parametrize("name", workload.names())
def test_the_seed_changes_the_measured_script_and_not_the_setup(name: str) -> None:
    what = workload.load(name)
    # liblinear draws the order of its rows itself, with a fixed seed.
    assert (region(what, 1) != region(what, 2)) == (name != "liblinear")
    assert what.setup(FULL, 1) == what.setup(FULL, 2)


def seven_fields(directory: Path) -> Workload:
    """Write a workload file with only the first seven fields, in their order; return it."""
    (directory / "theirs.py").write_text(
        "from kloc.measure.workload import Outcome, Workload\n"
        "def workloads():\n"
        "    yield Workload('theirs', 'a workload of other people', ('fio',),\n"
        "        lambda size, seed: 'load\\n', lambda size, seed: f'work {seed}\\n',\n"
        "        lambda size, seed: 'check\\n', lambda printed, size: Outcome(7, None))\n"
    )
    return workload.load("theirs")


def test_a_file_with_the_first_seven_fields_has_a_warm_up(directory: Path) -> None:
    theirs = seven_fields(directory)
    todo = Task(theirs, policy.load("stock"), profile.load("tiered"), 3, FULL)
    job = todo.job()
    assert job.scripts == {
        "setup": "load\n",
        "warm": "work 1003\n",
        "measured": "work 3\n",
        "check": "check\n",
    }
    assert (job.slices, job.packages) == (1, ("fio",))
    assert theirs.outcome({}, FULL) == Outcome(7, None)
    again = todo.without_warm_up()
    assert again and "warm" not in again.job().scripts
    assert again.without_warm_up() is None


def test_a_workload_that_cannot_be_repeated_has_no_warm_up(directory: Path) -> None:
    assert replace(seven_fields(directory), repeatable=False).slices(FULL, 1) is None


def test_a_warm_up_of_start_and_region_runs_each_in_a_shell_of_its_own(tmp_path: Path) -> None:
    """Otherwise `wait` in the region would wait for what `start` has started."""
    what = replace(
        workload.load("redis"),
        warm_up=None,
        start=lambda size, seed: f"it='{seed}'\nsleep 60 & echo $!\n",
        measured=lambda size, seed: 'wait\necho "it=$it"\n',
    )
    script = what.slices(FULL, 1)
    assert script
    done = subprocess.run(
        ["sh", "-e", "-c", f"({script}) >out; kill $(head -n 1 out)"],
        cwd=tmp_path,
        timeout=30,
        check=True,
    )
    assert done.returncode == 0
    assert (tmp_path / "out").read_text().splitlines()[1:] == ["it="]


@pytest.mark.parametrize("name", workload.names())
def test_every_workload_here_says_how_it_warms_up(name: str) -> None:
    what = workload.load(name)
    assert not what.warm_up_is_a_guess
    script = what.slices(FULL, 1)
    assert (script is None) == (what.repeatable is False)
    if script:
        subprocess.run(["sh", "-n"], input=script, text=True, check=True)


def test_sizes_follow_from_the_seconds_of_the_region() -> None:
    """Full size is half a second, --quick a quarter of that, --long two seconds."""
    sizes = (FULL, QUICK, LONG)
    assert [size.seconds for size in sizes] == [0.5, 0.125, 2.0]
    assert [size.operations_at(1000) for size in sizes] == [500, 125, 2000]
    assert [size.loaded(400) for size in sizes] == [400, 100, 400]
    # The count of a workload that knows no rate is that of the full size.
    assert [size.operations(400) for size in sizes] == [400, 100, 1600]


# What stands before the number of operations, or of things like them, in a workload's scripts.
COUNTED = {
    "rocksdb": r"run ",
    "rocksdb-openfiles": r"run ",
    "rocksdb-steady": r"run ",
    "rocksdb-mixgraph": r"--reads=",
    "rocksdb-backup": r"--reads=",
    "redis": r"requests=",
    "redis-huge": r"requests=",
    "redis-get": r"requests=",
    "shift": r"requests=",
    "idleconns": r"run ",
    "idleconns-poll": r"run ",
    "filebench": r"operations=",
    "fio-randrw": r"--io_size=",
    "seqread": r"--io_size=",
    "randread": r"--io_size=",
    "smallfiles": r"\.runs\) ",
    "mail": r"\.runs\) ",
    "gups": r"run ",
    "gups-base": r"run ",
    "gups-graded": r"run ",
    "gups-shift": r"run ",
    "btree": r"run ",
    "btree-base": r"run ",
    "pagerank": r"run ",
    "bfs": r"run ",
}


@pytest.mark.parametrize("size", [FULL, QUICK, LONG])
@pytest.mark.parametrize(
    "name", [name for name in workload.names() if workload.load(name).repeatable is not False]
)
def test_a_warm_up_is_at_least_as_long_as_the_region_and_at_most_twice(
    name: str, size: Size
) -> None:
    what = workload.load(name)
    slices, start = what.slices(size, 1), what.start(size, 1) if what.start else ""
    pattern = re.compile(rf"{COUNTED[name]}(\d+)")
    # The first slice may start what the region waits for.
    part = min(pattern.findall(slices or ""), key=int)
    (region,) = set(pattern.findall(start + what.measured(size, 1)))
    # At least half of the slices run, and as many as show whether it has settled (settled.awk).
    least = max(workload.SLICES, what.slices_max / 2)
    assert int(part) * least >= int(region) * 0.99
    assert int(part) * what.slices_max <= int(region) * 2.5


@pytest.mark.parametrize(
    ("histogram", "expected"),
    [
        ({(0, 100): 100}, {"p50": 50.0, "p95": 95.0, "p99": 99.0}),
        ({(0, 10): 50, (1000, 2000): 50}, {"p50": 10.0, "p95": 1900.0, "p99": 1980.0}),
    ],
)
def test_percentiles_are_interpolated_within_buckets(
    histogram: Mapping[tuple[float, float], int], expected: Mapping[str, float]
) -> None:
    assert workload.percentiles(histogram) == pytest.approx(expected)


def test_an_empty_histogram_is_refused() -> None:
    with pytest.raises(WorkloadFailed):
        workload.percentiles({})


def test_an_unknown_workload_is_refused_with_the_nearest_name() -> None:
    with pytest.raises(KlocError, match="did you mean 'rocksdb'"):
        workload.load("rockdb")


@pytest.fixture
def directory(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Iterator[Path]:
    """Return the directory of workloads, which is empty."""
    monkeypatch.setattr(workload, "WORKLOADS", tmp_path)
    workload.registry.cache_clear()
    yield tmp_path
    workload.registry.cache_clear()


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("\nx = missing\n", r"bad\.py, line 2: NameError: name 'missing' is not defined"),
        ("\ndef workloads(:\n", r"bad\.py: SyntaxError: .*line 2"),
        ("import no_such_module\n", r"bad\.py, line 1: ModuleNotFoundError"),
        ("", r"bad\.py: AttributeError: .*'workloads'"),
        ("def workloads():\n    return {}['a']\n", r"bad\.py, line 2: KeyError: 'a'"),
    ],
)
def test_an_error_in_a_workload_file_names_file_and_line(
    text: str, reason: str, directory: Path
) -> None:
    (directory / "bad.py").write_text(text)
    for use in (workload.names, lambda: workload.load("redis")):
        with pytest.raises(KlocError, match=reason) as refused:
            use()
        assert "docs/guide.md" in (refused.value.hint or "")


@pytest.mark.parametrize("name", ["redis", "redis-get"])
@pytest.mark.parametrize("size", [FULL, QUICK, LONG])
def test_redis_clients_send_complete_pipelines(name: str, size: Size) -> None:
    """The number of requests that the check expects is that which is made."""
    redis = workload.load(name)
    for script in (redis.measured(size, 1), redis.slices(size, 1)):
        assert script
        (options,) = re.findall("^redis_clients run (.*)$", script, re.M)
        found = dict(re.findall(r"(\w+)=(\d+)", options))
        assert int(found["requests"]) > 0
        assert int(found["requests"]) % int(found["pipeline"]) == 0


def test_redis_goes_on_with_the_same_requests_until_its_checkpoint_is_complete() -> None:
    """Until the measured phase its servers are never idle."""
    redis = workload.load("redis")
    assert redis.start
    (going_on,) = re.findall(r"^redis_clients until_saved (.*)$", redis.start(FULL, 1), re.M)
    (measured,) = re.findall(r"^redis_clients run (.*)$", redis.measured(FULL, 1), re.M)
    found, region = (dict(re.findall(r"(\w+)=(\d+)", text)) for text in (going_on, measured))
    assert found.pop("hz") == "1"
    assert found.items() == {key: region[key] for key in region if key != "requests"}.items()
    assert "sleep" not in redis.start(FULL, 1)


def test_docs_state_the_spread_of_each_workload_that_has_one() -> None:
    text = (PROJECT / "docs" / "workloads.md").read_text()
    for one in workload.registry().values():
        if one.spread is not None:
            row = rf"^\| `{one.name}` \|.* {100 * one.spread:.1f} % \|$"
            assert re.search(row, text, re.M), one.name


def rate(name: str) -> float | None:
    """Return the rate of a workload under all-fast, None if its region is not made from one."""
    measured: Any = workload.load(name).measured
    measured = getattr(measured, "func", measured)
    if found := getattr(getattr(measured, "__self__", None), "rate", None):
        return float(found)
    constants: dict[str, float] = measured.__globals__
    return constants.get({"smallfiles": "SESSIONS", "mail": "ROUNDS"}.get(name, "RATE"))


def test_docs_state_the_rate_and_the_region_of_each_workload_that_has_a_rate() -> None:
    text = (PROJECT / "docs" / "workloads.md").read_text()
    rows = re.findall(r"^\| (`.*`) \| ([\d,]+) (\S+) \| ([\d,]+) (\S+) \|$", text, re.M)
    stated = {
        name: tuple(int(number.replace(",", "")) for number in (each_second, region))
        for names, each_second, _, region, _ in rows
        for name in re.findall(r"`(.*?)`", names)
    }
    rates = {name: found for name in workload.names() if (found := rate(name)) is not None}
    assert stated == {name: (one, FULL.operations_at(one)) for name, one in rates.items()}
    assert all(unit == of_region for _, _, unit, _, of_region in rows)
