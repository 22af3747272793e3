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

/* A demoted page has to stay. */
static void page_test_demotion_pays(struct kunit *test)
{
	union tiering_page page = {
		.reason = TIERING_DEMOTED_LIMIT + 1,
		.moved = 100,
		.uses = U8_MAX,
	};
	union tiering_page never = { .moved = 100 };

	KUNIT_EXPECT_TRUE(test, tiering_not_paid(page, 100));
	KUNIT_EXPECT_TRUE(test, tiering_not_paid(page, 100 + TIERING_SOON));
	KUNIT_EXPECT_FALSE(test, tiering_not_paid(page, 101 + TIERING_SOON));
	KUNIT_EXPECT_FALSE(test, tiering_not_paid(never, 100));
}

/* A promoted one has to be used, however long that takes. */
static void page_test_promotion_pays(struct kunit *test)
{
	union tiering_page page = {
		.reason = TIERING_PROMOTED_ACTIVE + 1,
		.uses = TIERING_USES_TO_PAY - 1,
	};

	KUNIT_EXPECT_TRUE(test, tiering_not_paid(page, 0));
	KUNIT_EXPECT_TRUE(test, tiering_not_paid(page, 60000));
	page.uses++;
	KUNIT_EXPECT_FALSE(test, tiering_not_paid(page, 0));
}

static struct kunit_case page_test_cases[] = {
	KUNIT_CASE(page_test_history_shifts),
	KUNIT_CASE(page_test_history_wraps),
	KUNIT_CASE(page_test_demotion_pays),
	KUNIT_CASE(page_test_promotion_pays),
	{}
};

static struct kunit_suite page_test_suite = {
	.name = "tiering-page",
	.test_cases = page_test_cases,
};

kunit_test_suite(page_test_suite);

#endif /* _MM_TIERING_PAGE_KUNIT_H */
