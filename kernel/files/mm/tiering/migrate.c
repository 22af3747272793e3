// SPDX-License-Identifier: GPL-2.0
/*
 * Policies of memory tiers: moving folios. Only this file touches LRU lists.
 *
 * Folios are isolated from their LRU lists into a batch, which then migrates in one go.
 * A page cache folio is checked again under its lock: if it was truncated since the
 * walk found it, it does not enter the batch.
 */
#include <linux/buffer_head.h>
#include <linux/fs.h>
#include <linux/memcontrol.h>
#include <linux/memory-tiers.h>
#include <linux/migrate.h>
#include <linux/mm.h>
#include <linux/mm_inline.h>
#include <linux/pagemap.h>
#include <linux/rcupdate.h>
#include <linux/sched.h>
#include <linux/sched/sysctl.h>
#include <linux/swap.h>
#include <linux/tiering.h>
#include <linux/vmstat.h>

#include "../internal.h"
#include "internal.h"

#define CREATE_TRACE_POINTS
#include <trace/events/tiering.h>

/* The largest number of folios of an LRU list that are checked under its lock. */
#define TIERING_LOOK	32

/* Get the number of pages after which a batch is full. */
static long tiering_most(const struct tiering_batch *b)
{
	return min_t(long, b->most ?: TIERING_BATCH, b->room);
}

/* Test whether no further folio fits. */
static bool tiering_has_all(const struct tiering_batch *b)
{
	return b->closed || b->pages >= tiering_most(b);
}

/**
 * tiering_batch_full() - test whether a batch is full or has spent its checks
 * @b: the batch
 *
 * Return: true if no further folio fits, or TIERING_BATCH_LOOKS entries were checked.
 */
bool tiering_batch_full(const struct tiering_batch *b)
{
	return tiering_has_all(b) || b->looks >= TIERING_BATCH_LOOKS;
}

/*
 * Test whether a folio fits. A folio that does not fit closes a batch that has pages,
 * and is the first of the next batch. An empty batch skips it.
 */
static bool tiering_fits(struct tiering_batch *b, struct folio *folio)
{
	long pages = b->pages + folio_nr_pages(folio);

	if (!b->pages && b->may_exceed)
		return true;
	if (pages <= b->room && (pages <= tiering_most(b) || !b->pages))
		return true;
	b->closed = b->pages;
	return false;
}

/*
 * Test whether a file system holds the buffers of a folio, so that migration would
 * fail: block devices, and ext4 files with journalled data. Trying to migrate such a
 * folio interrupts all CPUs.
 */
static bool tiering_has_held_buffers(struct folio *folio)
{
	const struct address_space_operations *ops = folio->mapping->a_ops;
	struct buffer_head *bh, *head = folio_buffers(folio);

	if (ops->migrate_folio != buffer_migrate_folio_norefs)
		return false;

	for (bh = head; bh; bh = bh->b_this_page == head ? NULL
							  : bh->b_this_page)
		if (atomic_read(&bh->b_count))
			return true;
	return false;
}

/* Test whether a locked folio may be moved. If not, set @why_not to the reason. */
static bool tiering_may_move(struct folio *folio,
			     const struct address_space *mapping,
			     enum tiering_event *why_not)
{
	*why_not = TIERING_NOT_BUSY;
	if (folio_test_writeback(folio) || !folio->mapping ||
	    (mapping && folio->mapping != mapping))
		return false;
	*why_not = TIERING_NOT_MOVABLE;
	/* A folio becomes unevictable some time after mlock(). */
	if (folio_test_unevictable(folio) || folio_test_mlocked(folio))
		return false;
	if (folio_test_anon(folio))
		return true;
	if (mapping_inaccessible(folio->mapping))
		return false;
	return !IS_ENABLED(CONFIG_BUFFER_HEAD) || !tiering_has_held_buffers(folio);
}

