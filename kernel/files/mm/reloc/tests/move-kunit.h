/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Relocatable slabs: tests that move the pages of objects that are in use.
 */
#ifndef _MM_RELOC_MOVE_KUNIT_H
#define _MM_RELOC_MOVE_KUNIT_H

#include <kunit/test.h>
#include <linux/cpumask.h>
#include <linux/delay.h>
#include <linux/kthread.h>
#include <linux/list_lru.h>
#include <linux/mmap_lock.h>
#include <linux/memory-tiers.h>
#include <linux/nodemask.h>
#include <linux/reloc.h>
#include <linux/slab.h>
#include <linux/vmalloc.h>
#include <linux/vmstat.h>
#include <asm/tlbflush.h>

#define OBJECTS		512
#define OBJECT_SIZE	256
#define WORDS		(OBJECT_SIZE / sizeof(u64))

/* Number of moves back and forth. */
#define ROUNDS		40

/* Long enough that no page is late, however busy the host is. */
#define LONG_PAUSE_US	1000000

/* The two nodes that pages are moved between. */
static int node_a, node_b;

struct fixture {
	struct kmem_cache *cache;
	u64 *objects[OBJECTS];
	struct reloc_result result;
};

static void fill(u64 *object, u64 seed)
{
	unsigned int i;

	for (i = 0; i < WORDS; i++)
		WRITE_ONCE(object[i], seed * WORDS + i);
}

static bool is_filled(const u64 *object, u64 seed)
{
	unsigned int i;

	for (i = 0; i < WORDS; i++)
		if (READ_ONCE(object[i]) != seed * WORDS + i)
			return false;
	return true;
}

/* Allocate all objects on node_a. */
static void allocate(struct kunit *test, struct fixture *f)
{
	unsigned int i;

	for (i = 0; i < OBJECTS; i++) {
		f->objects[i] = kmem_cache_alloc_node(f->cache, GFP_KERNEL, node_a);
		KUNIT_ASSERT_NOT_NULL(test, f->objects[i]);
		fill(f->objects[i], i);
	}
}

static void free_objects(struct fixture *f)
{
	unsigned int i;

	for (i = 0; i < OBJECTS; i++) {
		kmem_cache_free(f->cache, f->objects[i]);
		f->objects[i] = NULL;
	}
}

static unsigned int wrong_objects(struct fixture *f)
{
	unsigned int i, wrong = 0;

	for (i = 0; i < OBJECTS; i++)
		wrong += !is_filled(f->objects[i], i);
	return wrong;
}

/* Count objects that are not on a node, by the page of their first byte. */
static unsigned int objects_off(struct fixture *f, int nid)
{
	unsigned int i, off = 0;

	for (i = 0; i < OBJECTS; i++)
		off += reloc_nid(f->objects[i]) != nid;
	return off;
}

static unsigned int count_pages_off(struct kmem_cache *cache, int nid)
{
	unsigned int n, pages = 0;
	unsigned long cursor = 0;
	void *addrs[64];

	while ((n = reloc_collect(cache, nid, &cursor, addrs, ARRAY_SIZE(addrs))))
		pages += n;
	return pages;
}

/* Move all pages of the cache to a node. */
static void move_to(struct kunit *test, struct fixture *f, int nid)
{
	unsigned long cursor = 0;
	void *addrs[64];
	unsigned int n;

	while ((n = reloc_collect(f->cache, nid, &cursor, addrs, ARRAY_SIZE(addrs))))
		KUNIT_ASSERT_EQ(test, reloc_move(addrs, n, nid, &f->result), 0);
}

static void addresses_are_in_the_arena(struct kunit *test)
{
	struct fixture *f = test->priv;
	unsigned int i;

	allocate(test, f);
	for (i = 0; i < OBJECTS; i++) {
		void *object = f->objects[i];
		struct slab *slab;

		KUNIT_ASSERT_TRUE(test, is_reloc_addr(object));
		KUNIT_EXPECT_FALSE(test, is_vmalloc_addr(object));
		KUNIT_EXPECT_TRUE(test, kmem_addr_valid(object));
		slab = virt_to_slab(object);
		KUNIT_ASSERT_NOT_NULL(test, slab);
		KUNIT_EXPECT_PTR_EQ(test, slab->slab_cache, f->cache);
		KUNIT_EXPECT_EQ(test, slab_nid(slab), node_a);
		KUNIT_EXPECT_LT(test, object - slab_address(slab), slab_size(slab));
		KUNIT_EXPECT_EQ(test, reloc_nid(object), node_a);
	}
	free_objects(f);
}

