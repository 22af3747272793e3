# SPDX-License-Identifier: GPL-2.0
"""The timing model's own tests."""

from pathlib import Path

from kloc.build import plugin


def test_the_model_s_own_tests_pass(tmp_path: Path) -> None:
    plugin.run_make(tmp_path, "check")


def test_the_model_is_a_plugin(model: Path) -> None:
    assert b"qemu_plugin_install" in model.read_bytes()
