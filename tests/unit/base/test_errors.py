from kloc.base.errors import unknown

# SPDX-License-Identifier: GPL-2.0


def test_a_near_name_is_proposed() -> None:
    error = unknown("policy", "tpq", ["naive", "tpp", "stock"])
    assert error.message == "unknown policy 'tpq', did you mean 'tpp'?"
    assert error.hint == "there are: naive, stock, tpp"


def test_nothing_near() -> None:
    assert unknown("policy", "zzz", ["naive"]).message == "unknown policy 'zzz'"