static void functions_for_objects_work(struct kunit *test)
{
	struct fixture *f = test->priv;
	struct list_lru lru;
	struct list_head *item;

	allocate(test, f);
	KUNIT_EXPECT_GE(test, ksize(f->objects[0]), OBJECT_SIZE);
	KUNIT_EXPECT_TRUE(test, kmem_dump_obj(f->objects[0]));

	/* A list_lru keeps the object on the node of its allocation. */
	move_to(test, f, node_b);
	KUNIT_ASSERT_EQ(test, list_lru_init(&lru), 0);
	item = (struct list_head *)f->objects[0];
	INIT_LIST_HEAD(item);
	KUNIT_EXPECT_TRUE(test, list_lru_add_obj(&lru, item));
	KUNIT_EXPECT_EQ(test, list_lru_count_node(&lru, node_a), 1);
	KUNIT_EXPECT_TRUE(test, list_lru_del_obj(&lru, item));
	list_lru_destroy(&lru);

	/* Objects of the arena and others, in one call. */
	kfree(f->objects[0]);
	f->objects[0] = kmalloc(OBJECT_SIZE, GFP_KERNEL);
	KUNIT_ASSERT_NOT_NULL(test, f->objects[0]);
	kfree_bulk(OBJECTS, (void **)f->objects);
}

static void moves_keep_contents_and_addresses(struct kunit *test)
{
	struct fixture *f = test->priv;
	unsigned int pages;

	reloc_settings.precopy = *(const bool *)test->param_value;
	allocate(test, f);
	pages = count_pages_off(f->cache, node_b);
	KUNIT_ASSERT_GE(test, pages, OBJECTS * OBJECT_SIZE / PAGE_SIZE);

	move_to(test, f, node_b);
	KUNIT_EXPECT_EQ(test, f->result.moved, pages);
	KUNIT_EXPECT_GT(test, f->result.longest_pause_ns, 0);
	KUNIT_EXPECT_EQ(test, objects_off(f, node_b), 0);
	KUNIT_EXPECT_EQ(test, wrong_objects(f), 0);
	KUNIT_EXPECT_EQ(test, slab_nid(virt_to_slab(f->objects[0])), node_a);

	move_to(test, f, node_a);
	KUNIT_EXPECT_EQ(test, f->result.moved, 2 * pages);
	KUNIT_EXPECT_EQ(test, objects_off(f, node_a), 0);
	KUNIT_EXPECT_EQ(test, wrong_objects(f), 0);

	/* No page is left to move. */
	move_to(test, f, node_a);
	KUNIT_EXPECT_EQ(test, f->result.moved, 2 * pages);
	free_objects(f);
}

static void other_addresses_do_not_move(struct kunit *test)
{
	struct fixture *f = test->priv;
	void *other = kmalloc(OBJECT_SIZE, GFP_KERNEL);
	void *addrs[4];

	allocate(test, f);
	KUNIT_EXPECT_EQ(test, reloc_move(addrs, 0, NUMA_NO_NODE, &f->result), -EINVAL);

	addrs[0] = f->objects[0];
	addrs[1] = f->objects[0];			/* twice */
	addrs[2] = other;				/* not in the arena */
	addrs[3] = virt_to_slab(f->objects[0]);		/* a descriptor */
	KUNIT_EXPECT_EQ(test, reloc_move(addrs, 4, node_b, &f->result), 0);
	KUNIT_EXPECT_EQ(test, f->result.moved, 1);
	KUNIT_EXPECT_EQ(test, f->result.absent, 3);
	KUNIT_EXPECT_EQ(test, reloc_nid(f->objects[0]), node_b);
	KUNIT_EXPECT_EQ(test, wrong_objects(f), 0);
	free_objects(f);
	kfree(other);
}

