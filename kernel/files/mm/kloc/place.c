// SPDX-License-Identifier: GPL-2.0
/*
 * Contexts of files: which tier new pages of the page cache go to.
 */
#include <linux/cpumask.h>
#include <linux/cpuset.h>
#include <linux/fs.h>
#include <linux/gfp.h>
#include <linux/memory-tiers.h>
#include <linux/mm.h>
#include <linux/mm_inline.h>
#include <linux/rcupdate.h>
#include <linux/sched.h>
#include <linux/shmem_fs.h>
#include <linux/swap.h>
#include <linux/vmstat.h>

#include "kloc.h"

static bool is_dma(enum zone_type type)
{
	return IS_ENABLED(CONFIG_ZONE_DMA) && !type;
}

/*
 * Free pages of a node in zones up to one, for allocations that may be in that
 * one: lower zones keep a part for those that may not. Those that some CPUs keep
 * for themselves are counted, and those below the watermarks are not.
 */
static long free_up_to(int nid, enum zone_type highest,
		       const struct cpumask *cpus)
{
	unsigned int cpu;
	long pages = 0;
	int i;

	for (i = 0; i <= highest; i++) {
		struct zone *zone = &NODE_DATA(nid)->node_zones[i];
		long its;

		if (!managed_zone(zone) || is_dma(i))
			continue;
		its = zone_page_state(zone, NR_FREE_PAGES) -
		      zone->lowmem_reserve[highest];
		for_each_cpu(cpu, cpus) {
			/* It is a hint: its CPU changes it meanwhile. */
			its += data_race(per_cpu_ptr(zone->per_cpu_pageset,
						     cpu)->count);
		}
		pages += max(its, 0L) - promo_wmark_pages(zone);
	}
	return pages;
}

/**
 * kloc_headroom() - how much fast memory is free for contexts?
 * @nid: the node
 * @cpus: those whose own lists of free pages are counted, too: they may have an
 *	eighth of a zone
 *
 * What NUMA balancing and kswapd want to be free is not, and neither is the DMA
 * zone, which is counted as free memory and not used.
 *
 * Return: pages, less than 0 if others want more than there is.
 */
long kloc_headroom(int nid, const struct cpumask *cpus)
{
	return free_up_to(nid, ZONE_MOVABLE, cpus);
}

/* May this task have its page cache where its context would like it? */
static bool may_place(int nid)
{
	return !current->mempolicy && !cpuset_do_page_mem_spread() &&
	       node_isset(nid, cpuset_current_mems_allowed);
}

static enum kloc_place place_of(const struct knode *knode, long headroom)
{
	/* What klocd has made room for is not for those that need not be here. */
	bool pressure = headroom < 2 * (long)kloc_settings.reserve;
	enum kloc_place place;

	place = kloc_place(knode, pressure, kloc_settings.stream_bytes);
	if (kloc_settings.mode == KLOC_ALLACTIVE)
		place = KLOC_FAST;
	return place == KLOC_FAST && headroom <= 0 ? KLOC_SLOW : place;
}

/* There is less room: does the node's thread have to know? */
static void keep_room(struct kloc_node *node, long room)
{
	if (room < (long)kloc_settings.reserve / 2 && !READ_ONCE(node->full))
		kloc_wake(node);
}

/* What would go to fast memory may do so only if limits allow it. */
static enum kloc_place place_within(struct kloc_node *node, struct knode *knode,
				    long headroom, unsigned int pages)
{
	long room = kloc_limit_room(node->nid, headroom);

	keep_room(node, room);
	if (place_of(knode, room) == KLOC_FAST && kloc_memcg_charge(pages))
		return KLOC_FAST;
	kloc_count(KLOC_PLACED_LIMIT, knode, pages);
	return KLOC_SLOW;
}

/* Find the node for new pages; and the knode, under RCU. */
static int wanted_node(struct address_space *mapping, unsigned int pages,
		       struct knode **knode)
{
	struct kloc_node *node = READ_ONCE(kloc_near[numa_node_id()]);
	enum kloc_place place;
	long headroom;
	int nid;

	if (!node || kloc_settings.mode == KLOC_CAP)
		return NUMA_NO_NODE;
	*knode = kloc_knode_of(mapping->host);
	if (!*knode || !kloc_has_kind(*knode))
		return NUMA_NO_NODE;