#ifdef CONFIG_MEMCG
/* Calculate the protection of all ancestors, from the top down. */
static void tiering_calculate_protection(struct mem_cgroup *memcg)
{
	struct cgroup *group = memcg->css.cgroup;
	struct cgroup_subsys_state *css;
	int level;

	for (level = 1; level <= group->level; level++) {
		css = rcu_dereference(group->ancestors[level]->subsys[memory_cgrp_id]);
		if (css)
			mem_cgroup_calculate_protection(NULL, mem_cgroup_from_css(css));
	}
}
#else
static void tiering_calculate_protection(struct mem_cgroup *memcg)
{
}
#endif

/**
 * tiering_spares() - test whether memory.min or memory.low protects a cgroup
 * @b: the batch
 * @memcg: the cgroup, NULL for none; the caller keeps it alive
 *
 * Demotion spares a protected cgroup, as reclaim does. A limit of fast memory
 * overrides the protection.
 *
 * Return: true if the batch must not demote pages of the cgroup.
 */
bool tiering_spares(struct tiering_batch *b, struct mem_cgroup *memcg)
{
	if (!memcg || b->promote || b->why == TIERING_DEMOTED_LIMIT)
		return false;
	if (b->memcg == memcg)
		return b->spared;
	rcu_read_lock();
	tiering_calculate_protection(memcg);
	rcu_read_unlock();
	b->memcg = memcg;
	b->spared = mem_cgroup_below_min(NULL, memcg) ||
		    mem_cgroup_below_low(NULL, memcg);
	return b->spared;
}

/*
 * Move a folio from its LRU list into a batch, and drop the caller's reference. The
 * folio must belong to @mapping, unless @mapping is NULL. Return: true if it was taken.
 */
static bool tiering_take(struct tiering_node *tn, struct tiering_batch *b,
			 struct folio *folio, const struct address_space *mapping)
{
	enum tiering_event why_not = TIERING_NOT_BUSY;
	unsigned int pages = folio_nr_pages(folio);
	bool taken = false;

	if (!folio_trylock(folio))
		goto out;
	if (!b->promote && !folio_test_anon(folio) &&
	    b->why != TIERING_DEMOTED_LIMIT && tiering_page_pinned(folio)) {
		why_not = TIERING_NOT_PINNED;
	} else if (tiering_spares(b, folio_memcg(folio))) {
		why_not = TIERING_NOT_PROTECTED;
	} else if (tiering_may_move(folio, mapping, &why_not)) {
		why_not = TIERING_NOT_LIMIT;
		if (!b->promote || tiering_memcg_may_promote(folio, b->pages)) {
			why_not = TIERING_NOT_BUSY;
			taken = folio_isolate_lru(folio);
		}
	}
	folio_unlock(folio);
out:
	if (taken) {
		/* A promoted folio was used: put it back among the youngest. */
		if (b->promote && !folio_test_unevictable(folio))
			folio_set_active(folio);
		/* Large folios last: a failed allocation stops the folios after it. */
		if (folio_test_large(folio))
			list_add_tail(&folio->lru, &b->folios);
		else
			list_add(&folio->lru, &b->folios);
		node_stat_mod_folio(folio, NR_ISOLATED_ANON +
				    folio_is_file_lru(folio), pages);
		b->pages += pages;
	} else {
		tiering_count(why_not, b->kind, pages);
		if (!folio_test_lru(folio) && !READ_ONCE(tn->undrained))
			WRITE_ONCE(tn->undrained, true);
	}
	folio_put(folio);
	return taken;
}

/*
 * Take the chosen ones of the folios that a walk has found. The walk continues with the
 * first folio that does not fit.
 */
