// SPDX-License-Identifier: GPL-2.0
/*
 * Policies of memory tiers: moving folios. Only this file touches LRU lists.
 *
 * A batch is filled with folios that are isolated from their LRU lists, and then
 * migrated in one go. Whether a folio of page cache still belongs to the file that it
 * was found in is looked at when it is locked: what was truncated meanwhile is freed
 * and not moved.
 */
#include <linux/buffer_head.h>
#include <linux/fs.h>
#include <linux/kloc.h>
#include <linux/memcontrol.h>
#include <linux/memory-tiers.h>
#include <linux/migrate.h>
#include <linux/mm.h>
#include <linux/mm_inline.h>
#include <linux/pagemap.h>
#include <linux/rcupdate.h>
#include <linux/swap.h>

#include "../internal.h"
#include "../kloc/kloc.h"
#include "tiering.h"

#define CREATE_TRACE_POINTS
#include <trace/events/tiering.h>

/* Folios of an LRU list that are looked at under its lock. */
#define TIERING_LOOK	32

/**
 * tiering_batch_full() - is there no room for another folio?
 * @b: the batch
 *
 * Return: true if there is not.
 */
bool tiering_batch_full(const struct tiering_batch *b)
{
	return b->pages >= TIERING_BATCH;
}

/*
 * A file system that holds its buffers cannot have them moved. Finding that out
 * by trying takes a look at all CPUs' buffers.
 */
static bool tiering_has_held_buffers(struct folio *folio)
{
	struct buffer_head *bh, *head = folio_buffers(folio);

	for (bh = head; bh; bh = bh->b_this_page == head ? NULL
							  : bh->b_this_page)
		if (atomic_read(&bh->b_count))
			return true;
	return false;
}

/* May a folio, which is locked, be moved? If not, @why_not says why. */
static bool tiering_may_move(struct folio *folio,
			     const struct address_space *mapping,
			     enum tiering_event *why_not)
{
	*why_not = TIERING_NOT_BUSY;
	if (folio_test_writeback(folio) || !folio->mapping ||
	    (mapping && folio->mapping != mapping))
		return false;
	*why_not = TIERING_NOT_MOVABLE;
	/* What was mlocked a moment ago becomes unevictable a little later. */
	if (folio_test_unevictable(folio) || folio_test_mlocked(folio))
		return false;
	if (folio_test_anon(folio))
		return true;
	if (mapping_inaccessible(folio->mapping))
		return false;
	return !IS_ENABLED(CONFIG_BUFFER_HEAD) ||
	       !S_ISBLK(folio->mapping->host->i_mode) ||
	       !tiering_has_held_buffers(folio);
}

/*
 * Take a folio off its LRU list into a batch, and give up the reference to it.
 * @mapping is what it belongs to, NULL if it does not matter. Return: whether it was
 * taken.
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
	} else if (tiering_may_move(folio, mapping, &why_not)) {
		why_not = TIERING_NOT_LIMIT;
		if (!b->promote || kloc_memcg_charge_folio(folio)) {
			why_not = TIERING_NOT_BUSY;
			taken = folio_isolate_lru(folio);
			if (b->promote && !taken)
				kloc_memcg_uncharge_folio(folio);
		}
	}
	folio_unlock(folio);
out:
	if (taken) {
		/* What is promoted was used: it is not to be among the oldest. */
		if (b->promote && !folio_test_unevictable(folio))
			folio_set_active(folio);
		/* One for which there is no room keeps those after it from moving. */
		if (folio_test_large(folio))
			list_add_tail(&folio->lru, &b->folios);
		else
			list_add(&folio->lru, &b->folios);
		node_stat_mod_folio(folio, NR_ISOLATED_ANON +
				    folio_is_file_lru(folio), pages);
		b->pages += pages;
	} else {
		tiering_count(why_not, b->kind, pages);
		if (why_not == TIERING_NOT_BUSY)
			WRITE_ONCE(tn->busy, READ_ONCE(tn->busy) + 1);
	}
	folio_put(folio);
	return taken;
}

/**
 * tiering_take_knode() - take the pages of a context
 * @tn: the node that they are on, or that they are promoted to
 * @b: the batch; taken is from slow memory if it is for promotion
 * @walk: over the context; @walk->left is set if some were not taken
 * @choose: says which, NULL for all
 *
 * Goes on until the batch is full, or the walk is over. Nothing is taken of a context
 * that takes no part.
 *
 * Context: may sleep.
 */