/* A thread that uses objects on another CPU. */
struct worker {
	struct fixture *f;
	u64 count[OBJECTS];
	unsigned long loops;
	unsigned long errors;
};

/* Write to objects, and check the values written before. */
static int write_objects(void *data)
{
	struct worker *worker = data;
	unsigned int i;

	while (!kthread_should_stop()) {
		for (i = 0; i < OBJECTS; i++) {
			u64 *object = worker->f->objects[i];

			if (READ_ONCE(*object) != worker->count[i])
				worker->errors++;
			WRITE_ONCE(*object, ++worker->count[i]);
		}
		WRITE_ONCE(worker->loops, worker->loops + 1);
		cond_resched();
	}
	return 0;
}

/* Allocate and free objects, and write to them in between. */
static int churn_objects(void *data)
{
	struct worker *worker = data;
	unsigned int i, start = 0;

	while (!kthread_should_stop()) {
		/* Vary the number, so that slabs are freed, too. */
		for (i = start; i < OBJECTS; i++) {
			u64 *object = worker->f->objects[i];

			if (object) {
				if (!is_filled(object, worker->count[i]))
					worker->errors++;
				kmem_cache_free(worker->f->cache, object);
				worker->f->objects[i] = NULL;
				continue;
			}
			object = kmem_cache_alloc(worker->f->cache, GFP_KERNEL);
			worker->f->objects[i] = object;
			if (object)
				fill(object, ++worker->count[i]);
		}
		start = (start + 7) % OBJECTS;
		WRITE_ONCE(worker->loops, worker->loops + 1);
		cond_resched();
	}
	return 0;
}

static struct worker *start_worker(struct kunit *test, int (*fn)(void *), struct task_struct **task)
{
	struct worker *worker = kunit_kzalloc(test, sizeof(*worker), GFP_KERNEL);
	unsigned int cpu;

	KUNIT_ASSERT_NOT_NULL(test, worker);
	worker->f = test->priv;
	/* The test runs on another CPU than the worker. */
	cpu = cpumask_last(cpu_online_mask);
	set_cpus_allowed_ptr(current, cpumask_of(cpumask_first(cpu_online_mask)));
	*task = kthread_create(fn, worker, "reloc_test");
	KUNIT_ASSERT_FALSE(test, IS_ERR(*task));
	kthread_bind(*task, cpu);
	wake_up_process(*task);
	while (!READ_ONCE(worker->loops))
		fsleep(1000);
	return worker;
}

static void stop_worker(struct worker *worker, struct task_struct *task)
{
	kthread_stop(task);
	set_cpus_allowed_ptr(current, cpu_possible_mask);
}

/* Move back and forth while a thread writes, until it sees an error or to the limit. */
static struct worker *move_while_written(struct kunit *test, unsigned int times)
{
	struct fixture *f = test->priv;
	struct task_struct *task;
	struct worker *worker;
	unsigned int i;

	for (i = 0; i < OBJECTS; i++)
		*f->objects[i] = 0;
	worker = start_worker(test, write_objects, &task);
	for (i = 0; i < times && !READ_ONCE(worker->errors); i++) {
		move_to(test, f, i % 2 ? node_a : node_b);
		fsleep(1000);
	}
	stop_worker(worker, task);
	return worker;
}

static void moves_lose_no_write(struct kunit *test)
{
	struct fixture *f = test->priv;
	struct worker *worker;
	unsigned int i;

	reloc_settings.precopy = *(const bool *)test->param_value;
	allocate(test, f);
	worker = move_while_written(test, ROUNDS);
	KUNIT_EXPECT_EQ(test, worker->errors, 0);
	KUNIT_EXPECT_GE(test, f->result.moved, ROUNDS * OBJECTS * OBJECT_SIZE / PAGE_SIZE);
	/* Objects that no thread writes to keep their values, too. */
	for (i = 0; i < OBJECTS; i++) {
		KUNIT_EXPECT_EQ(test, f->objects[i][0], worker->count[i]);
		f->objects[i][0] = (u64)i * WORDS;
	}
	KUNIT_EXPECT_EQ(test, wrong_objects(f), 0);
	/* Without recopied pages, the second copy was not tested. */
	if (reloc_settings.precopy)
		KUNIT_EXPECT_GT(test, f->result.recopied, 0);
	kunit_info(test, "moved %u, copied again %u, longest pause %llu ns",
		   f->result.moved, f->result.recopied, f->result.longest_pause_ns);
	free_objects(f);
}

