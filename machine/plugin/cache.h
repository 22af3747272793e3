/* SPDX-License-Identifier: GPL-2.0 */
/*
 * A set-associative write-back cache with true LRU order.
 *
 * A line is found by its key and remembers which physical line it holds, so
 * that the same code serves the L1 (keys are virtual) and the last level (keys
 * are physical lines). The lines of a set are kept in the order of their use:
 * the first is the latest, the last is the next to go.
 */
#ifndef CACHE_H
#define CACHE_H

#include <stdbool.h>

#include "units.h"

#define CACHE_NO_KEY	(~0ULL)		/* of a line that holds nothing */
#define CACHE_DIRTY	1ULL

struct cache_line {
	uint64_t key;
	uint64_t line;		/* physical line number << 1 | CACHE_DIRTY */
};

struct cache {
	struct cache_line *lines;
	uint64_t set_mask;
	unsigned int ways;
	unsigned int shift;	/* a set takes 2^shift lines of the array */
};

bool cache_init(struct cache *cache, uint64_t bytes, unsigned int ways);
void cache_free(struct cache *cache);

/* Empty it; what was dirty is forgotten. */
void cache_clear(struct cache *cache);

/* The set that index falls in. Only the low bits of index count. */
static inline struct cache_line *cache_set(const struct cache *cache, uint64_t index)
{
	return cache->lines + ((index & cache->set_mask) << cache->shift);
}

/*
 * Spread physical lines over the sets as the hash of a real last-level cache
 * does, so that a power-of-two stride does not fall on one set.
 */
static inline uint64_t cache_hash(uint64_t line)
{
	return line ^ line >> 10 ^ line >> 20;
}

/*
 * Use the line with this key, if it is one of the latest two of its set, which
 * nearly all hits of an L1 are. Every cache has two ways.
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

/* Use the line with this key, if it is there; a store makes it dirty. */
bool cache_use(const struct cache *cache, struct cache_line *set, uint64_t key, bool store);

/*
 * Put a line first in its set, where cache_use() did not find it. The line
 * that had to go is returned; its key is CACHE_NO_KEY if the way was free.
 */
struct cache_line cache_fill(const struct cache *cache, struct cache_line *set,
			     uint64_t key, uint64_t line, bool store);

/* Make a line dirty without counting it as a use; false if it is not there. */
bool cache_soil(const struct cache *cache, struct cache_line *set, uint64_t key);

/* Drop all lines of the set that hold this physical line, dirty or not. */
void cache_drop(const struct cache *cache, struct cache_line *set, uint64_t line);

#endif /* CACHE_H */
