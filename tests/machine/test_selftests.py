# SPDX-License-Identifier: GPL-2.0
"""The kernel's own selftests, tools/testing/selftests/{kloc,tiering}, in the machine."""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import cache
from pathlib import Path

import pytest

from kloc.build import programs
from kloc.build.kernel_source import KERNEL
from kloc.machine import launcher, profile
from kloc.machine.job import Job
from kloc.machine.parts import prepare_parts
from kloc.measure import policy

pytestmark = pytest.mark.machine

SELFTESTS = KERNEL / "files/tools/testing/selftests"
DIRECTORIES = [SELFTESTS / "kloc", SELFTESTS / "tiering"]
SCRIPTS = [
    f"{directory.name}/{path.name}"
    for directory in DIRECTORIES
    for path in sorted(directory.glob("[!_]*.sh"))
]

SKIPPED = 4
"""The exit status of a selftest that this kernel or machine cannot run."""

RUN = """
cd {directory}
export TMPDIR=/data PATH=$PATH:{path}
for name in {names}; do
    echo "== $name"
    status=0
    timeout 120 sh ./$name 2>&1 </dev/null || status=$?
    echo "== exit $status"
done
"""

Printed = dict[str, tuple[str, int]]
"""The output and the exit status of selftests, by their names."""


def boot(directory: Path, names: list[str]) -> Printed:
    """Run selftests of a directory, one after another, in one boot of the machine."""
    helpers = [programs.build(source) for source in sorted(directory.glob("*.c"))]
    path = ":".join(["/bin", *(str(helper.parent) for helper in helpers)])
    script = RUN.format(directory=directory, path=path, names=" ".join(names))
    host = profile.load(profile.DEFAULT)
    # Without the timing model: two CPUs run at the same time, which races need.
    job = Job(
        "selftests",
        host,
        {"measured": script},
        policy.load("kloc").settings("", host),
        copies=(*DIRECTORIES, *helpers),
        modelled=False,
    )
    output = launcher.run(job, prepare_parts(())).frames["measured"]
    found = re.findall(r"^== (\S+\.sh)\n(.*?)^== exit (\d+)$", output, re.M | re.S)
    return {name: (text, int(status)) for name, text, status in found}


@pytest.fixture(scope="module")
def printed(request: pytest.FixtureRequest) -> Callable[[str], Printed]:
    """A function that runs the chosen selftests of a directory, once, and returns their output."""
    specs = [getattr(item, "callspec", None) for item in request.session.items]
    chosen = {str(spec.params.get("script")) for spec in specs if spec}

    @cache
    def run(directory: str) -> Printed:
        scripts = [script for script in SCRIPTS if script in chosen]
        names = [Path(script).name for script in scripts if Path(script).parent.name == directory]
        return boot(SELFTESTS / directory, names)

    return run


# Scripts that fail for what is known to be wrong in the kernel.
KNOWN = {"kloc/other_cpus.sh": "fewer than 32 folios that another CPU holds back stay there"}

MARKED = [
    pytest.param(script, marks=pytest.mark.xfail(reason=KNOWN[script]))
    if script in KNOWN
    else script
    for script in SCRIPTS
]


@pytest.mark.parametrize("script", MARKED)
def test_selftest_passes(printed: Callable[[str], Printed], script: str) -> None:
    directory, name = script.split("/")
    text, status = printed(directory)[name]
    if status == SKIPPED:
        pytest.skip(text)
    assert status == 0, text
    planned = re.search(r"^1\.\.(\d+)$", text, re.M)
    assert planned, text
    assert len(re.findall(r"^ok \d+ ", text, re.M)) == int(planned[1]), text
    assert re.search(r"^ok \d+ control: ", text, re.M), "no negative control"


@pytest.mark.parametrize("directory", DIRECTORIES, ids=lambda directory: directory.name)
def test_each_program_is_listed_in_the_makefile(directory: Path) -> None:
    makefile = (directory / "Makefile").read_text()
    programs_of = {source.stem for source in directory.glob("*.c")}
    built = re.search(r"^TEST_GEN_FILES \+= (.*)$", makefile, re.M)
    assert (set(built[1].split()) if built else set()) == programs_of
    if programs_of:
        assert set((directory / ".gitignore").read_text().splitlines()[1:]) == programs_of
