# SPDX-License-Identifier: GPL-2.0
"""Workloads: scripts, outcomes, sizes, percentiles, and errors in workload files."""

import re
import subprocess
from collections.abc import Iterator, Mapping
from dataclasses import replace
from pathlib import Path

import pytest

from kloc.base.errors import KlocError
from kloc.base.paths import PROJECT
from kloc.machine import profile
from kloc.measure import policy, workload
from kloc.measure.task import Task
from kloc.measure.workload import FULL, LONG, QUICK, Outcome, Size, Workload, WorkloadFailed

DB_BENCH = """
overwrite    :      78.458 micros/op 117214 ops/sec 0.102 seconds 18000 operations;  113.6 MB/s
Microseconds per write:
Count: 100 Average: 85.2655  StdDev: 777.14
------------------------------------------------------
(       2,       3 ]       50   0.275%   0.275% ####
(       4,       6 ]       50  37.042%  59.783% #######

... finished 100 ops         \rreadrandom   :      20.949 micros/op 442469 ops/sec 0.054 seconds \
27000 operations;  428.7 MB/s (2250 of 2250 found)
readrandom   :      20.949 micros/op 442469 ops/sec 0.054 seconds 27000 operations;  428.7 MB/s \
(2250 of 2250 found)
readseq      :       1.241 micros/op 3217158 ops/sec 0.007 seconds 9000 operations; 3117.2 MB/s
fillseq      :       4.539 micros/op 220309 ops/sec 0.454 seconds 18000 operations;  213.5 MB/s
"""
# 3,750 pipelines of 16: half of them took 40 to 60 us, half 80 to 100 us.
REDIS = """
requests 60000
ended 200000000
slice 0 60000
time 40000 60000 1875
time 80000 100000 1875
"""


def rocksdb(measured: str = DB_BENCH, verified: int = 2, log: int = 625) -> Outcome:
    verify = "verifychecksum : 1085393.000 micros/op 0 ops/sec 1.085 seconds 1 operations;\n"
    printed = {"measured": measured, "check": verified * verify + f"keys {log}\n"}
    return workload.load("rocksdb").outcome(printed, FULL)


def redis(
    keys: int = 50_000, errors: int = 0, saved: int = 50_000, clients: str = REDIS
) -> Outcome:
    check = 7 * "keys 50000\nerrors 0\n" + f"keys {keys}\nerrors {errors}\n"
    check += f"[offset 0] RDB looks OK! \\o/\n[info] {saved} keys read\n"
    return workload.load("redis").outcome({"measured": clients, "check": check}, FULL)


def test_rocksdb_counts_operations_of_all_benchmarks() -> None:
    outcome = rocksdb()
    assert outcome.operations == 18_000 + 27_000 + 9_000 + 18_000
    assert outcome.latency_ns == {"p50": 3000.0, "p95": 5800.0, "p99": 5960.0}


@pytest.mark.parametrize(
    ("measured", "verified", "reason"),
    [
        (DB_BENCH.replace("readseq ", "readsuq "), 2, "did not finish readseq"),
        (DB_BENCH.replace("(2250 of", "(2249 of"), 2, "2249 of 2250 keys were found"),
        (DB_BENCH, 1, "1 of 2 databases were verified"),
    ],
)
def test_rocksdb_that_did_not_do_its_work_fails(measured: str, verified: int, reason: str) -> None:
    with pytest.raises(WorkloadFailed, match=reason):
        rocksdb(measured, verified)


def test_rocksdb_whose_log_lost_keys_fails() -> None:
    with pytest.raises(WorkloadFailed, match="log holds 624 keys and not 625"):
        rocksdb(log=624)


def test_redis_counts_requests_and_has_the_latencies_of_pipelines() -> None:
    outcome = redis()
    assert outcome.operations == 60_000
    assert outcome.latency_ns == {"p50": 60_000.0, "p95": 98_000.0, "p99": 99_600.0}


def test_redis_that_lost_keys_or_requests_or_reported_errors_fails() -> None:
    with pytest.raises(WorkloadFailed, match="'keys 50000' 7 times, expected 8"):
        redis(keys=49_999)
    with pytest.raises(WorkloadFailed, match="'errors 0' 7 times"):
        redis(errors=2)
    with pytest.raises(WorkloadFailed, match="' 50000 keys read' 0 times"):
        redis(saved=49_999)
    with pytest.raises(WorkloadFailed, match="30000 of 60000 requests were answered"):
        redis(clients=REDIS.replace("time 80000 100000 1875\n", ""))


@pytest.mark.parametrize("name", workload.names())
@pytest.mark.parametrize("size", [FULL, QUICK, LONG])
def test_every_script_is_valid_shell(name: str, size: Size) -> None:
    what = workload.load(name)
    scripts = [what.setup(size, 1), what.measured(size, 1)]
    scripts += [each(size, 1) for each in (what.start, what.check) if each]
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


def test_quick_is_a_quarter_and_long_measures_ten_times_as_much() -> None:
    assert (QUICK.loaded(400), QUICK.operations(400)) == (100, 100)
    assert (LONG.loaded(400), LONG.operations(400)) == (400, 4000)


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


@pytest.mark.parametrize("size", [FULL, QUICK, LONG])
def test_redis_clients_send_complete_pipelines(size: Size) -> None:
    """The number of requests that the check expects is that which is made."""
    redis = workload.load("redis")
    for script in (redis.measured(size, 1), redis.slices(size, 1)):
        assert script
        (options,) = re.findall("^redis_clients run (.*)$", script, re.M)
        found = dict(re.findall(r"(\w+)=(\d+)", options))
        assert int(found["requests"]) > 0
        assert int(found["requests"]) % int(found["pipeline"]) == 0


def test_docs_state_the_spread_of_each_workload_that_has_one() -> None:
    text = (PROJECT / "docs" / "workloads.md").read_text()
    for one in workload.registry().values():
        if one.spread is not None:
            assert f"| `{one.name}` | {100 * one.spread:g} % |" in text
