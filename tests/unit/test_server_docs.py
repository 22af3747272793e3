# SPDX-License-Identifier: GPL-2.0
"""What docs/server.md and packaging say of the kernel and of systemd."""

from __future__ import annotations

import configparser
import re
import shutil
import subprocess
from pathlib import Path

import pytest

from kloc import cli
from kloc.base import numa
from kloc.base.paths import PROJECT
from kloc.server import checks, config, control

DOCUMENT = (PROJECT / "docs" / "server.md").read_text()
PACKAGING = PROJECT / "packaging"
UNITS = ("kloc.service", "kloc-metrics.service")
TIERS = "kloc-tiers.service"
EVENTS = PROJECT / "kernel" / "files" / "include" / "trace" / "events"


def fields_of_events() -> dict[str, set[str]]:
    """Return the fields of each tracepoint, by its full name."""
    found = {}
    for path in EVENTS.glob("*.h"):
        text = path.read_text()
        (system,) = re.findall(r"#define TRACE_SYSTEM (\w+)", text)
        classes = {
            name: set(re.findall(r"__field\([^,]+, (\w+)\)", body))
            for name, body in re.findall(
                r"^(?:TRACE_EVENT|DECLARE_EVENT_CLASS)\((\w+),(.*?)^\);", text, re.M | re.S
            )
        }
        for of_class, name in re.findall(r"^DEFINE_EVENT\((\w+), (\w+)", text, re.M):
            classes[name] = classes[of_class]
        found |= {f"{system}:{name}": fields for name, fields in classes.items()}
    return found


def test_tracepoints_in_the_examples_have_the_fields() -> None:
    events = fields_of_events()
    programs = re.findall(r"tracepoint:(\w+:\w+) \{(.*?)\}", DOCUMENT)
    assert len(programs) == 3
    for event, body in programs:
        used = set(re.findall(r"args->(\w+)", body))
        assert used and used <= events[event], event
    assert set(re.findall(r"-e (\w+:\w+)", DOCUMENT)) <= set(events)


def test_the_tracepoint_names_the_reasons_of_moves() -> None:
    policy = (PROJECT / "kernel/files/mm/tiering/policy.h").read_text()
    (names,) = re.findall(r"^enum tiering_reason \{(.*?)\}", policy, re.M | re.S)
    reasons = re.findall(r"TIERING_(?:DEMOTED|PROMOTED)_(\w+)", names)
    named = re.findall(r"\{ (\d+), \"(\w+)\" \}", (EVENTS / "tiering.h").read_text())
    assert named == [(str(number), reason.lower()) for number, reason in enumerate(reasons)]


def test_every_finding_of_doctor_is_explained() -> None:
    code = Path(checks.__file__).read_text()
    made = set(re.findall(r'(?:Finding\(|what(?:, record, selected)? = )"([\w ]+)"', code))
    made |= set(re.findall(r'^ +"(memory devices)",$', code, re.M))
    section = DOCUMENT[DOCUMENT.index("## What can be wrong") :]
    explained = set(re.findall(r"^\| `([\w ]+)` \|", section, re.M))
    assert len(made) >= 9
    assert made - {"user"} == explained


def test_every_key_of_kloc_toml_is_explained() -> None:
    table = DOCUMENT[DOCUMENT.index("### kloc.toml") : DOCUMENT.index("### Choose a unit")]
    explained = set(re.findall(r"^\| `\[?([\w.]+)\]?` \|", table, re.M))
    example = (PACKAGING / "kloc.toml").read_text()
    keys = set(re.findall(r"^(?:# )?(\w+) = |^\[([\w.]+)\]", example, re.M))
    top = {"policy", "contexts", "chosen", "kinds"}
    assert {key or table for key, table in keys} - {"rate_mbps", "node0"} == explained
    assert top < explained


def unit(path: Path) -> configparser.RawConfigParser:
    """Return a unit; of keys that occur several times, the last value."""
    parser = configparser.RawConfigParser(strict=False)
    parser.optionxform = str  # type: ignore[assignment, method-assign]
    parser.read_string(path.read_text())
    return parser


@pytest.mark.parametrize("name", [*UNITS, "choose.conf"])
def test_command_lines_of_units_are_understood(name: str) -> None:
    lines = re.findall(r"^Exec\w+=[-+]*/usr/bin/kloc (.*)$", (PACKAGING / name).read_text(), re.M)
    assert lines
    for line in lines:
        assert cli.parse(line.split()).command


def test_the_service_restores_settings_after_a_failed_start_too() -> None:
    service = unit(PACKAGING / "kloc.service")["Service"]
    assert service["ExecStart"].endswith("kloc on")
    # systemd runs ExecStop only after a successful start, and ExecStopPost always.
    assert service["ExecStopPost"].endswith("kloc off")
    assert "ExecStop" not in service
    # The record has to survive a start that failed, and kloc scheme has one there, too.
    assert service["RuntimeDirectoryPreserve"] == "yes"
    for tunables in ("ProtectKernelTunables", "ProtectControlGroups"):
        assert tunables not in service


def test_a_start_that_is_stopped_is_no_failure_and_one_that_set_nothing_is() -> None:
    service = unit(PACKAGING / "kloc.service")["Service"]
    # cli.main returns 130 after SIGTERM.
    assert service["SuccessExitStatus"] == "130 SIGTERM"
    assert service["ExecStartPost"] == f"/usr/bin/test -e {control.RECORD}"


def test_the_exporter_listens_on_this_server_only() -> None:
    service = unit(PACKAGING / "kloc-metrics.service")["Service"]
    assert "--listen 127.0.0.1:" in service["ExecStart"]


def test_udev_starts_the_unit_for_every_tier_but_that_of_dram() -> None:
    rules = (PACKAGING / "kloc.rules").read_text()
    # The directory of numa.MEMORY_TIERS is that of the kernel's subsystem.
    assert f'SUBSYSTEM=="{Path(numa.MEMORY_TIERS).name}"' in rules
    dram = checks.DRAM_DISTANCE >> checks.TIER_SHIFT
    assert f'KERNEL=="memory_tier*", KERNEL!="memory_tier{dram}"' in rules
    assert re.findall(r'SYSTEMD_WANTS\}\+="(.*)"', rules) == [TIERS]


def test_a_new_tier_starts_only_a_service_that_is_enabled_and_has_failed() -> None:
    path = PACKAGING / TIERS
    conditions = re.findall(r"^ExecCondition=.* (is-\w+ .*)$", path.read_text(), re.M)
    assert conditions == ["is-enabled kloc.service", "is-failed kloc.service"]
    parsed = unit(path)
    assert parsed["Unit"]["After"] == "kloc.service"
    assert parsed["Service"]["ExecStart"].endswith("start kloc.service")
    assert "Install" not in parsed


def test_systemd_understands_the_units(tmp_path: Path) -> None:
    program = shutil.which("systemd-analyze")
    if program is None:
        pytest.skip("there is no systemd-analyze")
    for name in (*UNITS, TIERS):
        text = (PACKAGING / name).read_text().replace("/usr/bin/kloc", "/bin/true")
        (tmp_path / name).write_text(text)
    paths = [tmp_path / name for name in (*UNITS, TIERS)]
    argv = [program, "verify", "--man=no", *paths]
    done = subprocess.run(argv, capture_output=True, text=True)
    assert (done.returncode, done.stderr) == (0, "")


def test_the_default_file_is_the_one_of_the_docs() -> None:
    assert str(config.DEFAULT) in DOCUMENT
