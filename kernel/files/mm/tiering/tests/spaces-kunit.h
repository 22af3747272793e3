/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Policies of memory tiers: tests of how much of the time a program runs.
 */
#ifndef _MM_TIERING_SPACES_KUNIT_H
#define _MM_TIERING_SPACES_KUNIT_H

#include <kunit/test.h>

/* A program that keeps four processors busy, with pauses. */
static void spaces_test_pauses(struct kunit *test)
{
	struct tiering_space space = { };

	tiering_space_update(&space, 4 * TIERING_ALWAYS);
	KUNIT_EXPECT_EQ(test, space.share, TIERING_ALWAYS);
	tiering_space_update(&space, 0);
	KUNIT_EXPECT_EQ(test, space.share, 0);
	KUNIT_EXPECT_EQ(test, tiering_space_active(&space, 1000), 0);
	tiering_space_update(&space, 2 * TIERING_ALWAYS);
	KUNIT_EXPECT_GE(test, space.share, TIERING_ALWAYS / 2);
	KUNIT_EXPECT_LE(test, space.share, TIERING_ALWAYS / 2 + TIERING_ALWAYS / 64);
}

/* A program that uses little of one processor is idle most of the time. */
static void spaces_test_seldom(struct kunit *test)
{
	struct tiering_space space = { };

	tiering_space_update(&space, TIERING_ALWAYS / 8);
	KUNIT_EXPECT_EQ(test, space.share, TIERING_ALWAYS / 8);
	KUNIT_EXPECT_EQ(test, tiering_space_active(&space, 800), 100);
}

/* The busiest round is forgotten after a while. */
static void spaces_test_forgets(struct kunit *test)
{
	struct tiering_space space = { };
	unsigned int i;

	tiering_space_update(&space, 8 * TIERING_ALWAYS);
	for (i = 0; i < 4 * TIERING_SPACE_FORGET; i++)
		tiering_space_update(&space, 2 * TIERING_ALWAYS);
	KUNIT_EXPECT_EQ(test, space.share, TIERING_ALWAYS);
}

/* All regions of an address space share one, which ends with the last of them. */
static void spaces_test_regions(struct kunit *test)
{
	struct mm_struct *mm = &init_mm;
	struct tiering_space *one = tiering_space_get(mm), *other = tiering_space_get(mm);

	KUNIT_ASSERT_NOT_NULL(test, one);
	KUNIT_EXPECT_PTR_EQ(test, one, other);
	tiering_space_put(one);
	mutex_lock(&tiering_spaces_mutex);
	KUNIT_EXPECT_PTR_EQ(test, tiering_space_find(mm), one);
	mutex_unlock(&tiering_spaces_mutex);
	tiering_space_put(one);
	mutex_lock(&tiering_spaces_mutex);
	KUNIT_EXPECT_NULL(test, tiering_space_find(mm));
	mutex_unlock(&tiering_spaces_mutex);
}

static struct kunit_case spaces_test_cases[] = {
	KUNIT_CASE(spaces_test_pauses),
	KUNIT_CASE(spaces_test_seldom),
	KUNIT_CASE(spaces_test_forgets),
	KUNIT_CASE(spaces_test_regions),
	{}
};

static struct kunit_suite spaces_test_suite = {
	.name = "tiering-spaces",
	.test_cases = spaces_test_cases,
};

kunit_test_suite(spaces_test_suite);

#endif /* _MM_TIERING_SPACES_KUNIT_H */