	headroom = kloc_headroom(node->nid, cpumask_of(raw_smp_processor_id()));
	keep_room(node, headroom);
	place = place_of(*knode, headroom);
	/* What lies on the lists of anonymous memory is not counted. */
	if (place == KLOC_FAST && READ_ONCE(kloc_limits) &&
	    !shmem_mapping(mapping))
		place = place_within(node, *knode, headroom, pages);
	nid = place == KLOC_FAST ? node->nid : READ_ONCE(node->slow);
	return nid != NUMA_NO_NODE && may_place(nid) ? nid : NUMA_NO_NODE;
}

/* Called by kloc_alloc_folio(). */
struct folio *__kloc_alloc_folio(struct address_space *mapping, gfp_t gfp,
				 unsigned int order)
{
	gfp_t here = (gfp & ~(__GFP_RECLAIM | __GFP_NOFAIL)) | __GFP_THISNODE |
		     __GFP_NOWARN | __GFP_NOMEMALLOC;
	struct knode *knode;
	struct folio *folio;
	int nid;

	if (!mapping->host || kloc_has_none(mapping->host))
		return NULL;

	rcu_read_lock();
	nid = wanted_node(mapping, 1 << order, &knode);
	/* Not __folio_alloc_node(): the node may have gone a moment ago. */
	folio = nid == NUMA_NO_NODE ? NULL : __folio_alloc(here, order, nid, NULL);
	if (folio)
		kloc_count(node_is_toptier(nid) ? KLOC_PLACED_FAST
						: KLOC_PLACED_SLOW,
			   knode, 1 << order);
	else if (nid != NUMA_NO_NODE)
		kloc_count(KLOC_PLACED_ELSEWHERE, knode, 1 << order);
	rcu_read_unlock();
	return folio;
}

/**
 * knode_add_obj() - a page of the page cache belongs to a knode (table 2)
 * @knode: the knode
 * @folio: the folio, locked
 *
 * The page cache itself is the index of a knode's pages. What is noted is in
 * which tiers there may be some.
 */
void knode_add_obj(struct knode *knode, struct folio *folio)
{
	kloc_page_new(folio);
	kloc_note_pages(knode, folio_nid(folio));
	/* No system call tells that a file system uses its own. */
	if (test_bit(KNODE_SYSTEM, &knode->flags))
		knode_touch(&kloc_kmap, knode);
}

/* Called by kloc_folio_added(). */
void __kloc_folio_added(struct folio *folio)
{
	struct inode *inode = folio->mapping->host;
	struct knode *knode;

	rcu_read_lock();
	knode = inode ? kloc_knode_of(inode) : NULL;
	if (knode)
		knode_add_obj(knode, folio);
	else if (READ_ONCE(kloc_near[folio_nid(folio)]))
		/* What was known is of a folio that was here before. */
		kloc_page_new(folio);
	if (kloc_settings.mode == KLOC_CAP)
		kloc_cap_added(READ_ONCE(kloc_near[folio_nid(folio)]));
	rcu_read_unlock();
}

/* Called by kloc_keeps_folio(). */
bool __kloc_keeps_folio(struct folio *folio)
{
	struct knode *knode;
	bool keeps;

	if (!kloc_moves() || folio_test_anon(folio))
		return false;

	rcu_read_lock();
	knode = kloc_knode_in(folio_mapping(folio));
	keeps = knode && kloc_has_kind(knode);
	rcu_read_unlock();
	return keeps;
}

/* Called by kloc_keeps_slab(). */
bool __kloc_keeps_slab(int nid)
{
	const struct kloc_node *node;
	int slow = NUMA_NO_NODE;
	bool keeps;

	/* Who runs out of memory, or is asked to drop it, gets all there is. */
	if (!current_is_kswapd())
		return false;

	rcu_read_lock();
	node = READ_ONCE(kloc_near[nid]);
	if (node && node->nid == nid)
		slow = READ_ONCE(node->slow);
	/* There is room for slab, too, and its own kswapd has nothing to do yet. */
	keeps = slow != NUMA_NO_NODE &&
		free_up_to(slow, ZONE_NORMAL, cpu_none_mask) > 0;
	rcu_read_unlock();
	return keeps;
}
