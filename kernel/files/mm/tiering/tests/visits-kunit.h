/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Policies of memory tiers: tests of the counts of visits.
 */
#ifndef _MM_TIERING_VISITS_KUNIT_H
#define _MM_TIERING_VISITS_KUNIT_H

#include <kunit/test.h>
#include <linux/mman.h>
#include <linux/uaccess.h>

/* Pages that the tests of mapped memory use. */
#define VISITS_TEST_PAGES	4

/* Close an entry for @ticks, then visit it. What follows does not count. */
static void visits_test_visit(struct tiering_watch *watch, u32 *now, u32 ticks)
{
	tiering_watch_closed(watch, *now, 0);
	tiering_watch_visit(watch, ticks);
	*now += ticks + 12345;
}

/* The rate is visits by the time that the entry was closed. */
static void visits_test_rate(struct kunit *test)
{
	struct tiering_watch watch = { };
	u32 now = U32_MAX - 100;	/* times may wrap */

	visits_test_visit(&watch, &now, 100);
	visits_test_visit(&watch, &now, 300);
	KUNIT_EXPECT_EQ(test, watch.visits, 2);
	KUNIT_EXPECT_EQ(test, watch.closed, 400);
	KUNIT_EXPECT_EQ(test, tiering_watch_rate(&watch), 2 * NSEC_PER_SEC / (400 * 1024));
}

static void visits_test_put(void *space)
{
	tiering_space_put(space);
}

/* A region of an address space that is always in use. */
static struct tiering_region *visits_test_region(struct kunit *test)
{
	struct tiering_region *region = kunit_kzalloc(test, sizeof(*region), GFP_KERNEL);

	KUNIT_ASSERT_NOT_NULL(test, region);
	spin_lock_init(&region->lock);
	region->stage = TIERING_PAGES;
	region->space = tiering_space_get(&init_mm);
	KUNIT_ASSERT_NOT_NULL(test, region->space);
	KUNIT_ASSERT_EQ(test, 0, kunit_add_action_or_reset(test, visits_test_put, region->space));
	return region;
}

/* What is visited in less than a unit of time is hot, and not unknown. */
static void visits_test_hottest(struct kunit *test)
{
	struct tiering_region *region = visits_test_region(test);
	u32 now = 1000;

	region->stage = TIERING_WHOLE;
	region->accessed = 1;
	region->watched = 1;
	visits_test_visit(&region->watches[0], &now, 0);
	visits_test_visit(&region->watches[0], &now, 0);
	KUNIT_EXPECT_TRUE(test, tiering_region_count(region));
	KUNIT_EXPECT_EQ(test, region->rate, NSEC_PER_SEC / 1024);
}

/* An entry that stays closed has a time and no visits. */
static void visits_test_unvisited(struct kunit *test)
{
	struct tiering_watch watch = { };

	tiering_watch_closed(&watch, 1000, 7);
	tiering_watch_closed(&watch, 1500, 500);
	tiering_watch_closed(&watch, 3000, 1500);
	KUNIT_EXPECT_EQ(test, watch.closed, 2000);
	KUNIT_EXPECT_EQ(test, tiering_watch_rate(&watch), 0);
}

/* The clocks of CPUs differ by a bit, and wrap. */
static void visits_test_since(struct kunit *test)
{
	struct tiering_watch watch = { .since = U32_MAX - 10 };

	KUNIT_EXPECT_EQ(test, tiering_watch_since(&watch, U32_MAX), 10 * 1024);
	KUNIT_EXPECT_EQ(test, tiering_watch_since(&watch, 5), 16 * 1024);
	KUNIT_EXPECT_EQ(test, tiering_watch_since(&watch, U32_MAX - 11), 0);
}

/* A fault of an entry that others have closed is no visit. */
static void visits_test_foreign(struct kunit *test)
{
	struct tiering_watch watch = { };

	KUNIT_EXPECT_FALSE(test, tiering_watch_visit(&watch, 1));
	tiering_watch_closed(&watch, 1000, 0);
	KUNIT_EXPECT_TRUE(test, tiering_watch_visit(&watch, 1));
	KUNIT_EXPECT_FALSE(test, tiering_watch_visit(&watch, 1));
	KUNIT_EXPECT_EQ(test, watch.visits, 1);
}

