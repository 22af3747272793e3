// SPDX-License-Identifier: GPL-2.0
/*
 * A set-associative cache with exact LRU: each set is an array in the order of last use.
 */
#include <stdlib.h>
#include <string.h>

#include "cache.h"

static size_t line_count(const struct cache *cache)
{
	return (cache->set_mask + 1) << cache->shift;
}

bool cache_init(struct cache *cache, uint64_t bytes, unsigned int ways)
{
	cache->ways = ways;
	cache->set_mask = bytes / LINE_BYTES / ways - 1;
	cache->shift = 0;
	while (1U << cache->shift < ways)
		cache->shift++;
	cache->lines = malloc(line_count(cache) * sizeof(*cache->lines));
	if (!cache->lines)
		return false;
	cache_clear(cache);
	return true;
}

void cache_free(struct cache *cache)
{
	free(cache->lines);
	cache->lines = NULL;
}

void cache_clear(struct cache *cache)
{
	for (size_t i = 0; i < line_count(cache); i++)
		cache->lines[i] = (struct cache_line){ .key = CACHE_NO_KEY };
}

/* Make the line at way the most recently used of its set. */
static void move_to_front(struct cache_line *set, unsigned int way)
{
	struct cache_line line = set[way];

	for (; way; way--)
		set[way] = set[way - 1];
	set[0] = line;
}

struct cache_line *cache_use(const struct cache *cache, struct cache_line *set, uint64_t key)
{
	for (unsigned int way = 0; way < cache->ways; way++) {
		if (set[way].key != key)
			continue;
		move_to_front(set, way);
		return set;
	}
	return NULL;
}

struct cache_line cache_fill(const struct cache *cache, struct cache_line *set,
			     uint64_t key, uint64_t line, uint64_t flags)
{
	struct cache_line victim = set[cache->ways - 1];

	memmove(set + 1, set, (cache->ways - 1) * sizeof(*set));
	set[0] = (struct cache_line){ .key = key, .line = line << CACHE_FLAGS | flags };
	return victim;
}

bool cache_soil(const struct cache *cache, struct cache_line *set, uint64_t key, uint64_t far)
{
	for (unsigned int way = 0; way < cache->ways; way++) {
		if (set[way].key != key)
			continue;
		set[way].line = (set[way].line & ~CACHE_FAR) | CACHE_DIRTY | far;
		return true;
	}
	return false;
}

struct cache_line *cache_find(const struct cache *cache, struct cache_line *set,
			      unsigned int way, uint64_t line)
{
	for (; way < cache->ways; way++)
		if (set[way].key != CACHE_NO_KEY && cache_physical(&set[way]) == line)
			return &set[way];
	return NULL;
}

unsigned int cache_drop(const struct cache *cache, struct cache_line *set, uint64_t line,
			bool *dirty)
{
	struct cache_line *found = set;
	unsigned int count = 0;

	while ((found = cache_find(cache, set, (unsigned int)(found - set), line))) {
		*dirty |= found->line & CACHE_DIRTY;
		*found = (struct cache_line){ .key = CACHE_NO_KEY };
		count++;
	}
	return count;
}
