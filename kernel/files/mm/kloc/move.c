// SPDX-License-Identifier: GPL-2.0
/*
 * Contexts of files: moving the pages of a context.
 *
 * No reference to an inode is taken, or the mover might have to do what the last
 * user of an inode has to, and an unmount would have to wait for it. Folios are
 * found in i_pages under RCU, which keeps the inode's memory, and are then held
 * themselves. Whether a folio still belongs to the mapping is looked at again
 * when it is locked: what was truncated meanwhile is freed and not moved.
 */
#include <linux/buffer_head.h>
#include <linux/fs.h>
#include <linux/memory-tiers.h>
#include <linux/migrate.h>
#include <linux/mm.h>
#include <linux/mm_inline.h>
#include <linux/pagemap.h>
#include <linux/rcupdate.h>
#include <linux/swap.h>

#include "../internal.h"
#include "kloc.h"

#include <trace/events/kloc.h>

/* Entries of a mapping that are looked at before others may run. */
#define LOOK_AT		1024

/* Hold a folio that was found, if it is on the node whose folios are wanted. */
static bool hold(struct kloc_walk *walk, struct xa_state *xas,
		 struct folio *folio)
{
	/* Of tmpfs, what was swapped out is there as a value. */
	if (xa_is_value(folio))
		return false;
	if (folio_nid(folio) != walk->nid) {
		walk->others |= node_is_toptier(folio_nid(folio)) ==
				node_is_toptier(walk->nid);
		return false;
	}
	if (!folio_try_get(folio)) {
		walk->others = true;
		return false;
	}
	if (folio == xas_reload(xas) && folio_nid(folio) == walk->nid)
		return true;
	folio_put(folio);
	walk->others = true;
	return false;
}

/* The index after an entry, which a large folio has many of. */
static pgoff_t index_after(struct xa_state *xas)
{
	unsigned long entries = 1UL << xas_get_order(xas);

	return round_down(xas->xa_index, entries) + entries;
}

/* Find folios in a mapping that RCU keeps. */
static unsigned int find_folios(struct kloc_walk *walk,
				struct address_space *mapping,
				struct folio **folios)
{
	unsigned long enough = walk->looked_at + LOOK_AT;
	unsigned int count = 0;
	XA_STATE(xas, &mapping->i_pages, walk->index);
	struct folio *folio;

	xas_for_each(&xas, folio, ULONG_MAX) {
		if (xas_retry(&xas, folio))
			continue;
		if (hold(walk, &xas, folio))
			folios[count++] = folio;
		if (++walk->looked_at == enough || count == KLOC_BATCH) {
			walk->index = index_after(&xas);
			return count;
		}
	}
	walk->done = true;
	return count;
}

/**
 * itr_knode_cache() - iterate over the page cache of a knode (table 2)
 * @walk: which one, on which node, from where; updated
 * @folios: room for KLOC_BATCH, filled in; each is held
 *
 * Return: how many were found; it may be 0 before @walk->done is set.
 */
unsigned int itr_knode_cache(struct kloc_walk *walk, struct folio **folios)
{
	unsigned int count = 0;
	struct inode *inode;

	rcu_read_lock();
	inode = rcu_dereference(walk->knode->inode);
	if (inode) {
		walk->mapping = inode->i_mapping;
		count = find_folios(walk, inode->i_mapping, folios);
	} else {
		walk->done = true;
	}
	rcu_read_unlock();
	return count;
}

/*
 * A file system that holds its buffers cannot have them moved. Finding that out
 * by trying takes a look at all CPUs' buffers.
 */
static bool has_held_buffers(struct folio *folio)
{
	struct buffer_head *bh, *head = folio_buffers(folio);

	for (bh = head; bh; bh = bh->b_this_page == head ? NULL
							  : bh->b_this_page)
		if (atomic_read(&bh->b_count))
			return true;
	return false;
}

/* Does a folio, which is locked, still belong to what is walked over? */
static bool belongs(const struct kloc_walk *walk, struct folio *folio)
{
	if (walk->knode)
		return folio->mapping == walk->mapping;
	return folio->mapping && !folio_test_anon(folio);
}

