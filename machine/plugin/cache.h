/* SPDX-License-Identifier: GPL-2.0 */
/*
 * A set-associative write-back cache with exact LRU replacement.
 *
 * A line is found by its key, and also holds the number of its physical line.
 * So the same code models the L1, whose keys are virtual lines (see spaces.h),
 * and the last level, whose keys are physical lines. The lines of a set are in
 * the order of their last use: the most recently used first, the next victim
 * last.
 *
 * The caller looks up a set with cache_set(), tries cache_use(), and on a miss
 * inserts the line with cache_fill().
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

struct cache_line {
	uint64_t key;
	uint64_t line;		/* physical line number << 1 | CACHE_DIRTY */
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

/*
 * Hash a physical line into an index for cache_set(), as the last levels of
 * real processors do, so that a power-of-two stride does not map to one set.
 */
static inline uint64_t cache_hash(uint64_t line)
{
	return line ^ line >> 10 ^ line >> 20;
}

/*
 * Like cache_use(), but look only at the two most recently used lines of the
 * set, which serve nearly all hits of an L1. A cache has at least two ways.
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
	if (store)
		set[0].line |= CACHE_DIRTY;
	return true;
}

/*
 * Access the line with this key: make it the most recently used, and dirty if
 * this is a store. Return false on a miss.
 */
bool cache_use(const struct cache *cache, struct cache_line *set, uint64_t key, bool store);

/*
 * Insert a line that cache_use() missed as the most recently used one. Return
 * the line that it replaces; its key is CACHE_NO_KEY if the way was empty.
 */
struct cache_line cache_fill(const struct cache *cache, struct cache_line *set,
			     uint64_t key, uint64_t line, bool store);

/* Make a line dirty without making it recently used. Return false on a miss. */
bool cache_soil(const struct cache *cache, struct cache_line *set, uint64_t key);

/* Drop all lines of the set that hold this physical line, without writing them back. */
void cache_drop(const struct cache *cache, struct cache_line *set, uint64_t line);

#endif /* CACHE_H */
