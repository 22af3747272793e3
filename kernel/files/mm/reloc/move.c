// SPDX-License-Identifier: GPL-2.0
/*
 * Relocatable slabs: move pages to another node while their objects are in use.
 *
 * The mover copies a batch of pages while all CPUs run. The dirty bit of each PTE shows
 * whether a page was written to since. Then all CPUs stop, copy the dirty pages again,
 * map the new pages and flush their TLBs. Without dirty bits, the CPUs copy all pages
 * while they are stopped.
 */
#include <linux/cpu.h>
#include <linux/gfp.h>
#include <linux/minmax.h>
#include <linux/mm.h>
#include <linux/nodemask.h>
#include <linux/sched.h>
#include <linux/sched/clock.h>
#include <linux/smp.h>
#include <linux/stop_machine.h>
#include <linux/tiering_slab.h>
#include <linux/timekeeping.h>

#include "../slab.h"
#include "reloc.h"

/* The largest, and the initial, number of pages in a pause. */
#define RELOC_BATCH_MAX		256U
#define RELOC_BATCH_FIRST	16U

/* Consecutive batches without a move before reloc_move() gives up. */
#define RELOC_FUTILE		8

/* Protects the PTEs of slabs from changes, except the mapping of a new slab. */
DEFINE_MUTEX(reloc_mutex);

struct reloc_settings reloc_settings = {
	.max_pause_us = 100,
	.precopy = true,
};

/* Pages in the next pause. Protected by reloc_mutex. */
static unsigned int reloc_batch_size = RELOC_BATCH_FIRST;

/**
 * struct reloc_item - a page to move
 * @addr: address of the page in the arena
 * @cache: cache of the page, only compared
 * @ptep: PTE of the page
 * @from: the page that is mapped
 * @to: the new page on the target node
 * @moved: @to is mapped now
 * @recopied: the page was copied again in the pause
 */
struct reloc_item {
	unsigned long addr;
	struct kmem_cache *cache;
	pte_t *ptep;
	struct page *from;
	struct page *to;
	bool moved;
	bool recopied;
};

/**
 * struct reloc_batch - the pages that move in one pause
 * @nr: entries of @items
 * @precopied: the pages were copied before the pause
 * @reason: reason of the move, see struct tiering_use
 * @max_ns: time after which the pause ends without further pages
 * @next: index of the next item that no CPU has taken
 * @mapped: number of CPUs that have finished copying and mapping
 * @begin: time when the first CPU entered the pause
 * @end: time when the last CPU left the pause
 * @items: the pages
 */
struct reloc_batch {
	unsigned int nr;
	bool precopied;
	u8 reason;
	u64 max_ns;
	atomic_t next;
	atomic_t mapped;
	atomic64_t begin;
	atomic64_t end;
	struct reloc_item items[RELOC_BATCH_MAX];
};

#ifdef CONFIG_RELOC_SLAB_KUNIT_TEST
struct reloc_test reloc_test = { .held = LIST_HEAD_INIT(reloc_test.held) };

static bool reloc_test_skips_recheck(void)
{
	return READ_ONCE(reloc_test.skip_recheck);
}

static bool reloc_test_skips_flush(void)
{
	return READ_ONCE(reloc_test.skip_flush);
}

static bool reloc_test_fails(void)
{
	static unsigned int count;

	return reloc_test.fail_nth && ++count % reloc_test.fail_nth == 0;
}

static bool reloc_test_holds(struct page *page)
{
	if (!reloc_test.hold)
		return false;
	memset(page_address(page), POISON_FREE, PAGE_SIZE);
	list_add(&page->lru, &reloc_test.held);
	return true;
}
#else
static bool reloc_test_skips_recheck(void)
{
	return false;
}

static bool reloc_test_skips_flush(void)
{
	return false;
}

static bool reloc_test_fails(void)
{
	return false;
}

static bool reloc_test_holds(struct page *page)
{
	return false;
}
#endif

/* Flush the pages of a batch from the TLB of this CPU. */
static void reloc_flush_batch(void *data)
{
	struct reloc_batch *batch = data;
	unsigned int i;

	if (batch->nr > RELOC_FLUSH_SINGLE) {
		reloc_flush_all();
		return;
	}
	for (i = 0; i < batch->nr; i++)
		reloc_flush_page(batch->items[i].addr);
}

static struct page *reloc_alloc_target(struct kmem_cache *cache, int nid)
{
	/* The caller decides whether to make room on the node. */
	gfp_t gfp = (GFP_KERNEL | __GFP_THISNODE | __GFP_NOWARN | __GFP_NORETRY) &
		    ~__GFP_RECLAIM;
	unsigned long tag;
	struct page *page;

	if (reloc_test_fails())
		return NULL;
	tag = kloc_machine_tag_save_slab(cache);
	page = __alloc_pages_node(nid, gfp, 0);
	kloc_machine_tag_restore(tag);
	if (page)
		reloc_mark(page, cache);
	return page;
}