/* A page moves to slow memory, whose context nobody has looked at yet. */
static void note_slow(const struct address_space *mapping)
{
	struct knode *knode;

	rcu_read_lock();
	knode = kloc_knode_in(mapping);
	if (knode && !test_bit(KNODE_SLOW, &knode->flags))
		set_bit(KNODE_SLOW, &knode->flags);
	rcu_read_unlock();
}

/* May a folio, which is locked, be moved? If not, why is put in @why_not. */
static bool may_move(const struct kloc_walk *walk, struct folio *folio,
		     bool promote, enum kloc_event *why_not)
{
	*why_not = KLOC_NOT_BUSY;
	if (!belongs(walk, folio))
		return false;
	if (folio_test_unevictable(folio) ||
	    mapping_inaccessible(folio->mapping)) {
		*why_not = KLOC_NOT_MOVABLE;
		return false;
	}
	if (IS_ENABLED(CONFIG_BUFFER_HEAD) &&
	    S_ISBLK(folio->mapping->host->i_mode) && has_held_buffers(folio)) {
		if (!promote)
			kloc_page_failed(folio);
		*why_not = KLOC_NOT_MOVABLE;
		return false;
	}
	if (folio_test_writeback(folio))
		return false;
	if (promote && !kloc_memcg_charge_folio(folio)) {
		*why_not = KLOC_NOT_LIMIT;
		return false;
	}
	return true;
}

/* Take a folio off its LRU list. If it is not, why is put in @why_not. */
static bool isolate(const struct kloc_walk *walk, struct folio *folio,
		    bool promote, enum kloc_event *why_not)
{
	bool isolated;

	/* What leaves because there is more than is allowed does not come back. */
	*why_not = KLOC_NOT_PINNED;
	if (walk->knode && kloc_page_pinned(folio))
		return false;
	*why_not = KLOC_NOT_BUSY;
	if (!folio_trylock(folio))
		return false;

	isolated = may_move(walk, folio, promote, why_not) &&
		   folio_isolate_lru(folio);
	if (isolated && !walk->knode)
		note_slow(folio->mapping);
	folio_unlock(folio);
	return isolated;
}

/* An isolated folio will be one of the youngest when it is put back. */
static void make_young(struct folio *folio)
{
	if (!folio_test_unevictable(folio))
		folio_set_active(folio);
}

/*
 * A folio was among the oldest of its list, and does not leave. If that is not
 * over soon it becomes one of the youngest, or it would stay in the way.
 */
static void stays(struct kloc_walk *walk, struct folio *folio,
		  enum kloc_event why)
{
	if (why != KLOC_NOT_BUSY && folio_isolate_lru(folio)) {
		make_young(folio);
		folio_putback_lru(folio);
	} else {
		walk->stayed++;
	}
}

/* Take folios off their LRU lists and let go of them. */
static unsigned int isolate_all(struct kloc_walk *walk, struct folio **folios,
				unsigned int count, bool promote,
				struct list_head *isolated)
{
	unsigned int i, pages = 0;
	LIST_HEAD(large);

	for (i = 0; i < count; i++) {
		struct folio *folio = folios[i];
		enum kloc_event why_not;

		if (isolate(walk, folio, promote, &why_not)) {
			list_add_tail(&folio->lru, folio_test_large(folio) ?
				      &large : isolated);
			node_stat_mod_folio(folio, NR_ISOLATED_ANON +
					    folio_is_file_lru(folio),
					    folio_nr_pages(folio));
			pages += folio_nr_pages(folio);
		} else {
			kloc_count(why_not, walk->knode, folio_nr_pages(folio));
			if (!walk->knode)
				stays(walk, folio, why_not);
		}
		folio_put(folio);
	}
	/* One for which there is no room keeps those after it from moving. */
	list_splice_tail(&large, isolated);
	return pages;
}

/* Where folios go, and why; and whether there was no room even for a small one. */
struct target {
	int nid;
	unsigned int trial;
	bool full;
};

/*
 * Nobody waits until something is reclaimed or compacted for it, as they would in
 * alloc_migration_target() for a large folio. But who demotes wakes the kswapd of
 * slow memory, as reclaim does: what is cold there has to leave for what is not.
 */
