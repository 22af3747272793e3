/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Relocatable slabs: tests of the records of use, and of cold twins. They are part of
 * the suite in move-kunit.h.
 */
#ifndef _MM_RELOC_USE_KUNIT_H
#define _MM_RELOC_USE_KUNIT_H

#include <linux/sched.h>
#include <linux/tiering_slab.h>

static bool is_used(const struct reloc_page *page, void *data)
{
	return page->use.history & BIT(0);
}

/* Test whether the page of an object was used in the last scan. */
static bool found_as_used(const void *object)
{
	unsigned long cursor = 0;
	unsigned int n;
	void *addrs[64];

	do {
		n = reloc_find(is_used, NULL, &cursor, addrs, ARRAY_SIZE(addrs));
		while (n--)
			if (addrs[n] == (void *)((unsigned long)object & PAGE_MASK))
				return true;
	} while (cursor < RELOC_SIZE);
	return false;
}

static void uses_are_noted(struct kunit *test)
{
	struct fixture *f = test->priv;
	u64 *object;

	allocate(test, f);
	object = f->objects[OBJECTS / 2];
	/* The page was filled in the first scan. */
	reloc_age();
	KUNIT_EXPECT_TRUE(test, found_as_used(object));
	reloc_age();
	KUNIT_EXPECT_FALSE(test, found_as_used(object));
	KUNIT_EXPECT_TRUE(test, reloc_is_idle(object));
	KUNIT_EXPECT_EQ(test, reloc_nid_now(object), node_a);

	READ_ONCE(*object);
	KUNIT_EXPECT_FALSE(test, reloc_is_idle(object));
	reloc_age();
	KUNIT_EXPECT_TRUE(test, found_as_used(object));

	/* A move does not count as a use. */
	reloc_age();
	move_to(test, f, node_b);
	KUNIT_EXPECT_EQ(test, reloc_nid_now(object), node_b);
	KUNIT_EXPECT_TRUE(test, reloc_is_idle(object));
	KUNIT_EXPECT_EQ(test, reloc_moves(object), 1);
	free_objects(f);
}

static void a_stay_is_noted(struct kunit *test)
{
	struct fixture *f = test->priv;
	const struct reloc_page *page;
	unsigned int i;
	void *object;

	allocate(test, f);
	object = f->objects[OBJECTS / 2];
	page = reloc_page_of(object);
	KUNIT_EXPECT_EQ(test, page->use.reason, 0);
	reloc_age();

	/* The first reason of policies, a demotion. */
	KUNIT_ASSERT_EQ(test, reloc_try_move(&object, 1, node_b, 1, &f->result), 0);
	KUNIT_EXPECT_EQ(test, f->result.moved, 1);
	KUNIT_EXPECT_EQ(test, page->use.reason, 1);
	KUNIT_EXPECT_EQ(test, page->age, 0);

	reloc_age();
	READ_ONCE(*(u64 *)object);
	reloc_age();
	KUNIT_EXPECT_EQ(test, page->age, 2);
	KUNIT_EXPECT_EQ(test, page->use.uses, 1);
	/* A move without a reason: its copy has paid. */
	for (i = 0; i < 16; i++)
		reloc_age();
	move_to(test, f, node_a);
	KUNIT_EXPECT_EQ(test, page->use.reason, 0);
	free_objects(f);
}

/* Allow for pages that other caches in the arena get meanwhile. */
static void pages_are_counted_where_they_are(struct kunit *test)
{
	struct fixture *f = test->priv;
	long a = reloc_pages_on(node_a), b = reloc_pages_on(node_b);
	long pages = OBJECTS * OBJECT_SIZE / PAGE_SIZE;

	allocate(test, f);
	KUNIT_EXPECT_GE(test, (long)reloc_pages_on(node_a) - a, pages);
	move_to(test, f, node_b);
	KUNIT_EXPECT_LT(test, (long)reloc_pages_on(node_a) - a, pages / 2);
	KUNIT_EXPECT_GE(test, (long)reloc_pages_on(node_b) - b, pages);

	free_objects(f);
	kmem_cache_shrink(f->cache);
	reloc_flush_freed();
	KUNIT_EXPECT_LT(test, (long)reloc_pages_on(node_b) - b, pages / 2);
}

/* Allocate an object that is predicted to be cold. */
static void *allocate_cold(struct fixture *f)
{
	void *object;

	current->slabs_cold = 1;
	object = kmem_cache_alloc(f->cache, GFP_KERNEL);
	current->slabs_cold = 0;
	return object;
}

/* Demoted slabs, per-CPU slabs included, serve no new objects. */
static void demoted_slabs_get_no_new_objects(struct kunit *test)
{
	struct fixture *f = test->priv;
	struct slabinfo info = {};
	unsigned int i, per_slab, slow = 0;
	void *new[3 * 64];

	if (!node_is_toptier(node_a) || node_is_toptier(node_b))
		kunit_skip(test, "needs two tiers");
	allocate(test, f);
	get_slabinfo(f->cache, &info);
	per_slab = info.objects_per_slab;
	KUNIT_ASSERT_LE(test, 3 * per_slab, ARRAY_SIZE(new));
	KUNIT_ASSERT_LE(test, 8 * per_slab, OBJECTS);

	move_to(test, f, node_b);
	migrate_disable();
	reloc_hold_demoted(true);
	/* Fill the slab that this CPU allocates from. */
	for (i = 0; i < per_slab; i++)
		new[i] = kmem_cache_alloc_node(f->cache, GFP_KERNEL, node_a);
	/* Free an object of each slab, so that the slabs can serve new objects. */
	for (i = 0; i < 8; i++)
		kmem_cache_free(f->cache, f->objects[i * per_slab]);
	for (; i < 8 + 2 * per_slab; i++) {
		void *object = kmem_cache_alloc_node(f->cache, GFP_KERNEL, node_a);

		slow += reloc_nid(object) == node_b;
		new[per_slab + i - 8] = object;
	}
	reloc_hold_demoted(false);
	migrate_enable();

	KUNIT_EXPECT_EQ(test, slow, 0);
	for (i = 0; i < 8; i++)
		f->objects[i * per_slab] = kmem_cache_alloc(f->cache, GFP_KERNEL);
	for (i = 0; i < 3 * per_slab; i++)
		kmem_cache_free(f->cache, new[i]);
	free_objects(f);
}

