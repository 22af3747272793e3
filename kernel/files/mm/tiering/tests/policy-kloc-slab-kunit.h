/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The policy kloc: tests of the pauses of slab demotion.
 */
#ifndef _MM_TIERING_POLICY_KLOC_SLAB_KUNIT_H
#define _MM_TIERING_POLICY_KLOC_SLAB_KUNIT_H

#include <kunit/test.h>

/* End an interval with some demotions and promotions. Return: the rest of the pause. */
static unsigned int slab_test_count(struct policy_kloc_slab_moves *moves,
				    unsigned long demoted, unsigned long promoted)
{
	policy_kloc_slab_count(moves, moves->demoted + demoted,
			       moves->promoted + promoted);
	return moves->pause_left;
}

static void slab_test_pause_follows_returns(struct kunit *test)
{
	struct policy_kloc_slab_moves moves = { };

	KUNIT_EXPECT_EQ(test, slab_test_count(&moves, 8000, 1000), 0);
	KUNIT_EXPECT_EQ(test, slab_test_count(&moves, 8000, 1001), 1);
	KUNIT_EXPECT_EQ(test, slab_test_count(&moves, 0, 0), 0);
	/* A few pages are too few to decide. */
	KUNIT_EXPECT_EQ(test, slab_test_count(&moves, 0, TIERING_BATCH / 8), 0);
}

/* Each pause is twice as long as the one before, up to the longest. */
static void slab_test_pauses_double(struct kunit *test)
{
	struct policy_kloc_slab_moves moves = { };
	unsigned int pause;

	for (pause = 1; pause <= POLICY_KLOC_SLAB_PAUSE; pause *= 2)
		KUNIT_EXPECT_EQ(test, slab_test_count(&moves, 8000, 8000), pause);
	KUNIT_EXPECT_EQ(test, slab_test_count(&moves, 8000, 8000),
			POLICY_KLOC_SLAB_PAUSE);
}

/* Each interval without a pause halves the length of the next one. */
static void slab_test_pause_is_forgotten(struct kunit *test)
{
	struct policy_kloc_slab_moves moves = { .pause = 4, .pause_left = 1 };

	KUNIT_EXPECT_EQ(test, slab_test_count(&moves, 8000, 0), 0);
	KUNIT_EXPECT_EQ(test, moves.pause, 4);
	slab_test_count(&moves, 8000, 0);
	KUNIT_EXPECT_EQ(test, moves.pause, 2);
	slab_test_count(&moves, 8000, 0);
	slab_test_count(&moves, 8000, 0);
	KUNIT_EXPECT_EQ(test, moves.pause, 0);
	KUNIT_EXPECT_EQ(test, slab_test_count(&moves, 8000, 8000), 1);
}

static struct kunit_case slab_test_cases[] = {
	KUNIT_CASE(slab_test_pause_follows_returns),
	KUNIT_CASE(slab_test_pauses_double),
	KUNIT_CASE(slab_test_pause_is_forgotten),
	{}
};

static struct kunit_suite slab_test_suite = {
	.name = "tiering-kloc-slab",
	.test_cases = slab_test_cases,
};

kunit_test_suite(slab_test_suite);

#endif /* _MM_TIERING_POLICY_KLOC_SLAB_KUNIT_H */