static struct folio *new_folio(struct folio *src, unsigned long private)
{
	gfp_t gfp = (GFP_HIGHUSER_MOVABLE & ~__GFP_RECLAIM) | __GFP_THISNODE |
		    __GFP_NOWARN | __GFP_NOMEMALLOC;
	struct target *target = (struct target *)private;
	struct folio *dst;

	if (!target->trial)
		gfp |= __GFP_KSWAPD_RECLAIM;
	dst = __folio_alloc(gfp, folio_order(src), target->nid, NULL);
	if (dst)
		kloc_page_moved(src, dst, target->trial);
	else if (!folio_test_large(src))
		target->full = true;
	return dst;
}

/* It was not for lack of room that a folio did not move: leave it alone. */
static void did_not_move(const struct kloc_walk *walk, struct folio *folio)
{
	kloc_page_failed(folio);
	/* As in stays(). */
	if (!walk->knode)
		make_young(folio);
}

static unsigned int migrate(const struct kloc_walk *walk,
			    struct list_head *folios, struct target *target)
{
	unsigned int moved = 0;
	struct folio *folio;

	if (list_empty(folios))
		return 0;
	migrate_pages(folios, new_folio, NULL, (unsigned long)target,
		      MIGRATE_ASYNC, MR_KLOC, &moved);
	if (!target->full && !target->trial)
		list_for_each_entry(folio, folios, lru)
			did_not_move(walk, folio);
	putback_movable_pages(folios);
	return moved;
}

/**
 * kloc_note_pages() - note in which tier a context may have pages
 * @knode: the context
 * @nid: node with some
 */
void kloc_note_pages(struct knode *knode, int nid)
{
	/*
	 * Either the note is seen to be cleared here, or these pages are found
	 * by the walk that comes after clearing it. Pairs with the barriers
	 * there.
	 */
	smp_mb();
	if (node_is_toptier(nid))
		kmap_set_fast(&kloc_kmap, knode, true);
	else if (!test_bit(KNODE_SLOW, &knode->flags))
		set_bit(KNODE_SLOW, &knode->flags);
}

/* Called by kloc_folio_moved(). */
void __kloc_folio_moved(struct folio *src, struct folio *dst)
{
	struct knode *knode;

	if (folio_test_anon(dst))
		return;

	rcu_read_lock();
	knode = kloc_knode_in(folio_mapping(dst));
	if (knode) {
		kloc_page_moved(src, dst, 0);
		kloc_note_pages(knode, folio_nid(dst));
	}
	rcu_read_unlock();
}

/**
 * kloc_move() - move folios of a context to the other tier
 * @node: fast node that they are moved to, or from
 * @walk: that found them; without a knode, they are of any files
 * @why: they are moved
 * @trial: the reason for which they are promoted, 0 if they are demoted
 * @folios: which; the references to them are given up
 * @count: of @folios
 *
 * Return: pages that were moved; 0 if slow memory went meanwhile.
 */
unsigned long kloc_move(struct kloc_node *node, struct kloc_walk *walk,
			enum kloc_event why, unsigned int trial,
			struct folio **folios, unsigned int count)
{
	int nid = trial ? node->nid : READ_ONCE(node->slow);
	struct target target = { .nid = nid, .trial = trial };
	unsigned int pages, moved;
	LIST_HEAD(isolated);

	if (!count)
		return 0;
	if (nid == NUMA_NO_NODE) {
		while (count)
			folio_put(folios[--count]);
		return 0;
	}
	pages = isolate_all(walk, folios, count, trial, &isolated);
	moved = migrate(walk, &isolated, &target);
	node->slow_full |= target.full && !trial;

	if (!trial && kloc_limit_is_why(node->nid))
		why = KLOC_DEMOTED_LIMIT;
	kloc_count(why, walk->knode, moved);
	kloc_count(KLOC_NOT_MIGRATED, walk->knode, pages - moved);
	if (moved && walk->knode)
		kloc_note_pages(walk->knode, nid);
	node->budget -= (s64)moved * PAGE_SIZE;
	trace_kloc_migrate(walk->knode, nid, why, moved, pages - moved);
	return moved;
}
