# SPDX-License-Identifier: GPL-2.0
"""The C programs of workloads: they build and work, and their check finds lost or wrong files."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from kloc.base.errors import KlocError
from kloc.build import programs
from kloc.build.root import Root
from kloc.measure.workload import SOURCES
from support import sanitized


def run(name: str, *arguments: object, cwd: Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [programs.build(SOURCES / f"{name}.c"), *map(str, arguments)],
        cwd=cwd,
        capture_output=True,
        text=True,
    )


def counts(done: subprocess.CompletedProcess[str]) -> dict[str, int]:
    """Return the count of each operation, summed over all processes."""
    assert done.returncode == 0, done.stderr
    total: dict[str, int] = {}
    for line in done.stdout.splitlines():
        name, *numbers = line.split()
        total[name] = total.get(name, 0) + int(numbers[-1])
    return total


AMOUNT = {"smallfiles": (4, 400, 2), "mail": (4, 400)}
"""What each program loads: 1600 files."""

RUNS = (20, 1, 10, 7)
"""Two runs: their lengths and seeds."""


@pytest.fixture(params=list(AMOUNT))
def program(request: pytest.FixtureRequest, tools: Root, tmp_path: Path) -> str:
    """The name of a program that has loaded and run twice in tmp_path."""
    name = str(request.param)
    assert counts(run(name, "load", *AMOUNT[name], cwd=tmp_path))["time"] == 1600
    for runs in (RUNS[:2], RUNS):
        operations = counts(run(name, "run", *AMOUNT[name], *runs, cwd=tmp_path))
        assert operations.pop("time") == sum(operations.values())
        assert all(operations.values())
    return name


def check(name: str, directory: Path, runs: tuple[int, ...]) -> subprocess.CompletedProcess[str]:
    return run(name, "check", *AMOUNT[name], *runs, cwd=directory)


def test_check_finds_all_files(program: str, tmp_path: Path) -> None:
    assert counts(check(program, tmp_path, RUNS))["read"] == 1600


@pytest.mark.parametrize("runs", [(20, 2, 10, 7), RUNS[:2], ()])
def test_check_of_other_runs_fails(program: str, tmp_path: Path, runs: tuple[int, ...]) -> None:
    assert check(program, tmp_path, runs).returncode == 1


def test_check_finds_a_file_with_wrong_contents(program: str, tmp_path: Path) -> None:
    file = max(tmp_path.glob("*01/*"))
    file.write_bytes(bytes(file.stat().st_size))
    done = check(program, tmp_path, RUNS)
    assert done.returncode == 1
    assert file.name in done.stderr


def test_check_finds_a_lost_file(program: str, tmp_path: Path) -> None:
    max(tmp_path.glob("*01/*")).unlink()
    assert check(program, tmp_path, RUNS).returncode == 1


BLOCKS = ("sequential=2", "sequential_blocks=10", "random=3", "random_blocks=50", "zipf=12")


def blocks(what: str, *options: str, cwd: Path) -> subprocess.CompletedProcess[str]:
    return run("blocks", what, *BLOCKS, *options, cwd=cwd)


@pytest.mark.parametrize("options", [(), ("zipf=0",)])
def test_blocks_are_read_written_and_verified(
    tools: Root, tmp_path: Path, options: tuple[str, ...]
) -> None:
    assert blocks("load", *options, cwd=tmp_path).returncode == 0
    assert len(list(tmp_path.iterdir())) == 5
    done = counts(blocks("run", "operations=200", "seed=1", *options, cwd=tmp_path))
    assert done["time"] == done["read"] + done["write"] == 5 * 200
    assert abs(done["read"] - done["write"]) < 5 * 40
    assert counts(blocks("check", *options, cwd=tmp_path)) == {"verified": 170}


@pytest.mark.parametrize("at", [0, 4088, 2000])
def test_check_finds_a_wrong_block(tools: Root, tmp_path: Path, at: int) -> None:
    assert blocks("load", cwd=tmp_path).returncode == 0
    with (tmp_path / "file.3").open("r+b") as file:
        file.seek(7 * 4096 + at)
        file.write(b"wrong")
    done = blocks("check", cwd=tmp_path)
    assert done.returncode == 1
    assert "file.3: wrong contents of block 7" in done.stderr


DATABASE = (
    "db=/tmp/db databases=3 keys=500 value=1000 memtable=65536 table=65536 level=524288 block=8192"
)
SERVE = "ask=/tmp/ask answer=/tmp/answer clients=3 turn=7 skew=6 open_files=12 cache=8192"


def serve_rocksdb(
    commands: str,
    options: str = "",
    run: str = "",
    program: Path | None = None,
    database: str = DATABASE,
) -> str:
    """Load 500 keys, start a server of them, run shell commands, and return what is printed."""
    source = SOURCES / "rocksdb_clients.c"
    program = program or programs.build(source)
    script = f"""