static void tiering_take_found(struct tiering_node *tn, struct tiering_batch *b,
			       struct tiering_walk *walk, struct folio **folios,
			       unsigned int count, tiering_choose_t choose)
{
	unsigned int i;

	for (i = 0; i < count; i++) {
		if (!tiering_fits(b, folios[i])) {
			if (b->closed)
				break;
			folio_put(folios[i]);
			walk->left = true;
		} else if (choose && !choose(tn, folios[i])) {
			folio_put(folios[i]);
			walk->left = true;
		} else if (tiering_take(tn, b, folios[i], walk->mapping)) {
			walk->taken = true;
		} else {
			walk->left = true;
		}
	}
	if (i == count)
		return;
	walk->index = folios[i]->index;
	walk->done = false;
	for (; i < count; i++)
		folio_put(folios[i]);
}

/**
 * tiering_take_knode() - take folios of a context into a batch
 * @tn: the node to demote from or to promote to
 * @b: the batch
 * @walk: walk over the context; sets @walk->left if some folios were not taken
 * @choose: selects folios, NULL for all
 *
 * Stops when the walk is over, or when the batch is full or has spent its checks; then
 * sets @b->more. Takes nothing of a context whose kind is excluded.
 *
 * Context: may sleep.
 */
void tiering_take_knode(struct tiering_node *tn, struct tiering_batch *b,
			struct tiering_walk *walk, tiering_choose_t choose)
{
	struct folio *folios[TIERING_WALK];

	b->kind = tiering_grouping->kind(walk->knode);
	if (!tiering_takes_part(b->kind)) {
		walk->left = true;
		walk->done = true;
	}
	while (!walk->done && !tiering_batch_full(b)) {
		unsigned long looks = walk->looks;
		unsigned int count = tiering_grouping->walk(walk, folios);

		tiering_take_found(tn, b, walk, folios, count, choose);
		b->looks += walk->looks - looks;
		cond_resched();
	}
	b->more |= !walk->done;
}

/* Get the page frame of the folio that waits first for its promotion. It keeps its place. */
static bool tiering_first_hot(struct tiering_node *tn, unsigned long *pfn)
{
	bool found;

	spin_lock(&tn->lock);
	found = tn->hot_count;
	if (found)
		*pfn = tn->hot[tn->hot_first];
	spin_unlock(&tn->lock);
	return found;
}

/* Remove what waits first. Only the daemon does so: it is what it has looked at. */
static void tiering_remove_hot(struct tiering_node *tn)
{
	spin_lock(&tn->lock);
	if (tn->hot_count) {
		tn->hot_first = (tn->hot_first + 1) % TIERING_HOT;
		WRITE_ONCE(tn->hot_count, tn->hot_count - 1);
	}
	spin_unlock(&tn->lock);
}

/*
 * Get and hold the page cache folio at a page frame, or with hint faults any folio; NULL
 * if there is none now.
 */
static struct folio *tiering_get_folio(unsigned long pfn)
{
	struct page *page = pfn_to_online_page(pfn);
	struct folio *folio;

	if (!page || PageTail(page))
		return NULL;
	folio = page_folio(page);
	if (!folio_test_lru(folio) || !folio_try_get(folio))
		return NULL;
	if (page_folio(page) == folio && folio_test_lru(folio) &&
	    (tiering_is_hinting() || !folio_test_anon(folio)))
		return folio;
	folio_put(folio);
	return NULL;
}

/**
 * tiering_hot_waits() - test whether a folio waits for its promotion
 * @tn: the node to promote to
 *
 * Removes those from the queue that were freed or moved meanwhile.
 *
 * Context: the daemon of @tn.
 * Return: true if one does.
 */
bool tiering_hot_waits(struct tiering_node *tn)
{
	unsigned int tries = TIERING_HOT;
	unsigned long pfn;

	while (tries-- && tiering_first_hot(tn, &pfn)) {
		struct folio *folio = tiering_get_folio(pfn);
		bool waits = false;

		if (folio) {
			waits = tiering_is_slow(folio_nid(folio)) &&
				(!tiering_is_hinting() || tiering_page_was_used(folio));
			folio_put(folio);
		}
		if (waits)
			return true;
		tiering_remove_hot(tn);
	}
	return false;
}

