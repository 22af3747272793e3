// SPDX-License-Identifier: GPL-2.0
/*
 * Caches replace the least recently used line, and find lines by key and by address.
 */
#include "cache.h"
#include "check.h"

/* Access a line of a cache whose keys are physical lines. Return whether it hits. */
static bool access_line(struct cache *cache, uint64_t line)
{
	struct cache_line *set = cache_set(cache, line);

	if (cache_use(cache, set, line))
		return true;
	cache_fill(cache, set, line, line, 0);
	return false;
}

static void holds_what_fits(void)
{
	struct cache cache;

	CHECK(cache_init(&cache, 32 << 10, 8));
	for (uint64_t line = 0; line < 512; line++)
		CHECK(!access_line(&cache, line));
	for (uint64_t line = 0; line < 512; line++)
		CHECK(access_line(&cache, line));
	cache_clear(&cache);
	CHECK(!access_line(&cache, 0));
	cache_free(&cache);
}

static void least_recently_used_goes_first(void)
{
	struct cache cache;

	CHECK(cache_init(&cache, 4 * LINE_BYTES, 4));	/* one set */
	for (uint64_t line = 0; line < 4; line++)
		access_line(&cache, line);
	CHECK(access_line(&cache, 0));
	CHECK(!access_line(&cache, 4));			/* replaces 1 */
	CHECK(access_line(&cache, 0));
	CHECK(access_line(&cache, 2));
	CHECK(!access_line(&cache, 1));			/* replaces 3 */
	CHECK(access_line(&cache, 4));
	CHECK(!access_line(&cache, 3));
	cache_free(&cache);
}

static void dirty_lines_are_told_when_they_go(void)
{
	struct cache cache;
	struct cache_line *set, victim;

	CHECK(cache_init(&cache, 2 * LINE_BYTES, 2));
	set = cache_set(&cache, 0);
	victim = cache_fill(&cache, set, 100, 7, 0);
	CHECK(victim.key == CACHE_NO_KEY);
	cache_fill(&cache, set, 101, 8, CACHE_DIRTY);
	CHECK(cache_use_recent(set, 100, true));
	victim = cache_fill(&cache, set, 102, 9, 0);
	CHECK(cache_physical(&victim) == 8 && victim.line & CACHE_DIRTY);
	victim = cache_fill(&cache, set, 103, 10, 0);
	CHECK(cache_physical(&victim) == 7 && victim.line & CACHE_DIRTY);
	victim = cache_fill(&cache, set, 104, 11, 0);
	CHECK(cache_physical(&victim) == 9 && !(victim.line & CACHE_DIRTY));
	cache_free(&cache);
}

static void recent_lines_are_used_like_others(void)
{
	struct cache cache;
	struct cache_line *set, victim;

	CHECK(cache_init(&cache, 3 * LINE_BYTES, 3));
	set = cache_set(&cache, 0);
	for (uint64_t line = 1; line <= 3; line++)
		cache_fill(&cache, set, line, line, 0);
	CHECK(cache_use_recent(set, 3, false));
	CHECK(cache_use_recent(set, 2, true));
	CHECK(!cache_use_recent(set, 1, false));	/* in the cache, but not recent */
	CHECK(cache_use(&cache, set, 1));
	victim = cache_fill(&cache, set, 4, 4, 0);
	CHECK(victim.key == 3 && !(victim.line & CACHE_DIRTY));
	cache_fill(&cache, set, 5, 5, 0);		/* replaces 2 */
	CHECK(!cache_use(&cache, set, 2));
	cache_free(&cache);
}

static void soiling_is_no_use(void)
{
	struct cache cache;
	struct cache_line *set, victim;

	CHECK(cache_init(&cache, 2 * LINE_BYTES, 2));
	set = cache_set(&cache, 0);
	cache_fill(&cache, set, 1, 1, 0);
	cache_fill(&cache, set, 2, 2, 0);
	CHECK(cache_soil(&cache, set, 1, 0));
	CHECK(!cache_soil(&cache, set, 3, 0));
	CHECK(cache_soil(&cache, set, 1, CACHE_FAR));
	CHECK(cache_find(&cache, set, 0, 1)->line & CACHE_FAR);
	CHECK(cache_soil(&cache, set, 1, 0));
	CHECK(!(cache_find(&cache, set, 0, 1)->line & CACHE_FAR));
	victim = cache_fill(&cache, set, 3, 3, 0);
	CHECK(victim.key == 1 && victim.line & CACHE_DIRTY);
	cache_free(&cache);
}

static void a_store_to_a_shared_line_is_no_recent_use(void)
{
	struct cache cache;
	struct cache_line *set;

	CHECK(cache_init(&cache, 2 * LINE_BYTES, 2));
	set = cache_set(&cache, 0);
	cache_fill(&cache, set, 1, 1, CACHE_SHARED);
	CHECK(cache_use_recent(set, 1, false));
	CHECK(!cache_use_recent(set, 1, true));
	CHECK(!(set[0].line & CACHE_DIRTY));
	set[0].line &= ~CACHE_SHARED;
	CHECK(cache_use_recent(set, 1, true) && set[0].line & CACHE_DIRTY);
	cache_free(&cache);
}

static void dropping_finds_all_keys_of_a_line(void)
{
	struct cache cache;
	struct cache_line *set;
	bool dirty = false;

	CHECK(cache_init(&cache, 4 * LINE_BYTES, 4));
	set = cache_set(&cache, 0);
	cache_fill(&cache, set, 1, 50, CACHE_DIRTY);
	cache_fill(&cache, set, 2, 50, 0);
	cache_fill(&cache, set, 3, 51, 0);
	CHECK(cache_find(&cache, set, 0, 50) == &set[1]);
	CHECK(cache_find(&cache, set, 2, 50) == &set[2]);
	CHECK(cache_drop(&cache, set, 51, &dirty) == 1 && !dirty);
	CHECK(cache_drop(&cache, set, 50, &dirty) == 2 && dirty);
	CHECK(!cache_use(&cache, set, 1));
	CHECK(!cache_use(&cache, set, 2));
	CHECK(!cache_use(&cache, set, 3));
	CHECK(cache_drop(&cache, set, 50, &dirty) == 0);
	cache_free(&cache);
}

void test_cache(void)
{
	holds_what_fits();
	least_recently_used_goes_first();
	dirty_lines_are_told_when_they_go();
	recent_lines_are_used_like_others();
	soiling_is_no_use();
	a_store_to_a_shared_line_is_no_recent_use();
	dropping_finds_all_keys_of_a_line();
}
