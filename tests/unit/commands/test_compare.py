# SPDX-License-Identifier: GPL-2.0
"""`kloc compare`: what is run, what is refused, and how result files are shown."""

from __future__ import annotations

import copy
import json
import re
import sys
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from kloc.base import terminal
from kloc.base.errors import KlocError, UsageError
from kloc.commands import compare, measuring, output
from kloc.measure.runner import Incomplete, Interrupted
from kloc.results import document
from support import made_up
from support.command import run

RESULT = made_up.document(made_up.run("tpp", 50.0))


@pytest.fixture(autouse=True)
def wide_console(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "100")
    terminal.stdout.cache_clear()


@pytest.fixture
def reports(monkeypatch: pytest.MonkeyPatch) -> list[tuple[Path, Any]]:
    """The reports and pictures that would have been written, with what they are of."""
    written: list[tuple[Path, Any]] = []
    report = SimpleNamespace(write=lambda path, content: written.append((path, content)))
    for module in output.DRAWN.values():
        monkeypatch.setitem(sys.modules, module, report)
    return written


@pytest.fixture
def measured(monkeypatch: pytest.MonkeyPatch, empty_cache: Path, reports: list[Any]) -> None:
    """Runs have the result RESULT, without any machine; reports are not drawn."""
    monkeypatch.setattr(compare, "prepare", lambda *_: {})
    monkeypatch.setattr(compare, "_unsupported", lambda *_: {})
    monkeypatch.setattr(measuring, "measure", lambda *_: RESULT["runs"])
    monkeypatch.setattr(document, "assemble", lambda *_: copy.deepcopy(RESULT))


def write(path: Path, content: object) -> str:
    path.write_text(json.dumps(content))
    return str(path)


def test_dry_run_lists_the_runs(capsys: pytest.CaptureFixture[str]) -> None:
    assert run("compare", "redis", "--policies", " tpp, stock,tpp", "--dry-run") == 0
    *runs, total = capsys.readouterr().out.splitlines()
    assert runs == [
        "redis under tpp, seed 1, machine tiered",
        "redis under stock, seed 1, machine tiered",
    ]
    assert total.startswith("2 runs, ")
    assert total.endswith(" at once; regions of 0.5 s, 100 % of the data")


def test_dry_run_says_how_short_quick_runs_are(capsys: pytest.CaptureFixture[str]) -> None:
    run("compare", "redis", "--policies", "tpp", "--quick", "--dry-run")
    assert "; regions of 0.125 s, 25 % of the data" in capsys.readouterr().out


def test_one_run_is_singular(capsys: pytest.CaptureFixture[str]) -> None:
    run("compare", "redis", "--policies", "tpp", "--dry-run")
    assert capsys.readouterr().out.splitlines()[-1] == (
        "1 run, 1 at once; regions of 0.5 s, 100 % of the data"
    )


def test_every_seed_is_run(capsys: pytest.CaptureFixture[str]) -> None:
    run("compare", "redis", "--policies", "tpp", "--seeds", "3", "--dry-run")
    lines = capsys.readouterr().out.splitlines()[:-1]
    assert [line.split("seed ")[1].split(",")[0] for line in lines] == ["1", "2", "3"]


