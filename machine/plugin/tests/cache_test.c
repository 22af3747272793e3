// SPDX-License-Identifier: GPL-2.0
#include "cache.h"
#include "check.h"

/* Access a line of a cache whose keys are physical lines. Return whether it hits. */
static bool access_line(struct cache *cache, uint64_t line)
{
	struct cache_line *set = cache_set(cache, line);

	if (cache_use(cache, set, line, false))
		return true;
	cache_fill(cache, set, line, line, false);
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
	victim = cache_fill(&cache, set, 100, 7, false);
	CHECK(victim.key == CACHE_NO_KEY);
	cache_fill(&cache, set, 101, 8, true);
	CHECK(cache_use(&cache, set, 100, true));
	victim = cache_fill(&cache, set, 102, 9, false);
	CHECK(victim.line >> 1 == 8 && victim.line & CACHE_DIRTY);
	victim = cache_fill(&cache, set, 103, 10, false);
	CHECK(victim.line >> 1 == 7 && victim.line & CACHE_DIRTY);
	victim = cache_fill(&cache, set, 104, 11, false);
	CHECK(victim.line >> 1 == 9 && !(victim.line & CACHE_DIRTY));
	cache_free(&cache);
}

static void recent_lines_are_used_like_others(void)
{
	struct cache cache;
	struct cache_line *set, victim;

	CHECK(cache_init(&cache, 3 * LINE_BYTES, 3));
	set = cache_set(&cache, 0);
	for (uint64_t line = 1; line <= 3; line++)
		cache_fill(&cache, set, line, line, false);
	CHECK(cache_use_recent(set, 3, false));
	CHECK(cache_use_recent(set, 2, true));
	CHECK(!cache_use_recent(set, 1, false));	/* in the cache, but not recent */
	CHECK(cache_use(&cache, set, 1, false));
	victim = cache_fill(&cache, set, 4, 4, false);
	CHECK(victim.key == 3 && !(victim.line & CACHE_DIRTY));
	cache_fill(&cache, set, 5, 5, false);		/* replaces 2 */
	CHECK(!cache_use(&cache, set, 2, false));
	cache_free(&cache);
}

static void soiling_is_no_use(void)
{
	struct cache cache;
	struct cache_line *set, victim;

	CHECK(cache_init(&cache, 2 * LINE_BYTES, 2));
	set = cache_set(&cache, 0);
	cache_fill(&cache, set, 1, 1, false);
	cache_fill(&cache, set, 2, 2, false);
	CHECK(cache_soil(&cache, set, 1));
	CHECK(!cache_soil(&cache, set, 3));
	victim = cache_fill(&cache, set, 3, 3, false);
	CHECK(victim.key == 1 && victim.line & CACHE_DIRTY);
	cache_free(&cache);
}

static void dropping_finds_all_keys_of_a_line(void)
{
	struct cache cache;
	struct cache_line *set;

	CHECK(cache_init(&cache, 4 * LINE_BYTES, 4));
	set = cache_set(&cache, 0);
	cache_fill(&cache, set, 1, 50, true);
	cache_fill(&cache, set, 2, 50, false);
	cache_fill(&cache, set, 3, 51, false);
	cache_drop(&cache, set, 50);
	CHECK(!cache_use(&cache, set, 1, false));
	CHECK(!cache_use(&cache, set, 2, false));
	CHECK(cache_use(&cache, set, 3, false));
	cache_free(&cache);
}

void test_cache(void)
{
	holds_what_fits();
	least_recently_used_goes_first();
	dirty_lines_are_told_when_they_go();
	recent_lines_are_used_like_others();
	soiling_is_no_use();
	dropping_finds_all_keys_of_a_line();
}