/* Add a page to a batch unless it is on the node. Return: false if the node is full. */
static bool reloc_add(struct reloc_batch *batch, void *addr, int nid,
		      struct reloc_result *result)
{
	struct reloc_item *item = &batch->items[batch->nr];
	pte_t *ptep = reloc_find_pte(addr);
	unsigned int i;

	if (!ptep) {
		result->absent++;
		return true;
	}
	/* No page may move twice in a batch. */
	for (i = 0; i < batch->nr; i++) {
		if (batch->items[i].ptep == ptep) {
			result->absent++;
			return true;
		}
	}
	*item = (struct reloc_item) {
		.addr = (unsigned long)addr & PAGE_MASK,
		.cache = reloc_cache_of(reloc_desc(addr)),
		.ptep = ptep,
		.from = pte_page(ptep_get(ptep)),
	};
	if (page_to_nid(item->from) == nid)
		return true;
	/* Copying a page with a memory error could stop the machine. */
	if (PageHWPoison(item->from)) {
		result->absent++;
		return true;
	}
	item->to = reloc_alloc_target(item->cache, nid);
	if (!item->to)
		return false;
	batch->nr++;
	return true;
}

static void reloc_copy(struct reloc_item *item)
{
	copy_page(page_address(item->to), page_address(item->from));
}

#ifdef RELOC_HAS_DIRTY_BIT
static bool reloc_was_written(struct reloc_item *item)
{
	return pte_dirty(ptep_get(item->ptep));
}

/*
 * Copy while all CPUs run. The dirty bits show afterwards which pages were written to.
 */
static void reloc_precopy(struct reloc_batch *batch)
{
	unsigned int i;

	batch->precopied = READ_ONCE(reloc_settings.precopy);
	if (!batch->precopied)
		return;
	for (i = 0; i < batch->nr; i++)
		reloc_pte_clean(batch->items[i].ptep);
	/* A CPU with a dirty TLB entry would not set the bit again. */
	on_each_cpu(reloc_flush_batch, batch, 1);
	for (i = 0; i < batch->nr; i++)
		reloc_copy(&batch->items[i]);
}
#else
static bool reloc_was_written(struct reloc_item *item)
{
	return true;
}

static void reloc_precopy(struct reloc_batch *batch)
{
}
#endif

static void reloc_map(struct reloc_batch *batch, struct reloc_item *item)
{
	pte_t pte = mk_pte(item->to, PAGE_KERNEL);

	if (!batch->precopied ||
	    (reloc_was_written(item) && !reloc_test_skips_recheck())) {
		reloc_copy(item);
		item->recopied = batch->precopied;
	}
	/* Keep the accessed bit: a move is not a use. */
	if (!pte_young(ptep_get(item->ptep)))
		pte = pte_mkold(pte);
	set_pte(item->ptep, pte);
	item->moved = true;
}

/*
 * Map the new pages, on all CPUs at once, with interrupts off. Nothing here may
 * touch an object in the arena.
 */
static int reloc_map_stopped(void *data)
{
	struct reloc_batch *batch = data;
	u64 begin = ktime_get_mono_fast_ns();
	unsigned int i;
	s64 end;

	atomic64_cmpxchg(&batch->begin, 0, begin);
	begin = atomic64_read(&batch->begin);

	while ((i = atomic_fetch_inc(&batch->next)) < batch->nr &&
	       ktime_get_mono_fast_ns() - begin < batch->max_ns)
		reloc_map(batch, &batch->items[i]);

	/*
	 * Wait for all CPUs: a flushed TLB must not load a PTE that is still to change.
	 */
	atomic_inc_return(&batch->mapped);
	while (atomic_read_acquire(&batch->mapped) < num_online_cpus())
		cpu_relax();
	if (!reloc_test_skips_flush())
		reloc_flush_batch(batch);

	begin = ktime_get_mono_fast_ns();
	end = atomic64_read(&batch->end);
	while (end < (s64)begin && !atomic64_try_cmpxchg(&batch->end, &end, begin))
		;
	return 0;
}

static void reloc_map_batch(struct reloc_batch *batch)
{
	u64 begin = ktime_get_ns();

	stop_machine_cpuslocked(reloc_map_stopped, batch, cpu_online_mask);
	reloc_stats.longest_stop_ns = max(reloc_stats.longest_stop_ns, ktime_get_ns() - begin);
}

static void reloc_count_move(const struct reloc_batch *batch, const struct reloc_item *item)
{
	struct reloc_page *page = reloc_page_of((void *)item->addr);

	tiering_slab_stay_over(page, false);
	tiering_use_move(&page->use, batch->reason);
	page->age = 0;
	WRITE_ONCE(page->nid, page_to_nid(item->to));
	reloc_count_moved(item->cache, page_to_nid(item->to));
	reloc_count_on(page_to_nid(item->from), -1);
	reloc_count_on(page_to_nid(item->to), 1);
}

