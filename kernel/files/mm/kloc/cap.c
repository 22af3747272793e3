// SPDX-License-Identifier: GPL-2.0
/*
 * Contexts of files: the oldest page cache leaves, whatever it is of.
 *
 * That is what a limit falls back to, and all that is done in the mode cap, which
 * says what contexts are worth.
 */
#include <linux/math.h>
#include <linux/memcontrol.h>
#include <linux/mm.h>
#include <linux/mm_inline.h>
#include <linux/mmzone.h>
#include <linux/spinlock.h>
#include <linux/swap.h>

#include "kloc.h"

/*
 * After so many folios that did not move, no more are tried for now. Those at the
 * old end of a list that stay there are passed over under its lock.
 */
#define MOST_FAILED	1024

/**
 * struct oldest - the oldest folios of LRU lists
 * @folios: those that were found, held
 * @count: of them
 * @most: that are wanted
 * @pass: folios that are to be passed over before
 */
struct oldest {
	struct folio *folios[KLOC_BATCH];
	unsigned int count;
	unsigned int most;
	unsigned int pass;
};

#ifdef CONFIG_LRU_GEN
static unsigned long gen_pages(struct lruvec *lruvec)
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
static unsigned long gen_pages(struct lruvec *lruvec)
{
	return 0;
}
#endif

/**
 * kloc_lruvec_pages() - how much page cache is on the LRU lists of a group?
 * @lruvec: the lists
 * @nid: their node
 *
 * Either kind of lists has it, or both while the one is exchanged for the other.
 *
 * Return: pages.
 */
unsigned long kloc_lruvec_pages(struct lruvec *lruvec, int nid)
{
	unsigned long pages = gen_pages(lruvec);
	int zone;

	if (mem_cgroup_disabled())
		return kloc_file_pages(nid);
	for (zone = 0; zone < MAX_NR_ZONES; zone++)
		pages += mem_cgroup_get_zone_lru_size(lruvec, LRU_INACTIVE_FILE,
						      zone) +
			 mem_cgroup_get_zone_lru_size(lruvec, LRU_ACTIVE_FILE,
						      zone);
	return pages;
}

static void take_from(struct list_head *list, struct oldest *oldest)
{
	struct folio *folio;

	list_for_each_entry_reverse(folio, list, lru) {
		if (oldest->count == oldest->most)
			break;
		if (oldest->pass)
			oldest->pass--;
		else if (folio_try_get(folio))
			oldest->folios[oldest->count++] = folio;
	}
}

#ifdef CONFIG_LRU_GEN
static void take_from_gens(struct lruvec *lruvec, struct oldest *oldest)
{
	struct lru_gen_folio *lrugen = &lruvec->lrugen;
	unsigned long seq;
	int zone;

	for (seq = lrugen->min_seq[LRU_GEN_FILE]; seq <= lrugen->max_seq; seq++)
		for (zone = 0; zone < MAX_NR_ZONES; zone++)
			take_from(&lrugen->folios[lru_gen_from_seq(seq)]
				  [LRU_GEN_FILE][zone], oldest);
}
#else
static void take_from_gens(struct lruvec *lruvec, struct oldest *oldest)
{
}
#endif

static void find_oldest(struct lruvec *lruvec, struct oldest *oldest)
{
	spin_lock_irq(&lruvec->lru_lock);
	take_from_gens(lruvec, oldest);
	take_from(&lruvec->lists[LRU_INACTIVE_FILE], oldest);
	take_from(&lruvec->lists[LRU_ACTIVE_FILE], oldest);
	spin_unlock_irq(&lruvec->lru_lock);
}

/* Demote the oldest page cache of one group alone. Return: pages that left. */
static unsigned long demote_from(struct kloc_node *node, struct lruvec *lruvec,
				 unsigned long pages)
{
	struct kloc_walk walk = { .nid = node->nid };
	unsigned long moved = 0, now;
	unsigned int failed = 0;
	struct oldest oldest;

	while (moved < pages && failed < MOST_FAILED && !node->slow_full &&
	       kloc_may_move(node)) {
		oldest.count = 0;
		oldest.most = min(pages - moved, KLOC_BATCH);
		oldest.pass = walk.stayed;
		/* What is new is on no list yet, or was put back a moment ago. */
		lru_add_drain();
		find_oldest(lruvec, &oldest);
		if (!oldest.count)
			break;
		now = kloc_move(node, &walk, KLOC_DEMOTED_LIMIT, 0,
				oldest.folios, oldest.count);
		moved += now;
		failed += oldest.count - min(oldest.count, now);
	}
	return moved;
}

/**
 * kloc_demote_oldest() - demote the oldest page cache of a node
 * @node: the node
 * @root: group whose it is, with all below it; NULL for any
 * @all: pages that there are
 * @pages: that are to leave, no more than @all; each group gives its part
 *
 * Return: pages that left.
 */
unsigned long kloc_demote_oldest(struct kloc_node *node,
				 struct mem_cgroup *root,
				 unsigned long all, unsigned long pages)
{
	struct mem_cgroup *group = mem_cgroup_iter(root, NULL, NULL);
	unsigned long moved = 0;

	do {
		struct lruvec *lruvec = mem_cgroup_lruvec(group,
							  NODE_DATA(node->nid));
		unsigned long its = kloc_lruvec_pages(lruvec, node->nid);

		if (its)
			moved += demote_from(node, lruvec,
					     mult_frac(pages, its,
						       max(all, 1UL)) + 1);
		if (!kloc_may_move(node)) {
			mem_cgroup_iter_break(root, group);
			break;
		}
	} while ((group = mem_cgroup_iter(root, group, NULL)));
	return moved;
}

/* In the mode cap, has a node more page cache than it may? */
static unsigned long excess(const struct kloc_node *node, unsigned long used)
{
	unsigned long max = READ_ONCE(kloc_node_max[node->nid]);

	return kloc_settings.mode == KLOC_CAP && used > max ? used - max : 0;
}

/**
 * kloc_cap_added() - in the mode cap, a folio was added to the page cache
 * @node: fast node nearest to it, NULL if there is none
 *
 * Context: RCU read-side critical section.
 */
void kloc_cap_added(struct kloc_node *node)
{
	if (node && !READ_ONCE(node->full) &&
	    excess(node, kloc_file_pages(node->nid)))
		kloc_wake(node);
}

/**
 * kloc_cap() - in the mode cap, bound the page cache of a node
 * @node: the node
 *
 * Some more leaves at once than is too much, so as not to be woken for each page.
 */
void kloc_cap(struct kloc_node *node)
{
	unsigned long used = kloc_file_pages(node->nid);
	unsigned long more = excess(node, used);

	if (!more || node->slow == NUMA_NO_NODE) {
		WRITE_ONCE(node->full, false);
		return;
	}
	more += kloc_limit_slack(used - more, kloc_settings.reserve);
	/* If nothing can, the thread looks again by itself. */
	WRITE_ONCE(node->full,
		   !kloc_demote_oldest(node, NULL, used, min(more, used)));
}