export ASAN_OPTIONS=detect_leaks=0
mkfifo /tmp/ask /tmp/answer
{program} load {database}
{run}
{program} serve {database} {SERVE} {options} &
cat /tmp/answer
ask() {{ echo "$*" >/tmp/ask; cat /tmp/answer; }}
{commands}
"""
    return programs.tools_for(source)[0].run(["sh", "-e", "-c", script], binds=[program.parent])


def test_rocksdb_clients_do_as_many_operations_of_each_kind_as_asked(tools: Root) -> None:
    printed = serve_rocksdb("ask run 400 1; ask run 80 2; ask stop").splitlines()
    times = [int(line.split()[-1]) for line in printed if line.startswith("time ")]
    assert sum(times) == 480 * 7
    kinds = ("read_random", "write_random", "read_sequence", "write_sequence")
    assert [line for line in printed if not line.startswith("time ")] == [
        "ready",
        *(f"{kind} 700" for kind in kinds),
        *(f"times {kind}" for kind in kinds),
        *(f"{kind} 140" for kind in kinds),
        *(f"times {kind}" for kind in kinds),
        "keys 500",
    ]


@pytest.mark.parametrize("steady", [0, 1])
def test_rocksdb_clients_do_nothing_invalid(tools: Root, tmp_path: Path, steady: int) -> None:
    program = sanitized.build("rocksdb_clients", tmp_path)
    database = f"{DATABASE} steady={steady}"
    commands = "ask run 40 1; ask stop"
    printed = serve_rocksdb(commands, program=program, database=database).splitlines()
    assert printed[-1] == "keys 500"


def test_blocks_do_nothing_invalid(tools: Root, tmp_path: Path) -> None:
    program, amount = sanitized.build("blocks", tmp_path), " ".join(BLOCKS)
    commands = [f"{program} {what} {amount} operations=99" for what in ("load", "run", "check")]
    script = "cd /tmp\n" + "\n".join(commands)
    assert "verified 170\n" in tools.run(["sh", "-e", "-c", script], binds=[tmp_path])


@pytest.mark.parametrize(
    ("command", "options", "answer"),
    [
        ("ask jump", "", "'jump' is neither 'run TURNS SEED' nor 'stop'"),
        # Half of the keys that are looked for were never loaded.
        ("ask run 400 1", "keys=1000", "was not found"),
        ("ask run 400 1", "value=999", "wrong value of 1000 bytes"),
        # Fewer keys than there are.
        ("ask stop", "keys=499", "is there and not"),
        ("", "db=/none/db", "/none"),
    ],
)
def test_rocksdb_clients_answer_what_is_wrong(
    tools: Root, command: str, options: str, answer: str
) -> None:
    printed = serve_rocksdb(command, options).splitlines()
    assert printed[-1].startswith("rocksdb_clients: ")
    assert answer in printed[-1]


def test_rocksdb_clients_find_a_lost_write(tools: Root) -> None:
    """The write-ahead log is lost, and with it what was written since the last flush."""
    lose = "cp -r /tmp/db /tmp/kept"
    restore = "rm -r /tmp/db; cp -r /tmp/kept /tmp/db"
    printed = serve_rocksdb(f"ask run 4 1; {restore}; ask stop", run=lose).splitlines()
    assert "not what was written last" in printed[-1]


def test_rows_are_in_libsvm_format(tools: Root, tmp_path: Path) -> None:
    rows = run("sparse", 1000, 5000, 40, cwd=tmp_path).stdout.splitlines()
    assert len(rows) == 1000
    assert {row.split()[0] for row in rows} == {"+1", "-1"}
    for row in rows:
        features = [int(pair.removesuffix(":1")) for pair in row.split()[1:]]
        assert features == sorted(set(features))
        assert features[0] >= 1 and features[-1] <= 5000
        assert 20 <= len(features) <= 40


def test_program_that_does_not_compile_is_an_error(tools: Root, tmp_path: Path) -> None:
    (tmp_path / "broken.c").write_text("int main(void) { return what; }\n")
    with pytest.raises(KlocError, match=r"what.* undeclared"):
        programs.build(tmp_path / "broken.c")