static void moves_while_slabs_come_and_go(struct kunit *test)
{
	struct fixture *f = test->priv;
	struct task_struct *task;
	struct worker *worker;
	unsigned int i;

	reloc_settings.precopy = *(const bool *)test->param_value;
	worker = start_worker(test, churn_objects, &task);
	for (i = 0; i < ROUNDS; i++) {
		move_to(test, f, i % 2 ? node_a : node_b);
		if (i % 10 == 0)
			kmem_cache_shrink(f->cache);
		fsleep(1000);
	}
	stop_worker(worker, task);
	KUNIT_EXPECT_EQ(test, worker->errors, 0);
	KUNIT_EXPECT_GT(test, f->result.moved, 0);
	for (i = 0; i < OBJECTS; i++) {
		if (!f->objects[i])
			continue;
		KUNIT_EXPECT_TRUE(test, is_filled(f->objects[i], worker->count[i]));
		kmem_cache_free(f->cache, f->objects[i]);
	}
}

/* Free the old pages that were held in case of stale TLB entries. */
static void free_held(void)
{
	struct page *page, *next;

	reloc_test.skip_recheck = false;
	reloc_test.skip_flush = false;
	reloc_test.hold = false;
	flush_tlb_all();
	list_for_each_entry_safe(page, next, &reloc_test.held, lru) {
		list_del(&page->lru);
		__free_page(page);
	}
}

static void control_a_lost_recheck_is_seen(struct kunit *test)
{
	struct fixture *f = test->priv;
	struct worker *worker;

	allocate(test, f);
	reloc_test.hold = true;
	reloc_test.skip_recheck = true;
	worker = move_while_written(test, ROUNDS);
	free_held();
	KUNIT_EXPECT_GT(test, worker->errors, 0);
	free_objects(f);
}

static void control_a_lost_flush_is_seen(struct kunit *test)
{
	struct fixture *f = test->priv;
	struct worker *worker;

	allocate(test, f);
	reloc_test.hold = true;
	reloc_test.skip_flush = true;
	worker = move_while_written(test, ROUNDS);
	free_held();
	KUNIT_EXPECT_GT(test, worker->errors, 0);
	free_objects(f);
}

static void a_full_node_takes_what_it_can(struct kunit *test)
{
	struct fixture *f = test->priv;
	unsigned int pages;

	allocate(test, f);
	pages = count_pages_off(f->cache, node_b);
	reloc_test.fail_nth = 1;
	move_to(test, f, node_b);
	KUNIT_EXPECT_EQ(test, f->result.moved, 0);
	KUNIT_EXPECT_EQ(test, f->result.no_memory, pages);
	KUNIT_EXPECT_EQ(test, objects_off(f, node_a), 0);
	KUNIT_EXPECT_EQ(test, wrong_objects(f), 0);

	reloc_test.fail_nth = 2;
	move_to(test, f, node_b);
	KUNIT_EXPECT_EQ(test, f->result.moved, pages / 2);
	KUNIT_EXPECT_EQ(test, count_pages_off(f->cache, node_b), pages - pages / 2);
	KUNIT_EXPECT_EQ(test, wrong_objects(f), 0);
	free_objects(f);
}

static void pages_with_an_error_stay(struct kunit *test)
{
	struct fixture *f = test->priv;
	struct page *page;
	unsigned int pages;

	if (!IS_ENABLED(CONFIG_MEMORY_FAILURE))
		kunit_skip(test, "needs CONFIG_MEMORY_FAILURE");
	allocate(test, f);
	pages = count_pages_off(f->cache, node_b);
	mutex_lock(&reloc_mutex);
	page = pte_page(ptep_get(reloc_find_pte(f->objects[0])));
	mutex_unlock(&reloc_mutex);
	SetPageHWPoison(page);
	move_to(test, f, node_b);
	KUNIT_EXPECT_EQ(test, f->result.moved, pages - 1);
	KUNIT_EXPECT_EQ(test, f->result.absent, 1);
	KUNIT_EXPECT_EQ(test, reloc_nid(f->objects[0]), node_a);
	ClearPageHWPoison(page);
	move_to(test, f, node_b);
	KUNIT_EXPECT_EQ(test, f->result.moved, pages);
	KUNIT_EXPECT_EQ(test, wrong_objects(f), 0);
	free_objects(f);
}