/* Test whether a folio that waited since its hint fault may come. */
static bool tiering_hot_may_come(struct tiering_node *tn, const struct tiering_batch *b,
				 struct folio *folio)
{
	/* Another folio may be there by now, which nobody wants in fast memory. */
	if (!tiering_page_was_used(folio))
		return false;
	return tiering_limit_may_promote(tn->nid, folio, b->pages);
}

/* Take a folio that waited, or drop it. If it closes the batch, it waits for the next. */
static void tiering_take_waiting(struct tiering_node *tn, struct tiering_batch *b,
				 struct folio *folio)
{
	bool may_come = !tiering_is_hinting() || tiering_hot_may_come(tn, b, folio);

	if (may_come && tiering_is_slow(folio_nid(folio)) && tiering_fits(b, folio))
		tiering_take(tn, b, folio, NULL);
	else
		folio_put(folio);
}

/**
 * tiering_take_hot() - take the folios that wait for their promotion into a batch
 * @tn: the node to promote to
 * @b: the batch
 *
 * Context: the daemon of @tn; may sleep.
 */
void tiering_take_hot(struct tiering_node *tn, struct tiering_batch *b)
{
	unsigned int tries = TIERING_HOT;
	unsigned long pfn;

	b->kind = tiering_is_hinting() ? TIERING_ANON : TIERING_FILE;
	/* Ignore the checks that walks have spent: this queue is short. */
	while (tries-- && !tiering_has_all(b) && tiering_first_hot(tn, &pfn)) {
		struct folio *folio = tiering_get_folio(pfn);

		if (folio)
			tiering_take_waiting(tn, b, folio);
		if (!b->closed)
			tiering_remove_hot(tn);
	}
}

/* Test whether a folio of a region is on the side that a batch takes from. */
static bool tiering_is_at_source(const struct tiering_node *tn,
				 const struct tiering_batch *b, struct folio *folio)
{
	int nid = folio_nid(folio);

	return b->promote ? tiering_is_slow(nid) : nid == tn->nid;
}

/**
 * tiering_take_region() - take folios of a region into a batch
 * @tn: the node to demote from or to promote to
 * @b: the batch
 * @region: the region; the next call continues where this one ends. Sets @region->is_left
 *	if folios were found to move: they may fail to
 *
 * Context: may sleep.
 * Return: false if the region is over; true if the batch is full or the address space is
 * busy.
 */
bool tiering_take_region(struct tiering_node *tn, struct tiering_batch *b,
			 struct tiering_region *region)
{
	struct folio *folios[TIERING_WALK];
	u16 places[TIERING_WALK];
	int i, count;

	b->kind = TIERING_ANON;
	if (!region->next)
		region->is_left = false;
	while (!tiering_batch_full(b)) {
		/* An empty region is a look, too: a policy may try one after the other. */
		b->looks += TIERING_WALK;
		count = tiering_region_walk(region, folios, places);
		if (count <= 0)
			return count < 0;
		for (i = 0; i < count; i++) {
			bool is_here = tiering_is_at_source(tn, b, folios[i]);

			region->is_left |= is_here;
			if (b->closed || !is_here)
				folio_put(folios[i]);
			else if (tiering_fits(b, folios[i]))
				tiering_take(tn, b, folios[i], NULL);
			else
				folio_put(folios[i]);
			/* What does not fit is the first of the next batch. */
			if (b->closed && region->next > places[i])
				region->next = places[i];
		}
		cond_resched();
	}
	b->more = true;
	return true;
}

/**
 * struct tiering_oldest - folios from the old end of LRU lists
 * @folios: the folios, held
 * @count: number of folios
 */
struct tiering_oldest {
	struct folio *folios[TIERING_LOOK];
	unsigned int count;
};