/* Free the pages that are no longer mapped, and update the counters. */
static void reloc_finish(struct reloc_batch *batch, struct reloc_result *result)
{
	u64 pause = atomic64_read(&batch->end) - atomic64_read(&batch->begin);
	unsigned int i, moved = 0, recopied = 0;

	for (i = 0; i < batch->nr; i++) {
		struct reloc_item *item = &batch->items[i];
		struct page *old = item->moved ? item->from : item->to;

		if (item->moved)
			reloc_count_move(batch, item);
		moved += item->moved;
		recopied += item->recopied;
		reloc_unmark(old);
		if (!item->moved || !reloc_test_holds(old))
			__free_page(old);
	}
	result->moved += moved;
	result->recopied += recopied;
	result->late += batch->nr - moved;
	result->longest_pause_ns = max(result->longest_pause_ns, pause);

	reloc_stats.moved += moved;
	reloc_stats.recopied += recopied;
	reloc_stats.late += batch->nr - moved;
	reloc_stats.batches++;
	reloc_stats.pause_ns += pause;
	reloc_stats.longest_pause_ns = max(reloc_stats.longest_pause_ns, pause);

	/* Aim at half of the time, as the number of pages to copy again varies. */
	if (moved < batch->nr || pause > batch->max_ns)
		reloc_batch_size = max(reloc_batch_size / 2, 1U);
	else if (batch->nr == reloc_batch_size && pause < batch->max_ns / 2)
		reloc_batch_size = min(reloc_batch_size * 2, RELOC_BATCH_MAX);
}

/*
 * Move a batch. Return: the number of addresses consumed. The lock of CPU hotplug comes
 * before reloc_mutex, because debugfs takes slab_mutex between them.
 */
static unsigned int reloc_move_batch(struct reloc_batch *batch, void *const *addrs,
				     unsigned int nr, int nid, struct reloc_result *result)
{
	unsigned int i;

	batch->nr = 0;
	batch->precopied = false;
	batch->max_ns = (u64)READ_ONCE(reloc_settings.max_pause_us) * NSEC_PER_USEC;
	atomic_set(&batch->next, 0);
	atomic_set(&batch->mapped, 0);
	atomic64_set(&batch->begin, 0);
	atomic64_set(&batch->end, 0);

	mutex_lock(&reloc_mutex);
	for (i = 0; i < nr && batch->nr < reloc_batch_size; i++) {
		if (!reloc_add(batch, addrs[i], nid, result)) {
			result->no_memory++;
			reloc_stats.no_memory++;
		}
	}
	if (batch->nr) {
		reloc_precopy(batch);
		reloc_map_batch(batch);
		reloc_finish(batch, result);
	}
	mutex_unlock(&reloc_mutex);
	return i;
}

static int reloc_move_in_batches(void *const *addrs, unsigned int nr, int nid,
				 u8 reason, struct reloc_result *result, bool try)
{
	struct reloc_batch *batch;
	unsigned int futile = 0;
	int error = 0;

	if (nid < 0 || nid >= MAX_NUMNODES || !node_state(nid, N_MEMORY))
		return -EINVAL;
	batch = kmalloc(sizeof(*batch), GFP_KERNEL);
	if (!batch)
		return -ENOMEM;

	batch->reason = reason;
	while (nr && futile < RELOC_FUTILE) {
		unsigned int moved = result->moved, n;

		if (!try) {
			cpus_read_lock();
		} else if (!cpus_read_trylock()) {
			error = -EAGAIN;
			break;
		}
		n = reloc_move_batch(batch, addrs, nr, nid, result);
		cpus_read_unlock();

		futile = result->moved == moved ? futile + 1 : 0;
		addrs += n;
		nr -= n;
		cond_resched();
	}
	kfree(batch);
	if (nr && !error)
		error = -EAGAIN;
	return error;
}

/**
 * reloc_move() - move pages of the arena to a node
 * @addrs: addresses of the arena, each in another page
 * @nr: number of addresses
 * @nid: the node
 * @result: counts of the outcome; this call adds to them
 *
 * Skips pages that are on the node already. All CPUs pause for each batch of pages. The
 * size of batches aims at pauses of half the setting max_pause_us. Pages that are left
 * in a batch after max_pause_us do not move, and count as late.
 *
 * Context: process; takes the lock of CPU hotplug.
 * Return: 0, -EINVAL if @nid has no memory, -ENOMEM, or -EAGAIN if some addresses are
 *	   left because several batches moved nothing.
 */
int reloc_move(void *const *addrs, unsigned int nr, int nid, struct reloc_result *result)
{
	return reloc_move_in_batches(addrs, nr, nid, 0, result, false);
}

/**
 * reloc_try_move() - move pages, unless CPU hotplug is locked
 * @addrs: as for reloc_move()
 * @nr: as for reloc_move()
 * @nid: as for reloc_move()
 * @reason: reason of the move, see struct tiering_use
 * @result: as for reloc_move()
 *
 * Context: process; for threads that others stop with CPU hotplug locked.
 * Return: as reloc_move(); also -EAGAIN if CPU hotplug is locked.
 */
int reloc_try_move(void *const *addrs, unsigned int nr, int nid, u8 reason,
		   struct reloc_result *result)
{
	return reloc_move_in_batches(addrs, nr, nid, reason, result, true);
}

#ifdef CONFIG_RELOC_SLAB_KUNIT_TEST
#include "tests/move-kunit.h"
#endif
