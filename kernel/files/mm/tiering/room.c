// SPDX-License-Identifier: GPL-2.0
/*
 * Policies of memory tiers: how much of a node is free.
 *
 * A node is as full as kswapd lets it be: there are no watermarks but the zones' own.
 * Up to its mark kswapd makes room. Page cache leaves what is below the mark before
 * that to all else: new anonymous memory, page tables and slab find it there.
 */
#include <linux/gfp.h>
#include <linux/mm.h>
#include <linux/mmzone.h>
#include <linux/sched/sysctl.h>
#include <linux/smp.h>
#include <linux/swap.h>
#include <linux/vmstat.h>

#include "tiering.h"

/* The watermark up to which kswapd makes room, as in pgdat_balanced(). */
static enum zone_watermarks tiering_mark(void)
{
	return sysctl_numa_balancing_mode & NUMA_BALANCING_MEMORY_TIERING ?
	       WMARK_PROMO : WMARK_HIGH;
}

/*
 * Free pages of a zone for what may be in ZONE_MOVABLE. Those that this CPU keeps for
 * itself count, too: they may be an eighth of the zone.
 */
static long tiering_free(struct zone *zone)
{
	long pages = zone_page_state(zone, NR_FREE_PAGES) -
		     zone->lowmem_reserve[ZONE_MOVABLE];

	/* It is a hint: its CPU changes it meanwhile. */
	pages += data_race(raw_cpu_ptr(zone->per_cpu_pageset)->count);
	return max(pages, 0L);
}

static bool tiering_counts(struct zone *zone)
{
	/* The DMA zone is counted as free memory, and not used. */
	return managed_zone(zone) &&
	       !(IS_ENABLED(CONFIG_ZONE_DMA) && !zone_idx(zone));
}

/* Free pages above a multiple of a mark, all zones of a node together. */
static long tiering_above(int nid, enum zone_watermarks mark, unsigned int times)
{
	struct zone *zones = NODE_DATA(nid)->node_zones;
	long pages = 0;
	int i;

	for (i = 0; i < MAX_NR_ZONES; i++)
		if (tiering_counts(&zones[i]))
			pages += tiering_free(&zones[i]) -
				 times * wmark_pages(&zones[i], mark);
	return pages;
}

/**
 * tiering_room() - how much of a node is free beyond what kswapd keeps free?
 * @nid: the node
 *
 * Return: pages; less than 0 if kswapd wants more than there is.
 */
long tiering_room(int nid)
{
	return tiering_above(nid, tiering_mark(), 1);
}

/**
 * tiering_room_to_fill() - how much of a node may page cache and promotions have?
 * @nid: the node
 *
 * As NUMA balancing does, they may go below the mark up to which kswapd makes room, to
 * the one before it.
 *
 * Return: pages; less than 0 if they have more.
 */
long tiering_room_to_fill(int nid)
{
	return tiering_above(nid, tiering_mark() - 1, 1);
}

/**
 * tiering_room_to_min() - how many pages may be taken of a node at the very most?
 * @nid: the node
 *
 * Return: pages that are free above the lowest watermark; negative if there are too few.
 */
long tiering_room_to_min(int nid)
{
	return tiering_above(nid, WMARK_MIN, 1);
}

/**
 * tiering_is_short() - is a node so full that it matters what is in it?
 * @nid: the node
 *
 * Return: true if less than twice of what kswapd keeps free is.
 */
bool tiering_is_short(int nid)
{
	return tiering_above(nid, tiering_mark(), 2) < 0;
}

/**
 * tiering_may_fill() - may new page cache go to a node?
 * @nid: the node
 *
 * kswapd is woken in time, so that there is room for what comes next.
 *
 * Context: any that may wake a thread.
 * Return: true if it leaves enough for all else.
 */
bool tiering_may_fill(int nid)
{
	if (tiering_room(nid) >= 0)
		return true;
	tiering_wake_kswapd(nid);
	return tiering_room_to_fill(nid) > 0;
}

/**
 * tiering_wake_kswapd() - wake the kswapd of a node, if it has something to do
 * @nid: the node
 */
void tiering_wake_kswapd(int nid)
{
	struct zone *zones = NODE_DATA(nid)->node_zones;
	int i;

	for (i = MAX_NR_ZONES - 1; i >= 0; i--) {
		if (!tiering_counts(&zones[i]))
			continue;
		wakeup_kswapd(&zones[i], GFP_HIGHUSER_MOVABLE, 0, ZONE_MOVABLE);
		return;
	}
}
