# SPDX-License-Identifier: GPL-2.0
"""liblinear trains a linear classifier: memory-bound, with little kernel memory.

This is the control for policies that place kernel memory: they have nothing to
gain here, and should lose nothing.

- Load: write the data set (workloads/src/sparse.c), which is like a bag of words:
  200,000 rows of about 113 of a million features, drawn by Zipf's law.
- Start, not measured: start liblinear-train and stop it (SIGSTOP) as soon as it has
  read all rows and closed their file.
- Measured: training, from there until liblinear opens its model for writing. Each
  iteration visits all rows in random order and looks up the weight of each
  feature. Some weights are hot; no row is hotter than another.
- Operations: each row of each iteration counts as one. liblinear reports no
  latencies.
- Check: classify the first 2,000 rows with the model; at least 80 % must be right.

Limits

- There is no warm-up: the first iteration is measured.
- liblinear draws the same order of rows in each run. The seed changes memory
  addresses only.
- The check uses rows of the training set: it shows that training worked, not how
  well the model generalizes.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping

from kloc.measure.workload import REGION, Outcome, Size, Workload, WorkloadFailed

ROWS = 200_000
FEATURES = 1_000_000
PER_ROW = 120
# liblinear's -c (the weight of errors) and -e (the tolerance at which training
# ends). Together they set the number of iterations: 7, and 28 in a long run.
COST, TOLERANCE = 0.003, 0.1
LONG_COST, LONG_TOLERANCE = 0.03, 0.003
# The smallest accuracy that the check accepts, in percent of TESTED rows. These
# rows are part of the training set.
ACCURACY = 80.0
TESTED = 2_000
MODEL, DONE = "/run/kloc/model", "/run/kloc/done"
ITERATIONS = re.compile(r"^optimization finished, #iter = (\d+)$", re.M)
ACCURATE = re.compile(r"^Accuracy = ([\d.]+)% \(\d+/(\d+)\)$", re.M)


def _setup(size: Size, seed: int) -> str:
    return f"sparse {size.loaded(ROWS)} {FEATURES} {PER_ROW} >/data/rows\n"


def _start(size: Size, seed: int) -> str:
    """Return the script that starts liblinear and stops it when it has read its rows.

    It has read them when file descriptor 3, the file of rows, is closed again.
    """
    long = size.seconds > REGION
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
    """Return the script that continues liblinear and waits until training ends.

    The model is a FIFO: opening it for reading waits until liblinear opens it for writing.
    """
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
    """Return the rows of all iterations as operations.

    Raises WorkloadFailed if training did not finish or the model is worse than ACCURACY.
    """
    iterations = ITERATIONS.search(printed["check"])
    if iterations is None:
        raise WorkloadFailed("liblinear: training did not finish")
    accuracy = ACCURATE.search(printed["check"])
    if accuracy is None or int(accuracy[2]) != min(TESTED, size.loaded(ROWS)):
        raise WorkloadFailed(f"liblinear: the model was not tested on {TESTED:,} rows")
    if float(accuracy[1]) < ACCURACY:
        raise WorkloadFailed(
            f"liblinear: the model classifies only {accuracy[1]} % of rows correctly, "
            f"and must reach {ACCURACY:g} %"
        )
    return Outcome(int(iterations[1]) * size.loaded(ROWS), None)


def workloads() -> Iterable[Workload]:
    """Return liblinear."""
    yield Workload(
        name="liblinear",
        summary="liblinear trains a classifier on sparse data (control: little kernel memory)",
        packages=("liblinear-tools",),
        programs=("sparse.c",),
        setup=_setup,
        start=_start,
        measured=_measured,
        check=_check,
        repeatable=False,
        outcome=_outcome,
        instructions=46e9,
        not_native="",
    )
