# SPDX-License-Identifier: GPL-2.0
"""Completion, as bash does it."""

import os
import shutil
import subprocess

import pytest

from kloc.base import cache
from kloc.base.paths import PROJECT
from kloc.machine import profile
from kloc.measure import policy, workload
from support.command import run

ASK = """
eval "$("$1" completion bash)"
COMP_LINE="kloc $2" COMP_POINT=$((${#2} + 5)) COMP_TYPE=9
read -ra COMP_WORDS <<< "$COMP_LINE"
case $2 in *" ") COMP_WORDS+=("") ;; esac
COMP_CWORD=$((${#COMP_WORDS[@]} - 1))
# "complete -o default -F FUNCTION kloc"
function=$(complete -p kloc | sed 's/.*-F \\([^ ]*\\).*/\\1/')
$function "$1" "${COMP_WORDS[$COMP_CWORD]}" "${COMP_WORDS[$COMP_CWORD - 1]}"
printf '%s\\n' "${COMPREPLY[@]}"
"""


def completed(line: str) -> set[str]:
    done = subprocess.run(
        [shutil.which("bash") or pytest.fail("no bash"), "-c", ASK, "-", PROJECT / "kloc", line],
        env={**os.environ, "KLOC_CACHE": str(cache.directory())},
        capture_output=True,
        text=True,
        check=True,
    )
    return {word.strip() for word in done.stdout.splitlines()}


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("comp", {"compare", "completion"}),
        # An older name that is not shown.
        ("enab", {""}),
        ("top --sort sl", {"slow"}),
        ("run rocks", {name for name in workload.names() if name.startswith("rocks")}),
        ("compare redis rocks", {name for name in workload.names() if name.startswith("rocks")}),
        ("run redis --policy t", {name for name in policy.names() if name.startswith("t")}),
        ("run redis --machine c", {name for name in profile.names() if name.startswith("c")}),
        ("compare redis --policies stock,tp", {"stock,tpp"}),
        ("compare --col", {"--cold"}),
        ("run --col", {"--cold"}),
        ("doctor --pru", {"--prune"}),
        ("doctor --prune all", {"all-unused"}),
        ("machines ti", {"tiered"}),
        ("scheme check prcl et", {"ethp"}),
        ("size redi", {name for name in workload.names() if name.startswith("redi")}),
        ("size redis --policies stock,tp", {"stock,tpp"}),
        ("policy thermostat-k", {"thermostat-kloc"}),
        ("on --policy all-f", {""}),
        ("cold --cg", {"--cgroup"}),
    ],
)
def test_bash_completes(line: str, expected: set[str]) -> None:
    assert completed(line) == expected


@pytest.mark.parametrize(("version", "begin"), [("2.0.0", "autoload"), ("3.6.2", "#compdef")])
def test_zsh_gets_the_code_that_it_understands(
    version: str, begin: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr("importlib.metadata.version", lambda _: version)
    assert run("completion", "zsh") == 0
    assert capsys.readouterr().out.startswith(begin)
