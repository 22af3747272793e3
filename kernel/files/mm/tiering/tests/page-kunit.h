/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Policies of memory tiers: tests of the records of pages.
 */
#ifndef _MM_TIERING_PAGE_KUNIT_H
#define _MM_TIERING_PAGE_KUNIT_H

#include <kunit/test.h>

static void page_test_history_shifts(struct kunit *test)
{
	union tiering_page page = { .use.history = 0x81, .scan = 100 };

	KUNIT_EXPECT_EQ(test, tiering_history(page, 100), 0x81);
	KUNIT_EXPECT_EQ(test, tiering_history(page, 101), 0x02);
	KUNIT_EXPECT_EQ(test, tiering_history(page, 107), 0x80);
	KUNIT_EXPECT_EQ(test, tiering_history(page, 108), 0);
	KUNIT_EXPECT_EQ(test, tiering_history(page, 60000), 0);
}

/* The number of the scan wraps around. */
static void page_test_history_wraps(struct kunit *test)
{
	union tiering_page page = { .use.history = 0x01, .scan = U16_MAX };

	KUNIT_EXPECT_EQ(test, tiering_history(page, 0), 0x02);
	KUNIT_EXPECT_EQ(test, tiering_history(page, 6), 0x80);
}

/* With hint faults, a scan of the page shifts its history, and a fault sets bit 0. */
static void page_test_scan_shifts(struct kunit *test)
{
	struct tiering_use use = { .history = 0x81 };

	tiering_use_scan(&use);
	KUNIT_EXPECT_EQ(test, use.history, 0x02);
	tiering_use_note(&use);
	KUNIT_EXPECT_EQ(test, use.history, 0x03);
	/* Two faults between two scans count once. */
	tiering_use_note(&use);
	KUNIT_EXPECT_EQ(test, use.history, 0x03);
}

/* A bit is forgotten after eight scans of the page, however long they take. */
static void page_test_scan_wraps(struct kunit *test)
{
	struct tiering_use use = { };
	int i;

	tiering_use_note(&use);
	for (i = 0; i < 7; i++)
		tiering_use_scan(&use);
	KUNIT_EXPECT_EQ(test, use.history, 0x80);
	tiering_use_scan(&use);
	KUNIT_EXPECT_EQ(test, use.history, 0);
}

static void page_test_level_counts_scans(struct kunit *test)
{
	struct tiering_use use = { };

	KUNIT_EXPECT_EQ(test, tiering_use_level(&use), 0);
	use.history = 0x81;
	KUNIT_EXPECT_EQ(test, tiering_use_level(&use), 2);
	use.history = 0xff;
	KUNIT_EXPECT_EQ(test, tiering_use_level(&use), 8);
}

/* The record of the page frame's last owner does not count. */
static void page_test_birth(struct kunit *test)
{
	union tiering_page hinted = tiering_page_birth(true, 100);
	union tiering_page sampled = tiering_page_birth(false, 100);

	KUNIT_EXPECT_EQ(test, hinted.use.history, 0xff);
	KUNIT_EXPECT_EQ(test, tiering_use_level(&hinted.use), 8);
	KUNIT_EXPECT_EQ(test, hinted.use.moves, 0);
	KUNIT_EXPECT_EQ(test, hinted.use.reason, 0);
	KUNIT_EXPECT_EQ(test, sampled.use.history, 0);
	KUNIT_EXPECT_EQ(test, sampled.scan, 100);
}

static void page_test_counts_saturate(struct kunit *test)
{
	struct tiering_use use = { .uses = U8_MAX, .moves = U8_MAX };

	tiering_use_note(&use);
	KUNIT_EXPECT_EQ(test, use.history, BIT(0));
	KUNIT_EXPECT_EQ(test, use.uses, U8_MAX);
	tiering_use_move(&use, TIERING_PROMOTED_USED + 1);
	KUNIT_EXPECT_EQ(test, use.moves, U8_MAX);
	KUNIT_EXPECT_EQ(test, use.uses, 0);
	/* A move does not count as a use. */
	KUNIT_EXPECT_EQ(test, use.history, BIT(0));
}

/* A demotion pays if the page stays for long enough. */
static void page_test_demotion_pays(struct kunit *test)
{
	struct tiering_use use = {
		.reason = TIERING_DEMOTED_LIMIT + 1,
		.uses = U8_MAX,
	};
	struct tiering_use never = { };

	KUNIT_EXPECT_FALSE(test, tiering_copy_has_paid(&use, 0));
	KUNIT_EXPECT_FALSE(test, tiering_copy_has_paid(&use, TIERING_SOON));
	KUNIT_EXPECT_TRUE(test, tiering_copy_has_paid(&use, TIERING_SOON + 1));
	KUNIT_EXPECT_TRUE(test, tiering_copy_has_paid(&never, 0));
}

