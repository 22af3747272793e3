/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Policies of memory tiers: tests of the room of a batch.
 */
#ifndef _MM_TIERING_MIGRATE_KUNIT_H
#define _MM_TIERING_MIGRATE_KUNIT_H

#include <kunit/test.h>

/* Order of the larger folio of the tests, which has four pages. */
#define MIGRATE_TEST_ORDER	2

static struct folio *migrate_test_folio(struct kunit *test, unsigned int order)
{
	struct folio *folio = folio_alloc(GFP_KERNEL, order);

	KUNIT_ASSERT_NOT_NULL(test, folio);
	return folio;
}

/* A batch takes folios up to its room. An empty batch skips a folio that is too large. */
static void migrate_test_room(struct kunit *test)
{
	struct folio *small = migrate_test_folio(test, 0);
	struct folio *large = migrate_test_folio(test, MIGRATE_TEST_ORDER);
	struct tiering_batch b = { .room = 3 };

	KUNIT_EXPECT_FALSE(test, tiering_fits(&b, large));
	KUNIT_EXPECT_FALSE(test, b.closed);
	KUNIT_EXPECT_TRUE(test, tiering_fits(&b, small));
	b.pages = 1;
	KUNIT_EXPECT_FALSE(test, tiering_fits(&b, large));
	KUNIT_EXPECT_TRUE(test, b.closed);
	folio_put(large);
	folio_put(small);
}

/* A folio that may exceed the room is taken alone. */
static void migrate_test_may_exceed(struct kunit *test)
{
	struct folio *small = migrate_test_folio(test, 0);
	struct folio *large = migrate_test_folio(test, MIGRATE_TEST_ORDER);
	struct tiering_batch b = { .room = 3, .may_exceed = true };

	KUNIT_EXPECT_TRUE(test, tiering_fits(&b, large));
	b.pages = folio_nr_pages(large);
	KUNIT_EXPECT_TRUE(test, tiering_batch_full(&b));
	KUNIT_EXPECT_FALSE(test, tiering_fits(&b, small));

	/* After a folio within the room, the room holds. */
	b = (struct tiering_batch) { .room = 3, .may_exceed = true, .pages = 1 };
	KUNIT_EXPECT_FALSE(test, tiering_fits(&b, large));
	folio_put(large);
	folio_put(small);
}

static struct kunit_case migrate_test_cases[] = {
	KUNIT_CASE(migrate_test_room),
	KUNIT_CASE(migrate_test_may_exceed),
	{}
};

static struct kunit_suite migrate_test_suite = {
	.name = "tiering-migrate",
	.test_cases = migrate_test_cases,
};

kunit_test_suite(migrate_test_suite);

#endif /* _MM_TIERING_MIGRATE_KUNIT_H */
