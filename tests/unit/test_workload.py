# SPDX-License-Identifier: GPL-2.0
"""kloc.workload, from which workload files outside this project import."""

from __future__ import annotations

import kloc.workload
from kloc.measure import workload


def test_earlier_module_has_the_public_names_of_the_present_one() -> None:
    for name in kloc.workload.__all__:
        assert getattr(kloc.workload, name) is getattr(workload, name)
    public = {
        name
        for name, value in vars(workload).items()
        if getattr(value, "__module__", None) == workload.__name__ and not name.startswith("_")
    }
    # A test of kloc needs these; a workload file does not.
    assert public - set(kloc.workload.__all__) == {"registry"}


def test_a_workload_file_with_the_earlier_import_works() -> None:
    space: dict[str, object] = {}
    exec("from kloc.workload import Outcome, Size, Workload, WorkloadFailed, percentiles", space)
    assert space["Workload"] is workload.Workload