static int number_of(const struct kmem_cache *cache)
{
	int number;

	mutex_lock(&reloc_mutex);
	number = reloc_number(cache);
	mutex_unlock(&reloc_mutex);
	return number;
}

static unsigned long moved_down(const struct kmem_cache *cache)
{
	struct reloc_moved moved;

	mutex_lock(&reloc_mutex);
	moved = reloc_moved_of(reloc_number(cache));
	mutex_unlock(&reloc_mutex);
	return moved.down;
}

/* Numbers of caches are used again, as modules create and destroy caches. */
static void destroyed_caches_give_their_numbers_back(struct kunit *test)
{
	struct fixture *f = test->priv;
	int number = number_of(f->cache);
	struct kmem_cache *first, *cache;
	unsigned int i;

	KUNIT_ASSERT_GE(test, number, 0);
	for (i = 0; i < 2 * RELOC_COUNTED; i++) {
		first = kmem_cache_create("reloc_first", OBJECT_SIZE, 0, SLAB_RELOC, NULL);
		cache = kmem_cache_create("reloc_second", OBJECT_SIZE, 0, SLAB_RELOC, NULL);
		KUNIT_ASSERT_NOT_NULL(test, first);
		KUNIT_ASSERT_NOT_NULL(test, cache);
		number = number_of(first);
		KUNIT_EXPECT_GE(test, number, 0);
		mutex_lock(&reloc_mutex);
		reloc_count_moved(first, node_b);
		mutex_unlock(&reloc_mutex);
		number = number_of(cache);
		KUNIT_EXPECT_GE(test, number, 0);
		kmem_cache_destroy(first);
		/* Another cache keeps its number. */
		KUNIT_EXPECT_EQ(test, number_of(cache), number);
		kmem_cache_destroy(cache);
	}
	/* The counts of the other caches are reset. */
	if (number >= 0)
		KUNIT_EXPECT_EQ(test, moved_down(f->cache), 0);
}

static void a_pause_ends_in_time(struct kunit *test)
{
	struct fixture *f = test->priv;
	unsigned int pages;

	allocate(test, f);
	pages = count_pages_off(f->cache, node_b);

	/* No page can move in no time. */
	reloc_settings.max_pause_us = 0;
	move_to(test, f, node_b);
	KUNIT_EXPECT_EQ(test, f->result.moved, 0);
	KUNIT_EXPECT_GT(test, f->result.late, 0);
	KUNIT_EXPECT_EQ(test, objects_off(f, node_a), 0);
	KUNIT_EXPECT_EQ(test, wrong_objects(f), 0);

	reloc_settings.max_pause_us = LONG_PAUSE_US;
	move_to(test, f, node_b);
	KUNIT_EXPECT_EQ(test, f->result.moved, pages);
	KUNIT_EXPECT_EQ(test, wrong_objects(f), 0);
	free_objects(f);
}

/* Allocate enough objects on node_a to fill a few chunks. */
#define MANY		(4 * RELOC_CHUNK_SIZE / OBJECT_SIZE)

static void **allocate_many(struct kunit *test)
{
	struct fixture *f = test->priv;
	void **many = kvcalloc(MANY, sizeof(*many), GFP_KERNEL);
	unsigned int i;

	KUNIT_ASSERT_NOT_NULL(test, many);
	for (i = 0; i < MANY; i++) {
		many[i] = kmem_cache_alloc_node(f->cache, GFP_KERNEL, node_a);
		KUNIT_EXPECT_TRUE(test, is_reloc_addr(many[i]));
	}
	return many;
}

static void free_many(struct kunit *test, void **many)
{
	struct fixture *f = test->priv;
	unsigned int i;

	for (i = 0; i < MANY; i++)
		kmem_cache_free(f->cache, many[i]);
	kmem_cache_shrink(f->cache);
	reloc_flush_freed();
}