static void tiering_find_in(struct list_head *list, struct tiering_oldest *oldest)
{
	struct folio *folio;

	list_for_each_entry_reverse(folio, list, lru) {
		if (oldest->count == TIERING_LOOK)
			break;
		if (folio_try_get(folio))
			oldest->folios[oldest->count++] = folio;
	}
}

#ifdef CONFIG_LRU_GEN
static void tiering_find_in_gens(struct lruvec *lruvec, bool file,
				 struct tiering_oldest *oldest)
{
	struct lru_gen_folio *lrugen = &lruvec->lrugen;
	unsigned long seq;
	int zone;

	for (seq = lrugen->min_seq[file]; seq <= lrugen->max_seq; seq++)
		for (zone = 0; zone < MAX_NR_ZONES; zone++)
			tiering_find_in(&lrugen->folios[lru_gen_from_seq(seq)]
					[file][zone], oldest);
}
#else
static void tiering_find_in_gens(struct lruvec *lruvec, bool file,
				 struct tiering_oldest *oldest)
{
}
#endif

/* Find the oldest folios. Checks at most TIERING_LOOK under the lock. */
static void tiering_find_oldest(struct lruvec *lruvec, bool file,
				struct tiering_oldest *oldest)
{
	enum lru_list lru = file ? LRU_INACTIVE_FILE : LRU_INACTIVE_ANON;

	spin_lock_irq(&lruvec->lru_lock);
	/* Folios are on either kind of lists, or on both during a switch of MGLRU. */
	tiering_find_in_gens(lruvec, file, oldest);
	tiering_find_in(&lruvec->lists[lru], oldest);
	tiering_find_in(&lruvec->lists[lru + LRU_ACTIVE], oldest);
	spin_unlock_irq(&lruvec->lru_lock);
}

/* Move a folio that stays to the young end, so that it does not block others. */
static void tiering_make_young(struct folio *folio)
{
	if (folio_isolate_lru(folio)) {
		if (!folio_test_unevictable(folio))
			folio_set_active(folio);
		folio_putback_lru(folio);
	}
}

/**
 * tiering_take_lru() - take chosen folios from the old end of LRU lists into a batch
 * @tn: the node to demote from
 * @b: the batch
 * @lruvec: the LRU lists of a cgroup on that node
 * @kind: TIERING_ANON, or TIERING_FILE for all page cache
 * @choose: selects folios, NULL for all; the others become the youngest
 *
 * Context: may sleep.
 * Return: false if the lists are empty, or none of the oldest folios fits.
 */
bool tiering_take_lru(struct tiering_node *tn, struct tiering_batch *b,
		      struct lruvec *lruvec, enum tiering_kind kind,
		      tiering_choose_t choose)
{
	struct tiering_oldest oldest = { };
	bool fits = false;
	unsigned int i;

	b->kind = kind;
	/* New folios, and folios put back recently, may be in this CPU's batches. */
	lru_add_drain();
	tiering_find_oldest(lruvec, kind != TIERING_ANON, &oldest);
	for (i = 0; i < oldest.count; i++) {
		struct folio *folio = oldest.folios[i];

		/* A folio that does not fit stays at the old end for the next call. */
		if (b->closed || !tiering_fits(b, folio)) {
			folio_put(folio);
			continue;
		}
		fits = true;
		/* tiering_take() drops a reference. */
		folio_get(folio);
		if (choose && !choose(tn, folio)) {
			tiering_make_young(folio);
			folio_put(folio);
		} else if (!tiering_take(tn, b, folio, NULL)) {
			tiering_make_young(folio);
		}
		folio_put(folio);
	}
	return fits;
}

/**
 * struct tiering_target - the target nodes of a batch
 * @b: the batch
 * @nid: preferred node, NUMA_NO_NODE for none
 * @others: fallback nodes
 * @full: the allocation of a folio has failed on all of them
 */
struct tiering_target {
	const struct tiering_batch *b;
	int nid;
	nodemask_t others;
	bool full;
};

