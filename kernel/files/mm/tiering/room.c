// SPDX-License-Identifier: GPL-2.0
/*
 * Policies of memory tiers: free memory and watermarks of a node.
 *
 * Tiering uses the zones' own watermarks. kswapd makes room up to its mark, WMARK_HIGH
 * or WMARK_PROMO. New page cache and promotions stop at the next lower watermark, and
 * leave the pages below it to new anonymous memory, page tables and slab.
 */
#include <linux/gfp.h>
#include <linux/limits.h>
#include <linux/mm.h>
#include <linux/mmzone.h>
#include <linux/preempt.h>
#include <linux/sched/sysctl.h>
#include <linux/smp.h>
#include <linux/swap.h>
#include <linux/tiering.h>
#include <linux/vmstat.h>

#include "../internal.h"
#include "internal.h"

/* Get the watermark up to which kswapd makes room, as in pgdat_balanced(). */
static enum zone_watermarks tiering_mark(void)
{
	return sysctl_numa_balancing_mode & NUMA_BALANCING_MEMORY_TIERING ?
	       WMARK_PROMO : WMARK_HIGH;
}

/*
 * Count the free pages of a zone for allocations that may use ZONE_MOVABLE, as kswapd
 * does: without those that are reserved for atomic allocations, and with those of CMA
 * only if @cma is set. Include this CPU's page lists, which may hold an eighth of the
 * zone. Do not include them under a policy of hint faults: NUMA balancing does not, and
 * would refuse to promote what the policy finds room for. Nor include them if they may
 * hold pages of CMA that do not count.
 */
static long tiering_free(struct zone *zone, bool cma)
{
	long pages = zone_page_state(zone, NR_FREE_PAGES) -
		     zone->lowmem_reserve[ZONE_MOVABLE] -
		     READ_ONCE(zone->nr_free_highatomic);
	long without = cma ? 0 : zone_page_state(zone, NR_FREE_CMA_PAGES);

	pages -= without;
	if (!without && !tiering_is_hinting())
		/* A hint: this task may migrate, and the CPU changes its count. */
		pages += data_race(raw_cpu_ptr(zone->per_cpu_pageset)->count);
	return max(pages, 0L);
}

/*
 * Ignore a zone that is smaller than its lowmem reserve, such as the DMA zone of x86.
 */
static bool tiering_counts(struct zone *zone)
{
	return managed_zone(zone) &&
	       zone_managed_pages(zone) > zone->lowmem_reserve[ZONE_MOVABLE];
}

/*
 * Count the free pages above a multiple of a watermark in the zones of a node; those of
 * CMA only if @cma is set.
 *
 * kswapd stops as soon as one zone is above the mark, see pgdat_balanced(). So zones
 * below the mark do not reduce the sum of the zones above it. If all zones are below,
 * the result is the deficit of the zone with the smallest one.
 */
static long tiering_zones_above(struct zone *zones, enum zone_watermarks mark,
				unsigned int times, bool cma)
{
	long most = LONG_MIN, pages = 0;
	int i;

	for (i = 0; i < MAX_NR_ZONES; i++) {
		long above;

		if (!tiering_counts(&zones[i]))
			continue;
		above = tiering_free(&zones[i], cma) -
			(long)(times * wmark_pages(&zones[i], mark));
		most = max(most, above);
		pages += max(above, 0L);
	}
	/* A node without zones has no deficit. */
	return most < 0 && most > LONG_MIN ? most : pages;
}

static long tiering_above(int nid, enum zone_watermarks mark, unsigned int times,
			  bool cma)
{
	return tiering_zones_above(NODE_DATA(nid)->node_zones, mark, times, cma);
}

/**
 * tiering_room() - get the free pages of a node above kswapd's mark
 * @nid: the node
 *
 * Free pages of CMA count: what policies place and move may use them.
 *
 * Return: pages; negative if fewer pages are free.
 */
long tiering_room(int nid)
{
	return tiering_above(nid, tiering_mark(), 1, true);
}

/**
 * tiering_missing() - get how many pages kswapd has to free on a node
 * @nid: the node
 *
 * For kswapd, free pages of CMA are no room. Without what it finds missing, it evicts
 * pages that could be demoted.
 *
 * Return: pages; 0 or less if none.
 */
long tiering_missing(int nid)
{
	return -tiering_above(nid, tiering_mark(), 1, false);
}

/**
 * tiering_room_to_fill() - get the free pages of a node for page cache and promotions
 * @nid: the node
 *
 * Page cache and promotions may use free pages down to the watermark below kswapd's
 * mark, as promotions of NUMA balancing do.
 *
 * Return: pages; negative if fewer pages are free.
 */
long tiering_room_to_fill(int nid)
{
	return tiering_above(nid, tiering_mark() - 1, 1, true);
}

/**
 * tiering_is_short() - test whether a node is so full that policies should act
 * @nid: the node
 *
 * Return: true if fewer pages are free than twice kswapd's mark.
 */
bool tiering_is_short(int nid)
{
	return tiering_above(nid, tiering_mark(), 2, true) < 0;
}

/*
 * Test whether one of the zones up to @last, of which an allocation may use all, has a
 * free block, and more free pages than a watermark and @pages. Free pages of CPUs' lists
 * do not count, as in the allocator's own test.
 */
