/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Policies of memory tiers: tests of the accessed bits of mapped folios.
 */
#ifndef _MM_TIERING_SAMPLE_KUNIT_H
#define _MM_TIERING_SAMPLE_KUNIT_H

#include <kunit/test.h>

/* A folio that looks mapped once, by a process with this anon_vma. */
static struct folio *sample_test_folio(struct kunit *test, struct anon_vma *anon_vma)
{
	struct folio *folio = folio_alloc(GFP_KERNEL, 0);

	KUNIT_ASSERT_NOT_NULL(test, folio);
	memset(anon_vma, 0, sizeof(*anon_vma));
	anon_vma->root = anon_vma;
	anon_vma->rb_root = RB_ROOT_CACHED;
	init_rwsem(&anon_vma->rwsem);
	atomic_set(&anon_vma->refcount, 1);
	folio->mapping = (void *)anon_vma + PAGE_MAPPING_ANON;
	atomic_set(&folio->_mapcount, 0);
	return folio;
}

static void sample_test_free(struct folio *folio)
{
	atomic_set(&folio->_mapcount, -1);
	folio->mapping = NULL;
	folio_put(folio);
}

/* A walk that finds no mapping of the folio. */
static void sample_test_unused(struct kunit *test)
{
	struct anon_vma *anon_vma = kunit_kzalloc(test, sizeof(*anon_vma), GFP_KERNEL);
	struct folio *folio;

	KUNIT_ASSERT_NOT_NULL(test, anon_vma);
	folio = sample_test_folio(test, anon_vma);
	KUNIT_EXPECT_FALSE(test, tiering_was_referenced(folio));
	sample_test_free(folio);
}

/*
 * The walk only tries the lock of the mappings: a folio counts as used while it is
 * held.
 */
static void sample_test_contended(struct kunit *test)
{
	struct anon_vma *anon_vma = kunit_kzalloc(test, sizeof(*anon_vma), GFP_KERNEL);
	struct folio *folio;

	KUNIT_ASSERT_NOT_NULL(test, anon_vma);
	folio = sample_test_folio(test, anon_vma);
	down_write(&anon_vma->rwsem);
	KUNIT_EXPECT_TRUE(test, tiering_was_referenced(folio));
	up_write(&anon_vma->rwsem);
	sample_test_free(folio);
}

/* The walk locks the anon_vma, so that the last process may exit meanwhile. */
static void sample_test_lock(struct kunit *test)
{
	struct tiering_young found = { };
	struct rmap_walk_control control = tiering_young_control(&found);

	KUNIT_EXPECT_TRUE(test, control.anon_lock == folio_lock_anon_vma_read);
	KUNIT_EXPECT_TRUE(test, control.try_lock);
}

/* A walk checks a bounded number of mappings. */
static void sample_test_bound(struct kunit *test)
{
	struct tiering_young found = { };
	struct vm_area_struct vma = { .vm_end = PAGE_SIZE };
	struct folio *folio = folio_alloc(GFP_KERNEL, 0);
	unsigned int mappings = 1;

	KUNIT_ASSERT_NOT_NULL(test, folio);
	vma.vm_mm = current->active_mm;
	while (mappings <= 2 * TIERING_MAPPINGS &&
	       tiering_take_young(folio, &vma, 0, &found))
		mappings++;
	KUNIT_EXPECT_EQ(test, mappings, TIERING_MAPPINGS);
	KUNIT_EXPECT_FALSE(test, found.young);
	folio_put(folio);
}

/* One of TIERING_USES_EACH uses is counted while a policy asks for it. */
static void sample_test_counted(struct kunit *test)
{
	unsigned int i, counted = 0;

	preempt_disable();
	for (i = 0; i < TIERING_USES_EACH; i++)
		counted += tiering_use_counts();
	preempt_enable();
	KUNIT_EXPECT_EQ(test, counted, 0);

	static_branch_enable(&tiering_counts_key);
	preempt_disable();
	this_cpu_write(tiering_uses, 0);
	for (i = 0; i < 3 * TIERING_USES_EACH; i++)
		counted += tiering_use_counts();
	preempt_enable();
	static_branch_disable(&tiering_counts_key);
	KUNIT_EXPECT_EQ(test, counted, 3);
}

static struct kunit_case sample_test_cases[] = {
	KUNIT_CASE(sample_test_unused),
	KUNIT_CASE(sample_test_contended),
	KUNIT_CASE(sample_test_lock),
	KUNIT_CASE(sample_test_bound),
	KUNIT_CASE(sample_test_counted),
	{}
};

static struct kunit_suite sample_test_suite = {
	.name = "tiering-sample",
	.test_cases = sample_test_cases,
};

kunit_test_suite(sample_test_suite);

#endif /* _MM_TIERING_SAMPLE_KUNIT_H */
