/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Policies of memory tiers: tests of the histogram of waits.
 */
#ifndef _MM_TIERING_WAITS_KUNIT_H
#define _MM_TIERING_WAITS_KUNIT_H

#include <kunit/test.h>

/* Buckets follow one another, and each begins with its own shortest time. */
static void waits_test_bounds(struct kunit *test)
{
	unsigned int bucket;

	for (bucket = 0; bucket < TIERING_WAITS; bucket++) {
		u64 least = tiering_wait_least(bucket);

		KUNIT_EXPECT_EQ(test, tiering_wait_bucket(least), bucket);
		if (bucket)
			KUNIT_EXPECT_EQ(test, tiering_wait_bucket(least - 1), bucket - 1);
	}
}

static void waits_test_extremes(struct kunit *test)
{
	KUNIT_EXPECT_EQ(test, tiering_wait_bucket(0), 0);
	KUNIT_EXPECT_EQ(test, tiering_wait_bucket(U64_MAX), TIERING_WAITS - 1);
	KUNIT_EXPECT_EQ(test, tiering_wait_least(tiering_wait_bucket(1000)), 896);
	KUNIT_EXPECT_EQ(test, tiering_wait_least(tiering_wait_bucket(1024)), 1024);
}

static struct kunit_case waits_test_cases[] = {
	KUNIT_CASE(waits_test_bounds),
	KUNIT_CASE(waits_test_extremes),
	{}
};

static struct kunit_suite waits_test_suite = {
	.name = "tiering-waits",
	.test_cases = waits_test_cases,
};

kunit_test_suite(waits_test_suite);

#endif /* _MM_TIERING_WAITS_KUNIT_H */