@pytest.mark.parametrize(
    ("option", "seeds"),
    [
        ("--seeds=4-6", ["4", "5", "6"]),
        ("--seeds=1,3,7", ["1", "3", "7"]),
        ("--seed=5", ["5"]),
        ("--seed=0", ["0"]),
    ],
)
def test_chosen_seeds_are_run(
    option: str, seeds: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    run("compare", "redis", "--policies", "tpp", option, "--dry-run")
    lines = capsys.readouterr().out.splitlines()[:-1]
    assert [line.split("seed ")[1].split(",")[0] for line in lines] == seeds


def test_one_seed_and_several_are_not_both_given(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as refused:
        run("compare", "redis", "--seed", "5", "--seeds", "3")
    assert refused.value.code == 2
    assert "--seed" in capsys.readouterr().err


def test_cold_runs_are_listed_as_such(capsys: pytest.CaptureFixture[str]) -> None:
    run("compare", "redis", "--policies", "tpp", "--cold", "--dry-run")
    assert capsys.readouterr().out.splitlines()[0].endswith(", machine tiered, cold")


def test_every_combination_is_a_variant_with_its_own_bounds(
    capsys: pytest.CaptureFixture[str],
) -> None:
    machine = ["--fast", "1/2,1,0.5", "--slow-bandwidth", "1/8,1/4"]
    run("compare", "redis", *machine, "--policies", "oracle,tpp", "--dry-run")
    lines = capsys.readouterr().out.splitlines()
    for variant in ("", ", fast x 1/2", ", slow bandwidth 1/4", ", fast x 1/2, slow bandwidth 1/4"):
        for name in ("tpp", "all-slow"):
            assert f"redis under {name}, seed 1, machine tiered{variant}" in lines
        assert f"redis under oracle, seed 1, machine tiered{variant}, after all-slow" in lines
    assert lines[-1].startswith("12 runs")


@pytest.mark.parametrize(
    ("argv", "words"),
    [
        (("a.json", "redis"), "cannot be mixed"),
        (("a.json", "--quick", "--seeds", "3"), "--seeds, --quick: "),
        (("a.json", "--policies", "tpp"), "--policies: "),
        (("a.json", "--machine", "cxl"), "--machine: "),
        (("a.json", "--cold"), "--cold: "),
        (("a.json", "--slow-bandwidth", "1/4"), "--slow-bandwidth: "),
    ],
)
def test_workloads_and_their_options_do_not_go_with_result_files(
    argv: tuple[str, ...], words: str
) -> None:
    with pytest.raises(UsageError, match=words):
        run("compare", *argv)


def test_impossible_machine_is_refused() -> None:
    with pytest.raises(KlocError, match="96 MiB"):
        run("compare", "redis", "--fast", "1/4")


def test_unwritable_file_is_refused_before_anything_runs(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(compare, "prepare", lambda _: pytest.fail("prepared"))
    with pytest.raises(KlocError, match=r"--json .*missing does not exist"):
        run("compare", "redis", "--json", f"{tmp_path}/missing/out")


def test_results_are_printed_and_written(
    measured: None, reports: list[Any], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    files = ["--json", f"{tmp_path}/j", "--report", f"{tmp_path}/r"]
    assert run("compare", "redis", "--policies", "tpp", *files) == 0
    assert "tpp" in capsys.readouterr().out
    assert json.loads((tmp_path / "j").read_text()) == RESULT
    assert reports == [(tmp_path / "r", RESULT)]


def test_policies_that_another_kernel_lacks_are_left_out_with_a_note(
    measured: None, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    ran: list[str] = []

    def measure(_: object, policies: list[Any], *__: object) -> list[Any]:
        ran.extend(one.name for one in policies)
        return list(RESULT["runs"])

    monkeypatch.setattr(compare, "_unsupported", lambda *_: {"kloc": "the kernel has no x"})
    monkeypatch.setattr(measuring, "measure", measure)
    options = ["--kernel", "linux-image-amd64", "--policies", "tpp,kloc"]
    assert run("compare", "redis", *options, f"--json={tmp_path}/j") == 0
    assert ran == ["tpp"]
    noted = json.loads((tmp_path / "j").read_text())["runs"]
    assert [one["notes"][-1] for one in noted] == ["policies left out: kloc (the kernel has no x)"]


def test_json_is_alone_on_stdout(measured: None, capsys: pytest.CaptureFixture[str]) -> None:
    run("compare", "redis", "--policies", "tpp", "--json", "-")
    assert json.loads(capsys.readouterr().out) == RESULT


@pytest.mark.parametrize("end", [Incomplete, Interrupted])
def test_finished_runs_are_delivered_if_others_failed_or_were_interrupted(
    end: type[Incomplete] | type[Interrupted],
    measured: None,
    monkeypatch: pytest.MonkeyPatch,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:
    def stop(*_: object) -> None:
        if end is Interrupted:
            raise Interrupted(RESULT["runs"])
        raise Incomplete({"redis under stock": KlocError("it crashed")}, RESULT["runs"])

    monkeypatch.setattr(measuring, "measure", stop)
    with pytest.raises(end):
        run("compare", "redis", "--policies=tpp", f"--json={tmp_path}/j")
    assert "tpp" in capsys.readouterr().out
    assert json.loads((tmp_path / "j").read_text()) == RESULT


def test_result_file_is_shown_and_reported(
    reports: list[Any], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = write(tmp_path / "result.json", RESULT)
    assert run("compare", path, "--report", f"{tmp_path}/r.html") == 0
    assert reports == [(tmp_path / "r.html", RESULT)]
    printed = capsys.readouterr().out
    assert "tpp" in printed
    assert "same machine" not in printed
    assert run("compare", path, path) == 0
    assert "same machine, same versions" in capsys.readouterr().out


@pytest.mark.parametrize("policies", [["tpp"], ["all-slow"], ["all-slow", "tpp", "all-fast"]])
def test_result_without_throughput_is_shown_and_reported(
    policies: list[str], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    runs = [
        {**one, "throughput": 0, "operations": 0} if one["policy"] in policies else one
        for one in made_up.comparison()
    ]
    path = write(tmp_path / "result.json", made_up.document(*runs))
    assert run("compare", path, "--details", "--report", f"{tmp_path}/r.html") == 0
    assert (tmp_path / "r.html").exists()
    assert " 0" in capsys.readouterr().out


def test_comparable_files_are_one_table_and_one_document(
    reports: list[Any], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    paths = [
        write(tmp_path / f"{name}.json", made_up.document(made_up.run(name, rate)))
        for name, rate in (("all-slow", 40.0), ("tpp", 50.0), ("all-fast", 100.0))
    ]
    assert run("compare", *paths, "--report", f"{tmp_path}/r.html") == 0
    printed = capsys.readouterr().out
    (row,) = [line for line in printed.splitlines() if line.strip().startswith("tpp")]
    assert row.split() == ["tpp", "50", "1.25", "50", "%"]
    names = ["all-slow", "tpp", "all-fast"]
    assert [run["policy"] for run in reports[0][1]["runs"]] == names
    assert run("compare", *paths, "--json") == 0
    assert [run["policy"] for run in json.loads(capsys.readouterr().out)["runs"]] == names


def three_policies(tmp_path: Path) -> str:
    """Write a result file of three policies and three seeds, and return its path."""
    runs = [
        made_up.run(policy, speed + seed, seed=seed)
        for policy, speed in (("stock", 80.0), ("tpp", 100.0), ("kloc", 120.0))
        for seed in (1, 2, 3)
    ]
    return write(tmp_path / "three.json", made_up.document(*runs))


def test_ratios_to_the_baseline_are_printed_below_the_table_and_written(
    reports: list[Any], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = three_policies(tmp_path)
    again = str(tmp_path / "again.json")
    assert run("compare", path, "--json", again, "--report", f"{tmp_path}/r.html") == 0
    printed = capsys.readouterr().out
    assert "kloc against tpp, seed by seed:\n  redis  1.20 (1.19 to 1.20)  ahead\n" in printed
    assert "stock against tpp, seed by seed:\n  redis  0.80 (0.80 to 0.81)  behind\n" in printed
    written = json.loads(Path(again).read_text())
    assert written == reports[0][1]
    verdicts = [(one["policy"], one["verdict"]) for one in written["against"]["comparisons"]]
    assert verdicts == [("stock", "behind"), ("kloc", "ahead")]
    run("compare", again)
    assert capsys.readouterr().out.split("\n", 1)[1] == printed.split("\n", 1)[1]


def test_against_chooses_the_baseline_and_the_file_keeps_it(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path, again = three_policies(tmp_path), str(tmp_path / "again.json")
    run("compare", path, "--against", "stock", "--json", again)
    assert "kloc against stock, seed by seed:" in capsys.readouterr().out
    run("compare", again)
    printed = capsys.readouterr().out
    assert "tpp against stock, seed by seed:" in printed
    assert "against tpp" not in printed


def test_baseline_that_is_not_compared_is_refused(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(compare, "prepare", lambda _: pytest.fail("prepared"))
    with pytest.raises(UsageError, match="--against oracle: ") as refused:
        run("compare", "redis", "--policies", "tpp,kloc", "--against", "oracle")
    assert refused.value.hint == "add it to --policies, or name one of tpp, kloc"
    with pytest.raises(UsageError, match="--against nimble: "):
        run("compare", three_policies(tmp_path), "--against", "nimble")


def test_details_are_printed_only_if_asked_for(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    runs = [{**one, "kloc": "0123456789ab"} for one in RESULT["runs"]]
    path = write(tmp_path / "result.json", {**RESULT, "runs": runs})
    run("compare", path)
    printed = capsys.readouterr().out
    assert "to settle" not in printed and "commit of kloc" not in printed
    run("compare", path, "--details")
    printed = capsys.readouterr().out
    assert "to settle" in printed and "commit of kloc: 0123456789ab\n" in printed


def test_other_work_of_the_application_is_noted_below_the_table(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    runs = [made_up.run("tpp", 100), made_up.run("kloc", 110)]
    runs[1]["instructions"] = {"user": 7_000_000, "kernel": 1}
    run("compare", write(tmp_path / "result.json", made_up.document(*runs)))
    printed = " ".join(capsys.readouterr().out.split())
    assert "redis did different work under kloc (17 % more instructions" in printed
    run("compare", str(tmp_path / "result.json"), "--against", "kloc")
    assert "under tpp (14 % fewer instructions" in " ".join(capsys.readouterr().out.split())


def test_what_contexts_moved_is_a_line_below_the_table(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    moved = {"promoted": {"hint_fault": 60}, "demoted": {"context": 34, "lru": 6}}
    contexts = {"changed": {}, "end": {"knodes": 9}}
    kloc = made_up.run("kloc", 50.0, moved_by=moved, tiering=contexts)
    path = write(tmp_path / "result.json", made_up.document(kloc))
    run("compare", path)
    printed = capsys.readouterr().out
    assert "\nredis/kloc: contexts moved 34 % of the 100 pages that were moved\n" in printed
    assert "who moved the pages" not in printed
    run("compare", path, "--details")
    assert "who moved the pages" in capsys.readouterr().out


def test_files_that_differ_are_shown_separately_with_their_differences(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    one = write(tmp_path / "one.json", RESULT)
    other = write(tmp_path / "other.json", {**RESULT, "versions": {"qemu": "11"}})
    same = write(tmp_path / "same.json", RESULT)
    assert run("compare", one, other, same) == 0
    lines = capsys.readouterr().out.splitlines()
    at = lines.index(f"{one} and {other} differ in:")
    assert any("versions.qemu: 10 " in line and "11" in line for line in lines[at:])
    assert f"{one} and {same}: same machine, same versions" in lines
    with pytest.raises(KlocError, match="not comparable"):
        run("compare", one, other, "--json", f"{tmp_path}/joined.json")


def test_inputs_are_one_line_below_the_table_and_named_where_they_differ(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    def result(kernel: str) -> str:
        run = made_up.run("tpp", 50.0, inputs={"kernel": kernel})
        return write(tmp_path / f"{kernel}.json", made_up.document(run))

    one, other = result("71c8aa0311223344"), result("9ab0c1d2e3f40000")
    assert run("compare", one, one) == 0
    printed = capsys.readouterr().out
    assert len(re.findall("^inputs [0-9a-f]{16}$", printed, re.M)) == 2
    assert "same machine, same versions, same inputs" in printed
    assert run("compare", one, other) == 0
    printed = capsys.readouterr().out
    assert len(set(re.findall("^inputs .*$", printed, re.M))) == 2
    assert "  inputs of redis/*: kernel 71c8aa03… vs. 9ab0c1d2…" in printed.splitlines()


def test_result_of_objects_can_only_be_reported(reports: list[Any], tmp_path: Path) -> None:
    content = made_up.object_document()
    path = write(tmp_path / "objects.json", content)
    with pytest.raises(KlocError, match="kloc objects"):
        run("compare", path)
    assert run("compare", path, f"--report={tmp_path}/r.html") == 0
    assert reports == [(tmp_path / "r.html", content)]


def test_without_report_it_and_the_results_are_kept_in_the_cache_directory(
    measured: None,
    reports: list[Any],
    empty_cache: Path,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:
    page, kept = empty_cache / "last/compare.html", empty_cache / "last/compare.json"
    assert run("compare", "redis", "--policies", "tpp") == 0
    assert reports == [(page, RESULT)]
    assert json.loads(kept.read_text()) == RESULT
    printed = capsys.readouterr()
    assert printed.err.endswith(f"report: {page.as_uri()}\n")
    assert "file://" not in printed.out
    # The next ones replace them, without a message about what the user has not named.
    kept.write_text("old")
    assert run("compare", "redis", "--policies", "tpp", f"--report={tmp_path}/r.html") == 0
    assert reports[1:] == [(tmp_path / "r.html", RESULT)]
    assert json.loads(kept.read_text()) == RESULT
    assert "existed" not in capsys.readouterr().err


def test_what_the_user_names_or_a_program_reads_is_not_kept_as_well(
    measured: None,
    reports: list[Any],
    empty_cache: Path,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert run("compare", "redis", "--policies", "tpp", "--json") == 0
    assert not reports
    assert not list(empty_cache.iterdir())
    assert "file://" not in capsys.readouterr().err
    assert run("compare", "redis", "--policies", "tpp", f"--json={tmp_path}/j") == 0
    assert not (empty_cache / "last/compare.json").exists()
    path = write(tmp_path / "result.json", RESULT)
    del reports[:]
    assert run("compare", path) == 0
    assert not reports


def test_a_cache_directory_that_cannot_be_written_keeps_nothing(
    measured: None, reports: list[Any], empty_cache: Path
) -> None:
    (empty_cache / "last").touch()
    assert run("compare", "redis", "--policies", "tpp") == 0
    assert not reports


def test_after_an_interrupt_only_the_report_is_drawn_that_was_asked_for(
    measured: None,
    reports: list[Any],
    monkeypatch: pytest.MonkeyPatch,
    empty_cache: Path,
    tmp_path: Path,
) -> None:
    def stop(*_: object) -> None:
        raise Interrupted(RESULT["runs"])

    monkeypatch.setattr(measuring, "measure", stop)
    with pytest.raises(Interrupted):
        run("compare", "redis", "--policies=tpp")
    assert not reports
    assert json.loads((empty_cache / "last/compare.json").read_text()) == RESULT
    with pytest.raises(Interrupted):
        run("compare", "redis", "--policies=tpp", f"--report={tmp_path}/r.html")
    assert [path for path, _ in reports] == [tmp_path / "r.html"]


def test_picture_of_a_result_file_is_drawn_and_linked(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    picture = tmp_path / "compare.svg"
    assert run("compare", three_policies(tmp_path), f"--picture={picture}") == 0
    assert "kloc is fastest on redis" in picture.read_text()
    assert capsys.readouterr().err.endswith(f"picture: {picture.as_uri()}\n")


def test_picture_is_refused_with_another_suffix(tmp_path: Path) -> None:
    with pytest.raises(
        KlocError, match=r"--picture .*compare.png: a picture is an .svg"
    ) as refused:
        run("compare", "redis", "--picture", f"{tmp_path}/compare.png")
    assert refused.value.hint == "name the file with this suffix: compare.svg"


def test_objects_have_no_picture(tmp_path: Path) -> None:
    path = write(tmp_path / "objects.json", made_up.object_document())
    files = (f"--report={tmp_path}/r.html", f"--picture={tmp_path}/p.svg")
    with pytest.raises(KlocError, match="no runs to compare"):
        run("compare", path, *files)


@pytest.mark.parametrize("option", ["--json", "--report"])
def test_output_does_not_replace_the_result_file(option: str, tmp_path: Path) -> None:
    path = write(tmp_path / "result.json", RESULT)
    with pytest.raises(KlocError, match=f"{option} .* would replace the result file"):
        run("compare", path, f"{option}={path}")
    assert json.loads(Path(path).read_text()) == RESULT