/* Slabs of other caches may come and go in the meantime. */
#define OTHER_PAGES	(RELOC_CHUNK_PAGES / 2)

static void memory_is_given_back(struct kunit *test)
{
	long chunks = atomic_long_read(&reloc_stats.chunks);
	long pages = atomic_long_read(&reloc_stats.pages);
	struct fixture *f = test->priv;
	struct slabinfo info = {};
	void **many, *last;

	many = allocate_many(test);
	KUNIT_EXPECT_GE(test, atomic_long_read(&reloc_stats.chunks), chunks + 4);
	KUNIT_EXPECT_GE(test, atomic_long_read(&reloc_stats.pages),
			pages + 4 * RELOC_CHUNK_PAGES - OTHER_PAGES);
	last = many[MANY - 1];
	KUNIT_EXPECT_EQ(test, reloc_nid(last), node_a);

	free_many(test, many);
	/* One empty chunk of this order may stay. */
	KUNIT_EXPECT_LE(test, atomic_long_read(&reloc_stats.chunks), chunks + 1);
	get_slabinfo(f->cache, &info);
	KUNIT_EXPECT_EQ(test, info.num_slabs, 0);
	KUNIT_EXPECT_LE(test, abs(atomic_long_read(&reloc_stats.pages) - pages), OTHER_PAGES);
	KUNIT_EXPECT_EQ(test, reloc_nid(last), NUMA_NO_NODE);
	kvfree(many);
}

/* Count objects whose addresses have descriptors, in slabs or empty chunks. */
static unsigned int valid_objects(void **many)
{
	unsigned int i, valid = 0;

	for (i = 0; i < MANY; i++)
		valid += kmem_addr_valid(many[i]);
	return valid;
}

/*
 * The worker that frees page tables waits for walks of page tables. Until then the
 * chunks stay mapped, but their addresses are not valid any more.
 */
static void chunks_are_invalid_before_they_are_unmapped(struct kunit *test)
{
	void **many = allocate_many(test);
	long chunks = atomic_long_read(&reloc_stats.chunks);
	unsigned int i;

	KUNIT_EXPECT_EQ(test, valid_objects(many), MANY);
	mmap_write_lock(&init_mm);
	for (i = 0; i < MANY; i++)
		kmem_cache_free(((struct fixture *)test->priv)->cache, many[i]);
	/* Others may wait for the lock before the worker does. */
	for (i = 0; i < 10000 && valid_objects(many) == MANY; i++)
		fsleep(1000);
	KUNIT_EXPECT_EQ(test, atomic_long_read(&reloc_stats.chunks), chunks);
	/* The worker waits with the first chunks that are empty; other slabs come later. */
	KUNIT_EXPECT_LT(test, valid_objects(many), MANY);
	mmap_write_unlock(&init_mm);
	/* This takes cpu_hotplug_lock, under which pages move and take the other lock. */
	kmem_cache_shrink(((struct fixture *)test->priv)->cache);
	reloc_flush_freed();
	KUNIT_EXPECT_LE(test, atomic_long_read(&reloc_stats.chunks), chunks - 3);
	kvfree(many);
}

static long slab_pages(int nid)
{
	return node_page_state_pages(NODE_DATA(nid), NR_SLAB_UNRECLAIMABLE_B);
}

/* Slabs count on the node of their allocation. Per-CPU counts may lag behind. */
static void statistics_stay(struct kunit *test)
{
	struct slabinfo before = {}, after = {};
	struct fixture *f = test->priv;
	long a = slab_pages(node_a), b = slab_pages(node_b);
	long pages = MANY * OBJECT_SIZE / PAGE_SIZE, slack = pages / 4;
	void **many = allocate_many(test);

	get_slabinfo(f->cache, &before);
	KUNIT_EXPECT_GE(test, before.active_objs, MANY);
	KUNIT_EXPECT_GE(test, slab_pages(node_a) - a, pages - slack);

	move_to(test, f, node_b);
	KUNIT_EXPECT_GE(test, f->result.moved, pages);
	get_slabinfo(f->cache, &after);
	KUNIT_EXPECT_EQ(test, after.active_objs, before.active_objs);
	KUNIT_EXPECT_EQ(test, after.num_objs, before.num_objs);
	KUNIT_EXPECT_EQ(test, after.num_slabs, before.num_slabs);
	KUNIT_EXPECT_GE(test, slab_pages(node_a) - a, pages - slack);
	KUNIT_EXPECT_LE(test, slab_pages(node_b) - b, slack);

	free_many(test, many);
	get_slabinfo(f->cache, &after);
	KUNIT_EXPECT_EQ(test, after.num_slabs, 0);
	KUNIT_EXPECT_LE(test, slab_pages(node_a) - a, slack);
	KUNIT_EXPECT_GE(test, slab_pages(node_b) - b, -slack);
	kvfree(many);
}