void tiering_take_knode(struct tiering_node *tn, struct tiering_batch *b,
			struct kloc_walk *walk, tiering_choose_t choose)
{
	struct folio *folios[KLOC_WALK];
	unsigned int i, count;

	b->kind = kloc_kind(walk->knode);
	if (!kloc_takes_part(walk->knode)) {
		walk->left = true;
		walk->done = true;
	}
	while (!walk->done && !tiering_batch_full(b)) {
		count = itr_knode_cache(walk, folios);
		for (i = 0; i < count; i++) {
			if (choose && !choose(tn, folios[i])) {
				folio_put(folios[i]);
				walk->left = true;
			} else if (!tiering_take(tn, b, folios[i],
						 walk->mapping)) {
				walk->left = true;
			}
		}
		cond_resched();
	}
}

/* Take the page frame of a folio that waits for its promotion. */
static bool tiering_next_hot(struct tiering_node *tn, unsigned long *pfn)
{
	bool found;

	spin_lock(&tn->lock);
	found = tn->hot_count;
	if (found) {
		*pfn = tn->hot[tn->hot_first];
		tn->hot_first = (tn->hot_first + 1) % TIERING_HOT;
		WRITE_ONCE(tn->hot_count, tn->hot_count - 1);
	}
	spin_unlock(&tn->lock);
	return found;
}

/* The folio of page cache at a page frame, held; NULL if there is none now. */
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
	    !folio_test_anon(folio))
		return folio;
	folio_put(folio);
	return NULL;
}

/**
 * tiering_take_hot() - take the folios of slow memory that are to be promoted
 * @tn: the node that they are promoted to
 * @b: the batch
 * @room: pages that may be taken at most
 *
 * Context: may sleep.
 */
void tiering_take_hot(struct tiering_node *tn, struct tiering_batch *b,
		      long room)
{
	unsigned long pfn;

	b->kind = TIERING_FILE;
	while (!tiering_batch_full(b) && b->pages < room &&
	       tiering_next_hot(tn, &pfn)) {
		struct folio *folio = tiering_get_folio(pfn);

		if (!folio)
			continue;
		if (node_is_toptier(folio_nid(folio)) ||
		    b->pages + folio_nr_pages(folio) > room)
			folio_put(folio);
		else
			tiering_take(tn, b, folio, NULL);
	}
}

/**
 * struct tiering_oldest - folios from the old end of LRU lists
 * @folios: those that were found, held
 * @count: of them
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

/* The lock is held for as long as it takes to look at so many folios. */
static void tiering_find_oldest(struct lruvec *lruvec, bool file,
				struct tiering_oldest *oldest)
{
	enum lru_list lru = file ? LRU_INACTIVE_FILE : LRU_INACTIVE_ANON;

	spin_lock_irq(&lruvec->lru_lock);
	/* Either kind of lists has them, or both while one is exchanged. */
	tiering_find_in_gens(lruvec, file, oldest);
	tiering_find_in(&lruvec->lists[lru], oldest);
	tiering_find_in(&lruvec->lists[lru + LRU_ACTIVE], oldest);
	spin_unlock_irq(&lruvec->lru_lock);
}

/* A folio of the old end stays: it becomes one of the youngest, not to be in the way. */
static void tiering_make_young(struct folio *folio)
{
	if (folio_isolate_lru(folio)) {
		if (!folio_test_unevictable(folio))
			folio_set_active(folio);
		folio_putback_lru(folio);
	}
}

/**
 * tiering_take_lru() - take the oldest folios of a group, and look at so many
 * @tn: the node that they are on
 * @b: the batch
 * @lruvec: the lists of the group on that node
 * @kind: TIERING_ANON, or TIERING_FILE for all page cache
 * @choose: says which, NULL for all; those that stay become the youngest
 *
 * Context: may sleep.
 * Return: false if there are none.
 */
