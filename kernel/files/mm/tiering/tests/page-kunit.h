/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Policies of memory tiers: tests of what is known of single pages.
 */
#ifndef _MM_TIERING_PAGE_KUNIT_H
#define _MM_TIERING_PAGE_KUNIT_H

#include <kunit/test.h>

static void page_test_history_shifts(struct kunit *test)
{
	union tiering_page page = { .history = 0x81, .scan = 100 };

	KUNIT_EXPECT_EQ(test, tiering_history(page, 100), 0x81);
	KUNIT_EXPECT_EQ(test, tiering_history(page, 101), 0x02);
	KUNIT_EXPECT_EQ(test, tiering_history(page, 107), 0x80);
	KUNIT_EXPECT_EQ(test, tiering_history(page, 108), 0);
	KUNIT_EXPECT_EQ(test, tiering_history(page, 60000), 0);
}

/* The number of the scan begins anew. */
static void page_test_history_wraps(struct kunit *test)
{
	union tiering_page page = { .history = 0x01, .scan = U16_MAX };

	KUNIT_EXPECT_EQ(test, tiering_history(page, 0), 0x02);
	KUNIT_EXPECT_EQ(test, tiering_history(page, 6), 0x80);
}

static void page_test_moved_soon(struct kunit *test)
{
	union tiering_page page = { .is_moved = true, .moved = 100 };
	union tiering_page never = { .moved = 100 };

	KUNIT_EXPECT_TRUE(test, tiering_moved_soon(page, 100));
	KUNIT_EXPECT_TRUE(test, tiering_moved_soon(page, 100 + TIERING_SOON));
	KUNIT_EXPECT_FALSE(test, tiering_moved_soon(page, 101 + TIERING_SOON));
	KUNIT_EXPECT_FALSE(test, tiering_moved_soon(never, 100));
}

static struct kunit_case page_test_cases[] = {
	KUNIT_CASE(page_test_history_shifts),
	KUNIT_CASE(page_test_history_wraps),
	KUNIT_CASE(page_test_moved_soon),
	{}
};

static struct kunit_suite page_test_suite = {
	.name = "tiering-page",
	.test_cases = page_test_cases,
};

kunit_test_suite(page_test_suite);

#endif /* _MM_TIERING_PAGE_KUNIT_H */
