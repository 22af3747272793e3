/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Policies of memory tiers: tests of the counts of cgroups with limits.
 */
#ifndef _MM_TIERING_MEMCG_KUNIT_H
#define _MM_TIERING_MEMCG_KUNIT_H

#include <kunit/test.h>
#include <linux/sched/mm.h>

/* Pages that the tests add. */
#define MEMCG_TEST_PAGES	5

/* Make a cgroup that the hierarchy does not include, like a new one. */
static struct mem_cgroup *memcg_test_make(struct kunit *test)
{
	struct mem_cgroup *memcg;
	int nid;

	memcg = kunit_kzalloc(test, struct_size(memcg, nodeinfo, nr_node_ids), GFP_KERNEL);
	KUNIT_ASSERT_NOT_NULL(test, memcg);
	for_each_node(nid) {
		struct mem_cgroup_per_node *pn;

		pn = kunit_kzalloc(test, sizeof(*pn), GFP_KERNEL);
		KUNIT_ASSERT_NOT_NULL(test, pn);
		spin_lock_init(&pn->lruvec.lru_lock);
		pn->memcg = memcg;
		memcg->nodeinfo[nid] = pn;
	}
	return memcg;
}

/* Add page cache that nobody counts. */
static void memcg_test_add(struct mem_cgroup *memcg)
{
	struct mem_cgroup_per_node *pn = memcg->nodeinfo[first_online_node];

	pn->lru_zone_size[ZONE_NORMAL][LRU_INACTIVE_FILE] += MEMCG_TEST_PAGES;
}

static unsigned long memcg_test_files(struct mem_cgroup *memcg)
{
	return tiering_memcg_files(memcg, first_online_node);
}

/* Start counting, as for the first limit. */
static void memcg_test_start(void)
{
	mutex_lock(&tiering_memcg_mutex);
	tiering_memcg_start();
	mutex_unlock(&tiering_memcg_mutex);
}

static int memcg_test_init(struct kunit *test)
{
	if (mem_cgroup_disabled() || tiering_is_limiting())
		kunit_skip(test, "needs memory cgroups without limits");
	return 0;
}

/* A cgroup is counted once in an epoch. */
static void memcg_test_counts_once(struct kunit *test)
{
	struct mem_cgroup *memcg = memcg_test_make(test);

	memcg_test_add(memcg);
	memcg_test_start();
	KUNIT_EXPECT_TRUE(test, tiering_is_limiting());
	tiering_memcg_count(memcg);
	KUNIT_EXPECT_EQ(test, memcg_test_files(memcg), MEMCG_TEST_PAGES);
	memcg_test_add(memcg);
	tiering_memcg_count(memcg);
	KUNIT_EXPECT_EQ(test, memcg_test_files(memcg), MEMCG_TEST_PAGES);
	tiering_memcg_limit_gone(NULL);
	KUNIT_EXPECT_FALSE(test, tiering_is_limiting());
}

/*
 * tiering_memcg_online() may count a new cgroup just after counting has stopped. What
 * changes until counting starts again must not be lost.
 */
static void memcg_test_counts_late(struct kunit *test)
{
	struct mem_cgroup *memcg = memcg_test_make(test);

	memcg_test_start();
	tiering_memcg_limit_gone(NULL);
	tiering_memcg_count(memcg);
	memcg_test_add(memcg);
	memcg_test_start();
	tiering_memcg_count(memcg);
	KUNIT_EXPECT_EQ(test, memcg_test_files(memcg), MEMCG_TEST_PAGES);
	tiering_memcg_limit_gone(NULL);
}

/* A kernel thread that works for a cgroup is subject to the limits of the cgroup. */
static void memcg_test_works_for_a_group(struct kunit *test)
{
	struct mem_cgroup *memcg = memcg_test_make(test), *old, *found;

	KUNIT_EXPECT_NULL(test, tiering_current_memcg());
	/* Nothing is charged to the cgroup, which is none. */
	old = set_active_memcg(memcg);
	found = tiering_current_memcg();
	set_active_memcg(old);
	KUNIT_EXPECT_PTR_EQ(test, found, memcg);
}

static struct kunit_case memcg_test_cases[] = {
	KUNIT_CASE(memcg_test_counts_once),
	KUNIT_CASE(memcg_test_counts_late),
	KUNIT_CASE(memcg_test_works_for_a_group),
	{}
};

static struct kunit_suite memcg_test_suite = {
	.name = "tiering-memcg",
	.init = memcg_test_init,
	.test_cases = memcg_test_cases,
};

kunit_test_suite(memcg_test_suite);

#endif /* _MM_TIERING_MEMCG_KUNIT_H */
