# SPDX-License-Identifier: GPL-2.0
"""The timing model: its unit tests, and the plugin that is built."""

from pathlib import Path

from kloc.build import plugin


def test_unit_tests_of_the_model_pass(tmp_path: Path) -> None:
    plugin.run_make(tmp_path, "check")


def test_model_is_a_qemu_plugin(model: Path) -> None:
    assert b"qemu_plugin_install" in model.read_bytes()