/* The watched pages stand for all that were accessed; unknown ones are left out. */
static void visits_test_scales(struct kunit *test)
{
	struct tiering_region *region = visits_test_region(test);
	unsigned int i;

	region->accessed = 100;
	region->watched = 10;
	for (i = 0; i < 10; i++) {
		region->watches[i].index = i;
		region->watches[i].closed = i < 8 ? NSEC_PER_SEC / 1024 : 0;
		region->watches[i].visits = i < 8 ? 5 : 0;
	}
	KUNIT_EXPECT_TRUE(test, tiering_region_count(region));
	KUNIT_EXPECT_EQ(test, region->visits, 40);
	/* A count begins anew. */
	KUNIT_EXPECT_EQ(test, region->watches[0].visits, 0);
	KUNIT_EXPECT_EQ(test, region->watches[0].closed, 0);
	/* A second in units of 1024 ns is rounded down. */
	KUNIT_EXPECT_GE(test, region->rate, 500);
	KUNIT_EXPECT_LE(test, region->rate, 510);
}

/* Without an accessed page the rate is 0. Without a closed entry it is not known. */
static void visits_test_unknown(struct kunit *test)
{
	struct tiering_region *region = visits_test_region(test);

	region->rate = 7;
	region->accessed = 3;
	region->watched = 3;
	KUNIT_EXPECT_FALSE(test, tiering_region_count(region));
	KUNIT_EXPECT_EQ(test, region->rate, 7);
	region->accessed = 0;
	region->watched = 0;
	KUNIT_EXPECT_TRUE(test, tiering_region_count(region));
	KUNIT_EXPECT_EQ(test, region->rate, 0);
	region->rate = 7;
	region->stage = TIERING_UNWATCHED;
	KUNIT_EXPECT_FALSE(test, tiering_region_count(region));
}

/* Pages that were accessed were so once at least. */
static void visits_test_least(struct kunit *test)
{
	struct tiering_region *region = visits_test_region(test);

	KUNIT_EXPECT_EQ(test, tiering_least_rate(20, NSEC_PER_SEC / 4), 80);
	KUNIT_EXPECT_EQ(test, tiering_least_rate(0, 0), 0);
	region->accessed = 100;
	region->least = 1000;
	region->watched = 1;
	region->watches[0].closed = NSEC_PER_SEC / 1024;
	region->watches[0].visits = 1;
	KUNIT_EXPECT_TRUE(test, tiering_region_count(region));
	KUNIT_EXPECT_EQ(test, region->rate, 1000);
	region->watches[0].closed = NSEC_PER_SEC / 1024;
	region->watches[0].visits = 20;
	KUNIT_EXPECT_TRUE(test, tiering_region_count(region));
	KUNIT_EXPECT_GE(test, region->rate, 2000);
}

static void visits_test_find(struct kunit *test)
{
	struct tiering_region *region = visits_test_region(test);
	unsigned int i;

	region->watched = 3;
	for (i = 0; i < 3; i++)
		region->watches[i].index = 10 * i;
	for (i = 0; i < 3; i++)
		KUNIT_EXPECT_PTR_EQ(test, tiering_watch_find(region, 10 * i),
				    &region->watches[i]);
	KUNIT_EXPECT_NULL(test, tiering_watch_find(region, 5));
	KUNIT_EXPECT_NULL(test, tiering_watch_find(region, 511));
}

/**
 * struct visits_test_mapped - watched memory of this task
 * @regions: a list of one region
 * @region: the region
 * @notices: how often MMU notifiers were told of a change
 */
struct visits_test_mapped {
	struct list_head regions;
	struct tiering_region *region;
#ifdef CONFIG_MMU_NOTIFIER
	struct mmu_notifier notifier;
#endif
	unsigned int notices;
};

#ifdef CONFIG_MMU_NOTIFIER
static int visits_test_notice(struct mmu_notifier *notifier,
			      const struct mmu_notifier_range *range)
{
	container_of(notifier, struct visits_test_mapped, notifier)->notices++;
	return 0;
}

static const struct mmu_notifier_ops visits_test_ops = {
	.invalidate_range_start = visits_test_notice,
};

