/* SPDX-License-Identifier: GPL-2.0 */
/*
 * A set-associative write-back cache with exact LRU replacement.
 *
 * A line is found by its key, and also holds the number of its physical line.
 * So the same code models the L1s, whose keys are virtual lines (see spaces.h),
 * and the last level, whose keys are physical lines. The lines of a set are in
 * the order of their last use: the most recently used first, the next victim
 * last.
 *
 * A line of an L1 is SHARED if another core's L1 may hold it, too. A store drops a
 * shared line from the other L1s first, see hierarchy.h.
 *
 * Limits:
 * - Real caches only approximate LRU.
 */
#ifndef CACHE_H
#define CACHE_H

#include <stdbool.h>

#include "units.h"

#define CACHE_NO_KEY	(~0ULL)		/* key of an empty way */
#define CACHE_DIRTY	1ULL
#define CACHE_SHARED	2ULL
#define CACHE_FAR	4ULL		/* of a last level: a core of socket 1 made it dirty */
#define CACHE_FLAGS	3		/* bits of cache_line.line below the line's number */

struct cache_line {
	uint64_t key;
	uint64_t line;		/* physical line number << CACHE_FLAGS | flags */
};

struct cache {
	struct cache_line *lines;
	uint64_t set_mask;
	unsigned int ways;	/* at least 2 */
	unsigned int shift;	/* a set takes 2^shift entries of lines */
};

/* Allocate an empty cache. Return false if memory is short. */
bool cache_init(struct cache *cache, uint64_t bytes, unsigned int ways);
void cache_free(struct cache *cache);

/* Empty the cache. Dirty lines are dropped, not written back. */
void cache_clear(struct cache *cache);

/* Return the set of an index. The low bits of index select it. */
static inline struct cache_line *cache_set(const struct cache *cache, uint64_t index)
{
	return cache->lines + ((index & cache->set_mask) << cache->shift);
}

/* Return the physical line that a line of the cache holds. */
static inline uint64_t cache_physical(const struct cache_line *line)
{
	return line->line >> CACHE_FLAGS;
}

/*
 * Hash a physical line into an index for cache_set(), as the last levels of
 * real processors do, so that a power-of-two stride does not map to one set.
 */
static inline uint64_t cache_hash(uint64_t line)
{
	return line ^ line >> 10 ^ line >> 20;
}

/*
 * Access the line with this key if it is one of the set's two most recently used, which
 * serve nearly all hits of an L1. Return false if it is not, or if a store to it has to
 * be made known to other cores. A cache has at least two ways.
 */
static inline bool cache_use_recent(struct cache_line *set, uint64_t key, bool store)
{
	if (unlikely(set[0].key != key)) {
		struct cache_line second = set[1];

		if (unlikely(second.key != key))
			return false;
		set[1] = set[0];
		set[0] = second;
	}
	if (store) {
		if (unlikely(set[0].line & CACHE_SHARED))
			return false;
		set[0].line |= CACHE_DIRTY;
	}
	return true;
}

/* Make the line with this key the most recently used, and return it; NULL on a miss. */
struct cache_line *cache_use(const struct cache *cache, struct cache_line *set, uint64_t key);

/*
 * Insert a line that cache_use() missed as the most recently used one. flags are
 * CACHE_DIRTY and CACHE_SHARED. Return the line that it replaces; its key is
 * CACHE_NO_KEY if the way was empty.
 */
struct cache_line cache_fill(const struct cache *cache, struct cache_line *set,
			     uint64_t key, uint64_t line, uint64_t flags);

/*
 * Make a line dirty without making it recently used. far is 0, or CACHE_FAR. Return false
 * on a miss.
 */
bool cache_soil(const struct cache *cache, struct cache_line *set, uint64_t key, uint64_t far);

/*
 * Return the first entry of the set, from way on, that holds this physical line, NULL if
 * there is none. An L1 can hold a line several times, by several virtual addresses.
 */
struct cache_line *cache_find(const struct cache *cache, struct cache_line *set,
			      unsigned int way, uint64_t line);

/*
 * Drop all lines of the set that hold this physical line, without writing them back.
 * Return how many there were; *dirty is set if one was dirty.
 */
unsigned int cache_drop(const struct cache *cache, struct cache_line *set, uint64_t line,
			bool *dirty);

#endif /* CACHE_H */
