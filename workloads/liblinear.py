# SPDX-License-Identifier: GPL-2.0
"""liblinear: training a linear classifier. Memory-bound, and almost none of it the kernel's.

The control: what places the kernel's memory has nothing to win here, and should
lose nothing. The data set (workloads/src/sparse.c) is like a bag of words:
200,000 rows of about 113 features of a million, drawn by Zipf's law. Each
iteration goes over all rows in random order, and looks the weight of each
feature up; some weights are hot, no row is.

The text is read before the measured region and the model is written after it:
training is what is measured.
liblinear draws its own order, the same each time; seeds vary addresses only.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping

from kloc.workload import Outcome, Size, Workload, WorkloadFailed

ROWS = 200_000
FEATURES = 1_000_000
PER_ROW = 120
# How strongly errors weigh, and when training is good enough. Both say how many
# iterations it takes: 7, and for a long run 60.
COST, TOLERANCE = 0.003, 0.1
LONG_COST, LONG_TOLERANCE = 0.3, 0.001
# In percent, of rows that it was trained with.
ACCURACY = 80.0
TESTED = 2_000
MODEL, DONE = "/run/kloc/model", "/run/kloc/done"
ITERATIONS = re.compile(r"^optimization finished, #iter = (\d+)$", re.M)
ACCURATE = re.compile(r"^Accuracy = ([\d.]+)% \(\d+/(\d+)\)$", re.M)


def _setup(size: Size, seed: int) -> str:
    return f"sparse {size.loaded(ROWS)} {FEATURES} {PER_ROW} >/data/rows\n"


def _start(size: Size, seed: int) -> str:
    """Start liblinear, and stop it once it has read its rows and closed their file."""
    long = size.measured > 1
    cost, tolerance = (LONG_COST, LONG_TOLERANCE) if long else (COST, TOLERANCE)
    return f"""
mkfifo {MODEL} {DONE}
{{
    liblinear-train -s 1 -c {cost} -e {tolerance} /data/rows {MODEL} >/run/kloc/train 2>&1 \\
        && echo trained >{DONE} || echo failed >{DONE}
}} &
until pid=$(pgrep -x liblinear-train) && [ "$(readlink /proc/$pid/fd/3)" = /data/rows ]; do
    sleep 0.01
done
while [ "$(readlink /proc/$pid/fd/3)" = /data/rows ]; do sleep 0.01; done
kill -STOP $pid
"""


def _measured(size: Size, seed: int) -> str:
    """Let it train until it opens its model for writing, which is a pipe's other end."""
    return f"""
kill -CONT $(pgrep -x liblinear-train)
exec 3<{MODEL}
cat <&3 >/data/model &
"""


def _check(size: Size, seed: int) -> str:
    return f"""
read result <{DONE}
cat /run/kloc/train
test "$result" = trained
while pgrep -x cat >/dev/null; do sleep 0.01; done
head -n {TESTED} /data/rows >/data/tested
liblinear-predict /data/tested /data/model /data/predicted
"""


def _outcome(printed: Mapping[str, str], size: Size) -> Outcome:
    """Count each row of each iteration."""
    iterations = ITERATIONS.search(printed["check"])
    if iterations is None:
        raise WorkloadFailed("liblinear: training did not finish")
    accuracy = ACCURATE.search(printed["check"])
    if accuracy is None or int(accuracy[2]) != min(TESTED, size.loaded(ROWS)):
        raise WorkloadFailed("liblinear: the model was not tested")
    if float(accuracy[1]) < ACCURACY:
        raise WorkloadFailed(f"liblinear: {accuracy[1]} % of rows are classified as they should be")
    return Outcome(int(iterations[1]) * size.loaded(ROWS), None)


def workloads() -> Iterable[Workload]:
    """Return liblinear."""
    yield Workload(
        name="liblinear",
        summary="liblinear trains a classifier on sparse data (the control: almost no kernel)",
        packages=("liblinear-tools",),
        programs=("sparse.c",),
        setup=_setup,
        start=_start,
        measured=_measured,
        check=_check,
        outcome=_outcome,
        instructions=46e9,
    )