/*
 * Choose the target of a batch. next_demotion_node() alternates among the nearest
 * nodes, so call it for each batch. The fallback is any lower tier, as in reclaim.
 */
static void tiering_choose_target(const struct tiering_node *tn,
				  struct tiering_target *target)
{
	target->others = NODE_MASK_NONE;
	target->nid = tn->nid;
	if (target->b->promote)
		return;
	target->nid = target->b->pair ? folio_nid(target->b->pair) :
					next_demotion_node(tn->nid);
	node_get_allowed_targets(NODE_DATA(tn->nid), &target->others);
}

/*
 * Allocate the target of a folio without direct reclaim or compaction, which
 * alloc_migration_target() would do for a large folio. A demotion wakes the kswapd of
 * slow memory, as in reclaim, so that the coldest folios there make room.
 */
static struct folio *tiering_new_folio(struct folio *src, unsigned long private)
{
	gfp_t gfp = (GFP_HIGHUSER_MOVABLE & ~__GFP_RECLAIM) | __GFP_NOWARN |
		    __GFP_NOMEMALLOC;
	struct tiering_target *target = (struct tiering_target *)private;
	struct folio *dst;

	if (!target->b->promote)
		gfp |= __GFP_KSWAPD_RECLAIM;
	/* Not __folio_alloc_node(), which warns if the node went offline. */
	dst = __folio_alloc(gfp | __GFP_THISNODE, folio_order(src), target->nid, NULL);
	if (!dst && !nodes_empty(target->others))
		dst = __folio_alloc(gfp, folio_order(src), target->nid,
				    &target->others);
	if (!dst && !folio_test_large(src))
		target->full = true;
	return dst;
}

/*
 * Count a moved folio in the counters of reclaim and NUMA balancing. Daemons and kswapd
 * move in the background, so their demotions count as kswapd's. Tasks that make room in
 * a fault wait, as in direct reclaim.
 */
static void tiering_count_move(struct folio *src, struct folio *dst, bool promote)
{
	int nid = folio_nid(promote ? dst : src);
	struct lruvec *lruvec;

	rcu_read_lock();
	lruvec = mem_cgroup_lruvec(folio_memcg(dst), NODE_DATA(nid));
	if (!promote)
		mod_lruvec_state(lruvec, current->flags & PF_KTHREAD ?
				 PGDEMOTE_KSWAPD : PGDEMOTE_DIRECT,
				 folio_nr_pages(dst));
#ifdef CONFIG_NUMA_BALANCING
	else
		mod_lruvec_state(lruvec, PGPROMOTE_SUCCESS, folio_nr_pages(dst));
#endif
	rcu_read_unlock();
}

/**
 * tiering_folio_migrated() - count and record the move of a folio of a batch
 * @src: the old folio, locked
 * @dst: the new folio, locked
 * @private: the argument of migrate_pages(), a struct tiering_target
 */
void tiering_folio_migrated(struct folio *src, struct folio *dst, unsigned long private)
{
	const struct tiering_target *target = (struct tiering_target *)private;

	tiering_count_move(src, dst, target->b->promote);
	/* Hot folios of files and of block devices are in one batch. */
	tiering_count(TIERING_MOVED + target->b->why, tiering_kind_of(dst),
		      folio_nr_pages(dst));
	if (tiering_is_recording())
		tiering_note_move(src, dst, target->b->why);
}

/*
 * Called by tiering_folio_misplaced(). The tiering mode of NUMA balancing counts its
 * promotions itself.
 */
void __tiering_folio_misplaced(struct folio *src, struct folio *dst)
{
	enum tiering_reason why = TIERING_REASONS;

	if (tiering_is_hinting() && tiering_is_slow(folio_nid(src)) &&
	    tiering_is_fast(folio_nid(dst))) {
		why = TIERING_PROMOTED_HINT;
		tiering_count(TIERING_MOVED + why, tiering_kind_of(dst),
			      folio_nr_pages(dst));
		if (!(sysctl_numa_balancing_mode & NUMA_BALANCING_MEMORY_TIERING))
			tiering_count_move(src, dst, true);
	}
	tiering_note_move(src, dst, why);
}