static int visits_test_register(struct visits_test_mapped *mapped)
{
	mapped->notifier.ops = &visits_test_ops;
	return mmu_notifier_register(&mapped->notifier, current->mm);
}

static void visits_test_unregister(struct visits_test_mapped *mapped)
{
	mmu_notifier_unregister(&mapped->notifier, current->mm);
}
#else
static int visits_test_register(struct visits_test_mapped *mapped)
{
	return -EOPNOTSUPP;
}

static void visits_test_unregister(struct visits_test_mapped *mapped)
{
}
#endif

static void visits_test_use(struct kunit *test, struct visits_test_mapped *mapped,
			    unsigned int page)
{
	char __user *at = (char __user *)(mapped->region->start + page * PAGE_SIZE);

	KUNIT_EXPECT_EQ(test, 0, put_user(1, at));
}

/* Count the closed entries of the region's pages. */
static unsigned int visits_test_closed(struct visits_test_mapped *mapped)
{
	struct mm_struct *mm = mapped->region->at.mm;
	unsigned int i, closed = 0;

	mmap_read_lock(mm);
	for (i = 0; i < VISITS_TEST_PAGES; i++) {
		unsigned long addr = mapped->region->start + i * PAGE_SIZE;
		pmd_t *pmd = mm_find_pmd(mm, addr);
		pte_t *pte = pmd ? pte_offset_map(pmd, addr) : NULL;

		if (!pte)
			continue;
		closed += pte_present(ptep_get(pte)) && pte_protnone(ptep_get(pte));
		pte_unmap(pte);
	}
	mmap_read_unlock(mm);
	return closed;
}

static void visits_test_free(void *region)
{
	tiering_region_free(region);
}

static void visits_test_stop_counting(void *nothing)
{
	static_branch_disable(&tiering_visits_key);
}

/* Map memory, use some pages, and watch them. They are closed then. */
static void visits_test_map(struct kunit *test, struct visits_test_mapped *mapped)
{
	unsigned long addr;
	unsigned int i;

	if (!IS_ENABLED(CONFIG_NUMA_BALANCING))
		kunit_skip(test, "entries cannot be closed");
	INIT_LIST_HEAD(&mapped->regions);
	addr = kunit_vm_mmap(test, NULL, 0, 2 * PMD_SIZE, PROT_READ | PROT_WRITE,
			     MAP_PRIVATE | MAP_ANONYMOUS, 0);
	KUNIT_ASSERT_NE(test, addr, 0);
	addr = ALIGN(addr, PMD_SIZE);
	mapped->region = tiering_region_add(current->mm, addr, addr + PMD_SIZE);
	KUNIT_ASSERT_NOT_NULL(test, mapped->region);
	KUNIT_ASSERT_EQ(test, 0,
			kunit_add_action_or_reset(test, visits_test_free, mapped->region));
	static_branch_enable(&tiering_visits_key);
	KUNIT_ASSERT_EQ(test, 0,
			kunit_add_action_or_reset(test, visits_test_stop_counting, NULL));
	list_add(&mapped->region->list, &mapped->regions);
	/* The first use may map a huge page. */
	visits_test_use(test, mapped, 0);
	tiering_regions_split(&mapped->regions);
	for (i = 0; i < VISITS_TEST_PAGES; i++)
		visits_test_use(test, mapped, i);
	tiering_regions_watch_pages(&mapped->regions);
	KUNIT_EXPECT_EQ(test, mapped->region->watched, VISITS_TEST_PAGES);
	KUNIT_EXPECT_EQ(test, visits_test_closed(mapped), VISITS_TEST_PAGES);
}

/* A use of a closed page opens it alone, and is a visit. A round closes it again. */
static void visits_test_faults(struct kunit *test)
{
	struct visits_test_mapped mapped = { };

	visits_test_map(test, &mapped);
	visits_test_use(test, &mapped, 1);
	visits_test_use(test, &mapped, 1);
	KUNIT_EXPECT_EQ(test, visits_test_closed(&mapped), VISITS_TEST_PAGES - 1);
	tiering_regions_close(&mapped.regions);
	KUNIT_EXPECT_EQ(test, visits_test_closed(&mapped), VISITS_TEST_PAGES);
	KUNIT_EXPECT_TRUE(test, tiering_region_count(mapped.region));
	KUNIT_EXPECT_EQ(test, mapped.region->visits, 1);
	tiering_regions_open(&mapped.regions);
	KUNIT_EXPECT_EQ(test, visits_test_closed(&mapped), 0);
}