#include "use-kunit.h"

static int reloc_test_begin(struct kunit *test)
{
	struct fixture *f = kunit_kzalloc(test, sizeof(*f), GFP_KERNEL);

	if (!f)
		return -ENOMEM;
	node_a = first_node(node_states[N_MEMORY]);
	node_b = next_node(node_a, node_states[N_MEMORY]);
	if (node_b == MAX_NUMNODES || num_online_cpus() < 2)
		kunit_skip(test, "needs two nodes with memory, and two CPUs");
	f->cache = kmem_cache_create("reloc_test", OBJECT_SIZE, 0, SLAB_RELOC, NULL);
	if (!f->cache)
		return -ENOMEM;
	reloc_settings.precopy = true;
	reloc_settings.max_pause_us = LONG_PAUSE_US;
	test->priv = f;
	return 0;
}

static struct reloc_settings saved_settings;

static void reloc_test_end(struct kunit *test)
{
	struct fixture *f = test->priv;

	reloc_test.fail_nth = 0;
	free_held();
	if (!f)
		return;
	kmem_cache_destroy(f->cache);
	reloc_flush_freed();
}

static int reloc_suite_begin(struct kunit_suite *suite)
{
	saved_settings = reloc_settings;
	return 0;
}

static void reloc_suite_end(struct kunit_suite *suite)
{
	reloc_settings = saved_settings;
}

static const bool copies[] = { true, false };

static void copy_name(const bool *precopy, char *name)
{
	strscpy(name, *precopy ? "copied before the pause" : "copied in the pause",
		KUNIT_PARAM_DESC_SIZE);
}

KUNIT_ARRAY_PARAM(copy, copies, copy_name);

static struct kunit_case reloc_cases[] = {
	KUNIT_CASE(addresses_are_in_the_arena),
	KUNIT_CASE(functions_for_objects_work),
	KUNIT_CASE_PARAM(moves_keep_contents_and_addresses, copy_gen_params),
	KUNIT_CASE(other_addresses_do_not_move),
	KUNIT_CASE_PARAM(moves_lose_no_write, copy_gen_params),
	KUNIT_CASE_PARAM(moves_while_slabs_come_and_go, copy_gen_params),
	KUNIT_CASE(control_a_lost_recheck_is_seen),
	KUNIT_CASE(control_a_lost_flush_is_seen),
	KUNIT_CASE(a_full_node_takes_what_it_can),
	KUNIT_CASE(pages_with_an_error_stay),
	KUNIT_CASE(destroyed_caches_give_their_numbers_back),
	KUNIT_CASE(a_pause_ends_in_time),
	KUNIT_CASE(memory_is_given_back),
	KUNIT_CASE(chunks_are_invalid_before_they_are_unmapped),
	KUNIT_CASE(statistics_stay),
	KUNIT_CASE(uses_are_noted),
	KUNIT_CASE(a_stay_is_noted),
	KUNIT_CASE(pages_are_counted_where_they_are),
	KUNIT_CASE(demoted_slabs_get_no_new_objects),
	KUNIT_CASE(pages_are_demoted_one_by_one),
	KUNIT_CASE(cold_objects_are_apart),
	{}
};

static struct kunit_suite reloc_suite = {
	.name = "reloc",
	.suite_init = reloc_suite_begin,
	.suite_exit = reloc_suite_end,
	.init = reloc_test_begin,
	.exit = reloc_test_end,
	.test_cases = reloc_cases,
};

kunit_test_suite(reloc_suite);

#endif /* _MM_RELOC_MOVE_KUNIT_H */
