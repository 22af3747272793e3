/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Policies of memory tiers: tests of the free memory of a node.
 */
#ifndef _MM_TIERING_ROOM_KUNIT_H
#define _MM_TIERING_ROOM_KUNIT_H

#include <kunit/test.h>

static DEFINE_PER_CPU(struct per_cpu_pages, room_test_pages);

/* Zones of a node, with empty per-CPU lists. */
static struct zone *room_test_zones(struct kunit *test)
{
	struct zone *zones;
	int i;

	zones = kunit_kcalloc(test, MAX_NR_ZONES, sizeof(*zones), GFP_KERNEL);
	KUNIT_ASSERT_NOT_NULL(test, zones);
	for (i = 0; i < MAX_NR_ZONES; i++)
		zones[i].per_cpu_pageset = &room_test_pages;
	return zones;
}

static void room_test_set(struct zone *zone, long pages, long free, long high,
			  long reserve)
{
	atomic_long_set(&zone->managed_pages, pages);
	atomic_long_set(&zone->vm_stat[NR_FREE_PAGES], free);
	zone->_watermark[WMARK_HIGH] = high;
	zone->lowmem_reserve[ZONE_MOVABLE] = reserve;
}

static void room_test_one_zone(struct kunit *test)
{
	struct zone *zones = room_test_zones(test);

	room_test_set(&zones[1], 10000, 1000, 300, 0);
	KUNIT_EXPECT_EQ(test, tiering_zones_above(zones, WMARK_HIGH, 1, false), 700);
	KUNIT_EXPECT_EQ(test, tiering_zones_above(zones, WMARK_HIGH, 2, false), 400);
	room_test_set(&zones[1], 10000, 200, 300, 0);
	KUNIT_EXPECT_EQ(test, tiering_zones_above(zones, WMARK_HIGH, 1, false), -100);
}

/* Pages that are reserved for atomic allocations are no room, as for kswapd. */
static void room_test_reserved_for_atomic(struct kunit *test)
{
	struct zone *zones = room_test_zones(test);

	room_test_set(&zones[1], 10000, 1000, 300, 0);
	zones[1].nr_free_highatomic = 200;
	KUNIT_EXPECT_EQ(test, tiering_zones_above(zones, WMARK_HIGH, 1, false), 500);
}

/* Free pages of CMA are none for kswapd and for the kernel; what can move may use them. */
static void room_test_cma(struct kunit *test)
{
	struct zone *zones = room_test_zones(test);

	room_test_set(&zones[ZONE_NORMAL], 10000, 1000, 300, 0);
	atomic_long_set(&zones[ZONE_NORMAL].vm_stat[NR_FREE_CMA_PAGES], 900);
	KUNIT_EXPECT_EQ(test, tiering_zones_above(zones, WMARK_HIGH, 1, false), -200);
	KUNIT_EXPECT_EQ(test, tiering_zones_above(zones, WMARK_HIGH, 1, true), 700);
	KUNIT_EXPECT_TRUE(test, tiering_zones_have_block(zones, ZONE_MOVABLE, 0, WMARK_HIGH,
							 64, ALLOC_CMA));
	/* Without CONFIG_CMA there are none, and the allocator does not look. */
	KUNIT_EXPECT_EQ(test, tiering_zones_have_block(zones, ZONE_NORMAL, 0, WMARK_HIGH, 64, 0),
			!IS_ENABLED(CONFIG_CMA));
}

/* What can move may use ZONE_MOVABLE, and the kernel may not. */
static void room_test_block_for_kernel(struct kunit *test)
{
	struct zone *zones = room_test_zones(test);

	room_test_set(&zones[ZONE_NORMAL], 10000, 10, 300, 0);
	room_test_set(&zones[ZONE_MOVABLE], 10000, 1000, 300, 0);
	KUNIT_EXPECT_TRUE(test, tiering_zones_have_block(zones, ZONE_MOVABLE, 0, WMARK_HIGH,
							 64, ALLOC_CMA));
	KUNIT_EXPECT_FALSE(test, tiering_zones_have_block(zones, ZONE_NORMAL, 0, WMARK_HIGH,
							  64, 0));
	room_test_set(&zones[ZONE_NORMAL], 10000, 1000, 300, 0);
	KUNIT_EXPECT_TRUE(test, tiering_zones_have_block(zones, ZONE_NORMAL, 0, WMARK_HIGH,
							 64, 0));
}

/* A node has room while one zone has, whatever the others lack: kswapd sleeps then. */
static void room_test_one_zone_is_enough(struct kunit *test)
{
	struct zone *zones = room_test_zones(test);

	room_test_set(&zones[1], 10000, 0, 500, 0);
	room_test_set(&zones[0], 10000, 450, 250, 100);
	KUNIT_EXPECT_EQ(test, tiering_zones_above(zones, WMARK_HIGH, 1, false), 100);
	/* Without room, the zone with the smallest deficit counts. */
	room_test_set(&zones[0], 10000, 300, 250, 100);
	KUNIT_EXPECT_EQ(test, tiering_zones_above(zones, WMARK_HIGH, 1, false), -50);
}

/* A zone below its lowmem reserve does not count; the lowest zone counts otherwise. */
static void room_test_reserved_zone(struct kunit *test)
{
	struct zone *zones = room_test_zones(test);

	room_test_set(&zones[0], 4000, 4000, 10, 4000);
	room_test_set(&zones[1], 10000, 100, 300, 0);
	KUNIT_EXPECT_EQ(test, tiering_zones_above(zones, WMARK_HIGH, 1, false), -200);
	room_test_set(&zones[1], 0, 0, 0, 0);
	KUNIT_EXPECT_EQ(test, tiering_zones_above(zones, WMARK_HIGH, 1, false), 0);
	room_test_set(&zones[0], 4000, 5, 10, 0);
	KUNIT_EXPECT_EQ(test, tiering_zones_above(zones, WMARK_HIGH, 1, false), -5);
}

static struct kunit_case room_test_cases[] = {
	KUNIT_CASE(room_test_one_zone),
	KUNIT_CASE(room_test_cma),
	KUNIT_CASE(room_test_block_for_kernel),
	KUNIT_CASE(room_test_one_zone_is_enough),
	KUNIT_CASE(room_test_reserved_zone),
	KUNIT_CASE(room_test_reserved_for_atomic),
	{}
};

static struct kunit_suite room_test_suite = {
	.name = "tiering-room",
	.test_cases = room_test_cases,
};

kunit_test_suite(room_test_suite);

#endif /* _MM_TIERING_ROOM_KUNIT_H */