/* MMU notifiers are told of a round only if something was open. */
static void visits_test_notified(struct kunit *test)
{
	struct visits_test_mapped mapped = { };

	visits_test_map(test, &mapped);
	if (visits_test_register(&mapped))
		kunit_skip(test, "needs CONFIG_MMU_NOTIFIER");
	tiering_regions_close(&mapped.regions);
	KUNIT_EXPECT_EQ(test, mapped.notices, 0);
	visits_test_use(test, &mapped, 1);
	tiering_regions_close(&mapped.regions);
	KUNIT_EXPECT_EQ(test, mapped.notices, 1);
	KUNIT_EXPECT_EQ(test, visits_test_closed(&mapped), VISITS_TEST_PAGES);
	visits_test_unregister(&mapped);
}

/* What is left of a region whose mapping has become smaller is open. */
static void visits_test_lost(struct kunit *test)
{
	struct visits_test_mapped mapped = { };
	unsigned long half;

	visits_test_map(test, &mapped);
	half = mapped.region->start + PMD_SIZE / 2;
	KUNIT_ASSERT_EQ(test, 0, vm_munmap(half, PMD_SIZE / 2));
	KUNIT_EXPECT_EQ(test, visits_test_closed(&mapped), VISITS_TEST_PAGES);
	tiering_regions_close(&mapped.regions);
	KUNIT_EXPECT_TRUE(test, mapped.region->is_gone);
	KUNIT_EXPECT_EQ(test, visits_test_closed(&mapped), 0);
}

/* A huge page that could not be split is open after it. */
static void visits_test_unsplit(struct kunit *test)
{
	struct visits_test_mapped mapped = { };
	pmd_t *pmd;

	visits_test_map(test, &mapped);
	tiering_regions_open(&mapped.regions);
	if (!IS_ENABLED(CONFIG_TRANSPARENT_HUGEPAGE) ||
	    vm_munmap(mapped.region->start, PMD_SIZE) ||
	    vm_mmap(NULL, mapped.region->start, PMD_SIZE, PROT_READ | PROT_WRITE,
		    MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, 0) != mapped.region->start)
		kunit_skip(test, "needs huge pages");
	visits_test_use(test, &mapped, 0);
	tiering_regions_watch_whole(&mapped.regions);
	if (mapped.region->stage != TIERING_WHOLE)
		kunit_skip(test, "needs a free huge page");
	pmd = mm_find_pmd(current->mm, mapped.region->start);
	KUNIT_ASSERT_NOT_NULL(test, pmd);
	KUNIT_EXPECT_TRUE(test, pmd_protnone(pmdp_get_lockless(pmd)));
	tiering_regions_watch_pages(&mapped.regions);
	KUNIT_EXPECT_FALSE(test, pmd_protnone(pmdp_get_lockless(pmd)));
	KUNIT_EXPECT_EQ(test, mapped.region->stage, TIERING_UNWATCHED);
}

static struct kunit_case visits_test_cases[] = {
	KUNIT_CASE(visits_test_rate),
	KUNIT_CASE(visits_test_hottest),
	KUNIT_CASE(visits_test_unvisited),
	KUNIT_CASE(visits_test_since),
	KUNIT_CASE(visits_test_foreign),
	KUNIT_CASE(visits_test_scales),
	KUNIT_CASE(visits_test_unknown),
	KUNIT_CASE(visits_test_least),
	KUNIT_CASE(visits_test_find),
	KUNIT_CASE(visits_test_faults),
	KUNIT_CASE(visits_test_notified),
	KUNIT_CASE(visits_test_lost),
	KUNIT_CASE(visits_test_unsplit),
	{}
};

static struct kunit_suite visits_test_suite = {
	.name = "tiering-visits",
	.test_cases = visits_test_cases,
};

kunit_test_suite(visits_test_suite);

#endif /* _MM_TIERING_VISITS_KUNIT_H */
