/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Policies of memory tiers: tests of the choice of slabs.
 */
#ifndef _MM_TIERING_SLAB_KUNIT_H
#define _MM_TIERING_SLAB_KUNIT_H

#include <kunit/test.h>
#include <linux/nodemask.h>
#include <linux/slab.h>

/* Find the first node of slow or of fast memory. */
static int slab_test_node(bool slow)
{
	int nid;

	for_each_node_state(nid, N_MEMORY)
		if (tiering_is_slow(nid) == slow)
			return nid;
	return NUMA_NO_NODE;
}

static void slab_test_move(struct kunit *test, void *object, int nid)
{
	struct reloc_result result = { };
	int tries;

	/* Other CPUs may use the page for a moment. */
	for (tries = 0; tries < 100 && !result.moved; tries++)
		reloc_move(&object, 1, nid, &result);
	KUNIT_EXPECT_EQ(test, result.moved, 1);
}

/*
 * A page in slow memory must not take the place of a page to demote, nor may one that
 * has come back.
 */
static void slab_test_a_page_leaves_once(struct kunit *test)
{
	struct kmem_cache *cache;
	int fast, slow;
	void *object;

	/* The set of slow nodes is valid while a selected policy needs nodes. */
	if (tiering_select("naive"))
		kunit_skip(test, "needs two tiers");
	fast = slab_test_node(false);
	slow = slab_test_node(true);
	cache = kmem_cache_create("tiering_test", 256, 0, SLAB_RELOC, NULL);
	KUNIT_ASSERT_NOT_NULL(test, cache);
	object = kmem_cache_alloc_node(cache, GFP_KERNEL, fast);
	KUNIT_EXPECT_NOT_NULL(test, object);
	if (object && is_reloc_addr(object)) {
		KUNIT_EXPECT_FALSE(test, tiering_slab_may_leave(object));
		/* Two scans without a use. */
		reloc_age();
		reloc_age();
		KUNIT_EXPECT_TRUE(test, tiering_slab_may_leave(object));
		KUNIT_EXPECT_FALSE(test, tiering_slab_is_on_slow_node(object));
		slab_test_move(test, object, slow);
		KUNIT_EXPECT_TRUE(test, reloc_is_idle(object));
		KUNIT_EXPECT_FALSE(test, tiering_slab_may_leave(object));
		KUNIT_EXPECT_TRUE(test, tiering_slab_is_on_slow_node(object));
		slab_test_move(test, object, fast);
		KUNIT_EXPECT_TRUE(test, reloc_is_idle(object));
		KUNIT_EXPECT_FALSE(test, tiering_slab_may_leave(object));
	}
	kmem_cache_free(cache, object);
	kmem_cache_destroy(cache);
	KUNIT_EXPECT_EQ(test, tiering_select("none"), 0);
}

static struct kunit_case slab_test_cases[] = {
	KUNIT_CASE(slab_test_a_page_leaves_once),
	{}
};

static struct kunit_suite slab_test_suite = {
	.name = "tiering-slab",
	.test_cases = slab_test_cases,
};

kunit_test_suite(slab_test_suite);

#endif /* _MM_TIERING_SLAB_KUNIT_H */