/* A promotion pays once the page was used often enough, however long that takes. */
static void page_test_promotion_pays(struct kunit *test)
{
	struct tiering_use use = {
		.reason = TIERING_PROMOTED_ACTIVE + 1,
		.uses = TIERING_USES_TO_PAY - 1,
	};

	KUNIT_EXPECT_FALSE(test, tiering_copy_has_paid(&use, 0));
	KUNIT_EXPECT_FALSE(test, tiering_copy_has_paid(&use, 60000));
	tiering_use_note(&use);
	KUNIT_EXPECT_TRUE(test, tiering_copy_has_paid(&use, 0));
}

static unsigned long page_test_pfn(unsigned long section)
{
	return section_nr_to_pfn(section) + 5;
}

/* The table grows to both sides, over a gap between sections. */
static void page_test_sections(struct kunit *test)
{
	union tiering_page *records, *more;
	struct tiering_sections *one, *all;

	records = kunit_kcalloc(test, 6, sizeof(*records), GFP_KERNEL);
	more = kunit_kcalloc(test, 6, sizeof(*more), GFP_KERNEL);
	KUNIT_ASSERT_NOT_NULL(test, records);
	KUNIT_ASSERT_NOT_NULL(test, more);
	one = tiering_sections_make(10, 11, &tiering_no_sections);
	KUNIT_ASSERT_NOT_NULL(test, one);
	rcu_assign_pointer(one->records[0], records);
	all = tiering_sections_make(8, 14, one);
	KUNIT_ASSERT_NOT_NULL(test, all);
	rcu_assign_pointer(all->records[13 - 8], more);

	rcu_read_lock();
	KUNIT_EXPECT_PTR_EQ(test, tiering_record_at(one, page_test_pfn(10)), &records[5]);
	KUNIT_EXPECT_NULL(test, tiering_record_at(one, page_test_pfn(9)));
	KUNIT_EXPECT_NULL(test, tiering_record_at(one, page_test_pfn(11)));
	KUNIT_EXPECT_PTR_EQ(test, tiering_record_at(all, page_test_pfn(10)), &records[5]);
	KUNIT_EXPECT_PTR_EQ(test, tiering_record_at(all, page_test_pfn(13)), &more[5]);
	KUNIT_EXPECT_NULL(test, tiering_record_at(all, page_test_pfn(7)));
	KUNIT_EXPECT_NULL(test, tiering_record_at(all, page_test_pfn(8)));
	KUNIT_EXPECT_NULL(test, tiering_record_at(all, page_test_pfn(12)));
	KUNIT_EXPECT_NULL(test, tiering_record_at(all, page_test_pfn(14)));
	KUNIT_EXPECT_NULL(test, tiering_record_at(&tiering_no_sections, page_test_pfn(0)));
	rcu_read_unlock();
	kvfree(all);
	kvfree(one);
}

/* Spare records are empty when they are taken. */
static void page_test_spare_records(struct kunit *test)
{
	union tiering_page *records;
	LLIST_HEAD(spares);
	int i;

	for (i = 0; i < 2; i++) {
		records = tiering_records_alloc(false);
		KUNIT_ASSERT_NOT_NULL(test, records);
		__llist_add((struct llist_node *)records, &spares);
	}
	/* No spare is left: the third one is allocated. */
	for (i = 0; i < 3; i++) {
		records = tiering_records_take(&spares, false);
		KUNIT_ASSERT_NOT_NULL(test, records);
		KUNIT_EXPECT_EQ(test, records[0].word, 0);
		kvfree(records);
	}
	KUNIT_EXPECT_TRUE(test, llist_empty(&spares));
}

/*
 * With hint faults, pages from before the policy count as used, like new ones: the
 * least used pages are demoted first.
 */
static void page_test_spare_records_are_new(struct kunit *test)
{
	union tiering_page *records = tiering_records_alloc(true);
	LLIST_HEAD(spares);

	KUNIT_ASSERT_NOT_NULL(test, records);
	__llist_add((struct llist_node *)records, &spares);
	records = tiering_records_take(&spares, true);
	KUNIT_EXPECT_EQ(test, records[0].use.history, TIERING_BIRTH);
	KUNIT_EXPECT_EQ(test, records[1].use.history, TIERING_BIRTH);
	KUNIT_EXPECT_EQ(test, records[PAGES_PER_SECTION - 1].use.history, TIERING_BIRTH);
	KUNIT_EXPECT_EQ(test, records[0].use.uses, 0);
	kvfree(records);
}

static struct kunit_case page_test_cases[] = {
	KUNIT_CASE(page_test_sections),
	KUNIT_CASE(page_test_spare_records),
	KUNIT_CASE(page_test_spare_records_are_new),
	KUNIT_CASE(page_test_history_shifts),
	KUNIT_CASE(page_test_history_wraps),
	KUNIT_CASE(page_test_scan_shifts),
	KUNIT_CASE(page_test_scan_wraps),
	KUNIT_CASE(page_test_level_counts_scans),
	KUNIT_CASE(page_test_birth),
	KUNIT_CASE(page_test_counts_saturate),
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