static bool tiering_zones_have_block(struct zone *zones, enum zone_type last,
				     unsigned int order, enum zone_watermarks mark,
				     unsigned int pages, unsigned int alloc_flags)
{
	int i;

	for (i = 0; i <= last; i++)
		if (managed_zone(&zones[i]) &&
		    zone_watermark_ok(&zones[i], order,
				      wmark_pages(&zones[i], mark) + pages, last,
				      alloc_flags))
			return true;
	return false;
}

/* Test this for pages that can move: they may use ZONE_MOVABLE and pages of CMA. */
static bool tiering_has_block(int nid, unsigned int order, enum zone_watermarks mark,
			      unsigned int pages)
{
	return tiering_zones_have_block(NODE_DATA(nid)->node_zones, ZONE_MOVABLE, order,
					mark, pages, ALLOC_CMA);
}

/**
 * tiering_may_alloc_kernel() - test whether a node has a free block for the kernel
 * @nid: the node
 * @order: order of the block
 * @pages: pages to leave above WMARK_MIN
 *
 * Return: true if it has.
 */
bool tiering_may_alloc_kernel(int nid, unsigned int order, unsigned int pages)
{
	return tiering_zones_have_block(NODE_DATA(nid)->node_zones, ZONE_NORMAL, order,
					WMARK_MIN, pages, 0);
}

/**
 * tiering_may_promote_kernel() - test whether a node has room to promote kernel memory
 * @nid: the node
 * @pages: pages to leave above the watermark
 *
 * As tiering_room_to_fill(), for what ZONE_MOVABLE cannot take.
 *
 * Return: true if it has.
 */
bool tiering_may_promote_kernel(int nid, unsigned int pages)
{
	return tiering_zones_have_block(NODE_DATA(nid)->node_zones, ZONE_NORMAL, 0,
					tiering_mark() - 1, pages, 0);
}

/**
 * tiering_is_balanced() - test whether NUMA balancing may move a folio to a node
 * @nid: the node
 * @order: order of the folio
 *
 * Return: true if a zone has a block for it and is above WMARK_HIGH after that, as in
 * migrate_balanced_pgdat().
 */
bool tiering_is_balanced(int nid, unsigned int order)
{
	return tiering_has_block(nid, order, WMARK_HIGH, 1U << order);
}

/**
 * tiering_may_alloc() - test whether a node has a free block above WMARK_LOW
 * @nid: the node
 * @order: order of the block
 *
 * Return: true if it has.
 */
bool tiering_may_alloc(int nid, unsigned int order)
{
	return tiering_has_block(nid, order, WMARK_LOW, 0);
}

/**
 * tiering_retry_kswapd() - let kswapd of a node try again after too many failures
 * @nid: the node
 *
 * Only reclaim that finds something would let it, and placement in slow memory avoids
 * reclaim. One more failure, and it gives up again.
 */
void tiering_retry_kswapd(int nid)
{
	pg_data_t *pgdat = NODE_DATA(nid);
	int failures = READ_ONCE(pgdat->kswapd_failures);

	/* Reclaim may have reset it meanwhile. */
	if (failures >= MAX_RECLAIM_RETRIES)
		cmpxchg(&pgdat->kswapd_failures, failures, MAX_RECLAIM_RETRIES - 1);
}

/**
 * tiering_drain_free() - move a node's free pages on this CPU's lists to its zones
 * @nid: the node
 *
 * Watermarks do not count the lists: pages that were demoted a moment ago, and are
 * free, would make no room.
 *
 * Context: may sleep on PREEMPT_RT.
 */
void tiering_drain_free(int nid)
{
	struct zone *zones = NODE_DATA(nid)->node_zones;
	int i;

	migrate_disable();
	for (i = 0; i < MAX_NR_ZONES; i++)
		if (populated_zone(&zones[i]))
			drain_local_pages(&zones[i]);
	migrate_enable();
}

/**
 * tiering_may_fill() - test whether new page cache may go to a node
 * @nid: the node
 *
 * Wakes kswapd below its mark, so that it makes room for later allocations.
 *
 * Context: any that may wake a thread.
 * Return: true if enough free pages are left for other allocations.
 */
bool tiering_may_fill(int nid)
{
	if (tiering_room(nid) >= 0)
		return true;
	tiering_wake_kswapd(nid, 0);
	return tiering_room_to_fill(nid) > 0;
}

/**
 * tiering_wake_kswapd() - wake the kswapd of a node if the node is not balanced
 * @nid: the node
 * @order: order of the folios for which it should have room
 */
void tiering_wake_kswapd(int nid, unsigned int order)
{
	struct zone *zones = NODE_DATA(nid)->node_zones;
	int i;

	for (i = MAX_NR_ZONES - 1; i >= 0; i--) {
		if (!tiering_counts(&zones[i]))
			continue;
		wakeup_kswapd(&zones[i], GFP_HIGHUSER_MOVABLE, order, ZONE_MOVABLE);
		return;
	}
}

#ifdef CONFIG_TIERING_KUNIT_TEST
#include "tests/room-kunit.h"
#endif