bool tiering_take_lru(struct tiering_node *tn, struct tiering_batch *b,
		      struct lruvec *lruvec, enum tiering_kind kind,
		      tiering_choose_t choose)
{
	struct tiering_oldest oldest = { };
	unsigned int i;

	b->kind = kind;
	/* What is new is on no list yet, or was put back a moment ago. */
	lru_add_drain();
	tiering_find_oldest(lruvec, kind != TIERING_ANON, &oldest);
	for (i = 0; i < oldest.count; i++) {
		struct folio *folio = oldest.folios[i];

		/* One more reference, as tiering_take() gives one up. */
		folio_get(folio);
		if (choose && !choose(tn, folio)) {
			tiering_make_young(folio);
			folio_put(folio);
		} else if (!tiering_take(tn, b, folio, NULL)) {
			tiering_make_young(folio);
		}
		folio_put(folio);
	}
	return oldest.count;
}

/* What tiering_new_folio() has to know. */
struct tiering_target {
	const struct tiering_batch *b;
	int nid;
	bool full;
};

/*
 * Nobody waits until something is reclaimed or compacted for a move, as they would in
 * alloc_migration_target() for a large folio. But who demotes wakes the kswapd of
 * slow memory, as reclaim does: what is cold there has to leave for what is not.
 */
static struct folio *tiering_new_folio(struct folio *src, unsigned long private)
{
	gfp_t gfp = (GFP_HIGHUSER_MOVABLE & ~__GFP_RECLAIM) | __GFP_THISNODE |
		    __GFP_NOWARN | __GFP_NOMEMALLOC;
	struct tiering_target *target = (struct tiering_target *)private;
	struct folio *dst;

	if (!target->b->promote)
		gfp |= __GFP_KSWAPD_RECLAIM;
	/* Not __folio_alloc_node(): the node may have gone a moment ago. */
	dst = __folio_alloc(gfp, folio_order(src), target->nid, NULL);
	if (dst)
		tiering_page_move(src, dst, target->b->why);
	else if (!folio_test_large(src))
		target->full = true;
	return dst;
}

#ifdef CONFIG_LRU_GEN
static unsigned long tiering_gen_files(struct lruvec *lruvec)
{
	unsigned long pages = 0;
	int gen, zone;

	for (gen = 0; gen < MAX_NR_GENS; gen++)
		for (zone = 0; zone < MAX_NR_ZONES; zone++)
			pages += max(READ_ONCE(lruvec->lrugen.nr_pages[gen]
					       [LRU_GEN_FILE][zone]), 0L);
	return pages;
}
#else
static unsigned long tiering_gen_files(struct lruvec *lruvec)
{
	return 0;
}
#endif

/**
 * tiering_lruvec_files() - how much page cache is on the LRU lists of a group?
 * @lruvec: the lists
 * @nid: their node
 *
 * Either kind of lists has it, or both while the one is exchanged for the other.
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

/* A folio stays where it is: its context has to know that it has some there. */
static void tiering_stayed(struct folio *folio)
{
	struct knode *knode;

	if (folio_test_anon(folio))
		return;
	rcu_read_lock();
	tiering_page_use(folio);
	knode = kloc_knode_in(folio_mapping(folio));
	if (knode)
		knode_note_pages(knode, folio_nid(folio));
	rcu_read_unlock();
}

/**
 * tiering_migrate() - move the folios of a batch
 * @tn: the node that they are moved to, or from
 * @b: the batch, which is empty afterwards
 *
 * Context: may sleep.
 * Return: pages that were moved; none if slow memory has gone.
 */
unsigned int tiering_migrate(struct tiering_node *tn, struct tiering_batch *b)
{
	struct tiering_target target = {
		.b = b,
		.nid = b->promote ? tn->nid : READ_ONCE(tn->slow),
	};
	unsigned int moved = 0;
	struct folio *folio;

	if (list_empty(&b->folios))
		return 0;
	if (target.nid != NUMA_NO_NODE)
		migrate_pages(&b->folios, tiering_new_folio, NULL,
			      (unsigned long)&target, MIGRATE_ASYNC, MR_TIERING,
			      &moved);
	/* Those that are left are left alone for as long as if they were used. */
	list_for_each_entry(folio, &b->folios, lru) {
		tiering_stayed(folio);
		if (b->promote)
			kloc_memcg_uncharge_folio(folio);
	}
	putback_movable_pages(&b->folios);

	b->full = target.full;
	tiering_count(TIERING_MOVED + b->why, b->kind, moved);
	tiering_count(TIERING_NOT_MIGRATED, b->kind, b->pages - moved);
	trace_tiering_migrate(tn->nid, b->promote, b->why, moved,
			      b->pages - moved);
	b->pages = 0;
	return moved;
}