/* Get an object on the first page of a slab, or on another one. */
static unsigned int find_object(void *const *objects, unsigned int count, bool on_first)
{
	unsigned long slab = (unsigned long)slab_address(virt_to_slab(objects[0]));
	unsigned int i;

	for (i = 0; i < count; i++)
		if (((unsigned long)objects[i] - slab < PAGE_SIZE) == on_first)
			break;
	return i;
}

/* A slab of several pages serves objects on those that were not demoted, and no others. */
static void pages_are_demoted_one_by_one(struct kunit *test)
{
	struct fixture *f = test->priv;
	unsigned int i, first, other, count, per_slab;
	struct kmem_cache *cache;
	struct slabinfo info = {};
	void *objects[4 * 32];

	if (!node_is_toptier(node_a) || node_is_toptier(node_b))
		kunit_skip(test, "needs two tiers");
	cache = kmem_cache_create("reloc_wide", PAGE_SIZE / 2, 0, SLAB_RELOC, NULL);
	KUNIT_ASSERT_NOT_NULL(test, cache);
	migrate_disable();
	objects[0] = kmem_cache_alloc_node(cache, GFP_KERNEL, node_a);
	get_slabinfo(cache, &info);
	per_slab = min(info.objects_per_slab, 32U);
	/* The first slab is full, and so is that of the CPU. */
	count = 3 * per_slab;
	for (i = 1; i < count; i++)
		objects[i] = kmem_cache_alloc_node(cache, GFP_KERNEL, node_a);
	first = find_object(objects, per_slab, true);
	other = find_object(objects, per_slab, false);
	KUNIT_EXPECT_LT(test, first, per_slab);
	KUNIT_EXPECT_LT(test, other, per_slab);
	if (other == per_slab)
		goto free;

	reloc_hold_demoted(true);
	KUNIT_EXPECT_EQ(test, reloc_move(&objects[first], 1, node_b, &f->result), 0);
	kmem_cache_free(cache, objects[other]);
	objects[other] = kmem_cache_alloc_node(cache, GFP_KERNEL, node_a);
	KUNIT_EXPECT_PTR_EQ(test, virt_to_slab(objects[other]), virt_to_slab(objects[first]));

	/* The CPU has taken the first slab. It takes another one, and fills it. */
	for (; count < 4 * per_slab; count++)
		objects[count] = kmem_cache_alloc_node(cache, GFP_KERNEL, node_a);
	KUNIT_EXPECT_EQ(test, reloc_move(&objects[first], 1, node_a, &f->result), 0);
	KUNIT_EXPECT_EQ(test, reloc_move(&objects[other], 1, node_b, &f->result), 0);
	kmem_cache_free(cache, objects[other]);
	objects[other] = kmem_cache_alloc_node(cache, GFP_KERNEL, node_a);
	KUNIT_EXPECT_EQ(test, reloc_nid(objects[other]), node_a);
	reloc_hold_demoted(false);
free:
	migrate_enable();
	for (i = 0; i < count; i++)
		kmem_cache_free(cache, objects[i]);
	kmem_cache_destroy(cache);
}

static void cold_objects_are_apart(struct kunit *test)
{
	struct fixture *f = test->priv;
	struct slabinfo info = {};
	void *objects[4];
	unsigned int i;

	KUNIT_ASSERT_NOT_NULL(test, f->cache->cold);
	objects[0] = allocate_cold(f);
	KUNIT_ASSERT_NOT_NULL(test, objects[0]);
	KUNIT_EXPECT_PTR_EQ(test, virt_to_slab(objects[0])->slab_cache, f->cache);
	kmem_cache_free(f->cache, objects[0]);

	/* Act as a policy that moves slabs. */
	static_branch_enable(&tiering_slabs_key);
	for (i = 0; i < ARRAY_SIZE(objects); i++) {
		objects[i] = i % 2 ? kmem_cache_alloc(f->cache, GFP_KERNEL) : allocate_cold(f);
		KUNIT_ASSERT_NOT_NULL(test, objects[i]);
		KUNIT_EXPECT_TRUE(test, is_reloc_addr(objects[i]));
		KUNIT_EXPECT_PTR_EQ(test, virt_to_slab(objects[i])->slab_cache,
				    i % 2 ? f->cache : f->cache->cold);
	}
	static_branch_disable(&tiering_slabs_key);

	get_slabinfo(f->cache->cold, &info);
	KUNIT_EXPECT_GE(test, info.num_slabs, 1);
	/* Both ways of freeing take the objects as those of the requested cache. */
	kmem_cache_free(f->cache, objects[0]);
	kmem_cache_free(f->cache, objects[1]);
	kmem_cache_free_bulk(f->cache, 2, &objects[2]);
	kmem_cache_shrink(f->cache->cold);
	get_slabinfo(f->cache->cold, &info);
	KUNIT_EXPECT_EQ(test, info.num_slabs, 0);
}

#endif /* _MM_RELOC_USE_KUNIT_H */
