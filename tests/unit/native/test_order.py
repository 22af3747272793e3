# SPDX-License-Identifier: GPL-2.0
"""The order of policies in the rounds."""

from kloc.native import order

NAMES = ("stock", "tpp", "kloc")


def test_every_round_has_every_policy_once() -> None:
    rounds = order.rounds(NAMES, 20, seed=1)
    assert len(rounds) == 20
    assert all(sorted(names) == sorted(NAMES) for names in rounds)


def test_no_policy_always_has_the_same_place_or_follows_the_same_one() -> None:
    rounds = order.rounds(NAMES, 20, seed=1)
    for place in range(3):
        assert {names[place] for names in rounds} == set(NAMES)
    follows = {(one[at], one[at + 1]) for one in rounds for at in (0, 1)}
    assert len(follows) == 6


def test_the_order_is_the_seeds() -> None:
    assert order.rounds(NAMES, 5, 3) == order.rounds(NAMES, 5, 3) != order.rounds(NAMES, 5, 4)