#ifdef CONFIG_LRU_GEN
static unsigned long tiering_gen_files(struct lruvec *lruvec)
{
	long pages = 0;
	int gen, zone;

	/* Ageing changes two counts one after the other, so the sum may be negative. */
	for (gen = 0; gen < MAX_NR_GENS; gen++)
		for (zone = 0; zone < MAX_NR_ZONES; zone++)
			pages += READ_ONCE(lruvec->lrugen.nr_pages[gen]
					   [LRU_GEN_FILE][zone]);
	return max(pages, 0L);
}
#else
static unsigned long tiering_gen_files(struct lruvec *lruvec)
{
	return 0;
}
#endif

/**
 * tiering_lruvec_files() - count the page cache on the LRU lists of a cgroup
 * @lruvec: the lists
 * @nid: node of the lists
 *
 * Sums up both kinds of lists, as folios are on both during a switch of MGLRU.
 *
 * Return: pages.
 */
unsigned long tiering_lruvec_files(struct lruvec *lruvec, int nid)
{
	unsigned long pages = tiering_gen_files(lruvec);
	int zone;

	if (mem_cgroup_disabled())
		return node_page_state(NODE_DATA(nid), NR_ACTIVE_FILE) +
		       node_page_state(NODE_DATA(nid), NR_INACTIVE_FILE);
	for (zone = 0; zone < MAX_NR_ZONES; zone++)
		pages += mem_cgroup_get_zone_lru_size(lruvec, LRU_INACTIVE_FILE,
						      zone) +
			 mem_cgroup_get_zone_lru_size(lruvec, LRU_ACTIVE_FILE,
						      zone);
	return pages;
}

/* Note for its context that a folio has not moved. It counts as used in this scan. */
static void tiering_stayed(const struct tiering_batch *b, struct folio *folio)
{
	struct knode *knode;

	/*
	 * Anonymous memory has no context: put it back among the youngest, unless there
	 * was no memory for it.
	 */
	if (folio_test_anon(folio)) {
		if (!b->promote && !b->full && !folio_test_unevictable(folio))
			folio_set_active(folio);
		return;
	}
	rcu_read_lock();
	tiering_page_use(folio);
	knode = tiering_grouping->find(tiering_mapping_of(folio));
	if (knode)
		tiering_grouping->note(knode, folio_nid(folio));
	rcu_read_unlock();
}

/**
 * tiering_migrate() - move the folios of a batch
 * @tn: the node to promote to or to demote from
 * @b: the batch, which is empty afterwards
 *
 * Context: may sleep.
 * Return: number of pages moved; 0 if there is no node to demote to.
 */
unsigned int tiering_migrate(struct tiering_node *tn, struct tiering_batch *b)
{
	struct tiering_target target = { .b = b };
	unsigned int moved = 0;
	struct folio *folio;

	if (list_empty(&b->folios))
		return 0;
	tiering_choose_target(tn, &target);
	if (target.nid != NUMA_NO_NODE)
		migrate_pages(&b->folios, tiering_new_folio, NULL,
			      (unsigned long)&target, MIGRATE_ASYNC, MR_TIERING,
			      &moved);
	b->full = target.full;
	/* A folio that failed counts as used, so that it is not tried again soon. */
	list_for_each_entry(folio, &b->folios, lru)
		tiering_stayed(b, folio);
	putback_movable_pages(&b->folios);

	tiering_count(TIERING_NOT_MIGRATED, b->kind, b->pages - moved);
	trace_tiering_migrate(tn->nid, b->promote, b->why, moved,
			      b->pages - moved);
	b->pages = 0;
	return moved;
}

#ifdef CONFIG_TIERING_KUNIT_TEST
#include "tests/migrate-kunit.h"
#endif
