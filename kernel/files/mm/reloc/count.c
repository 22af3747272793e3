// SPDX-License-Identifier: GPL-2.0
/*
 * Relocatable slabs: how many pages of which cache have moved.
 */
#include <linux/array_size.h>
#include <linux/memory-tiers.h>
#include <linux/mutex.h>

#include "reloc.h"

/* By cache, which is only compared. Protected by reloc_mutex. */
static struct {
	const struct kmem_cache *cache;
	struct reloc_moved moved;
} reloc_counts[16];

/* Return what is counted of a cache, NULL if there are too many caches. */
static struct reloc_moved *reloc_counted(const struct kmem_cache *cache)
{
	unsigned int i;

	lockdep_assert_held(&reloc_mutex);
	for (i = 0; i < ARRAY_SIZE(reloc_counts); i++) {
		if (!reloc_counts[i].cache)
			reloc_counts[i].cache = cache;
		if (reloc_counts[i].cache == cache)
			return &reloc_counts[i].moved;
	}
	return NULL;
}

/**
 * reloc_count_moved() - count a page that has moved
 * @cache: whose it is, which is only compared; NULL if its slab was freed meanwhile
 * @nid: where it has come
 *
 * Context: with reloc_mutex held.
 */
void reloc_count_moved(const struct kmem_cache *cache, int nid)
{
	struct reloc_moved *moved = cache ? reloc_counted(cache) : NULL;

	if (!moved)
		return;
	if (node_is_toptier(nid))
		moved->up++;
	else
		moved->down++;
}

/**
 * reloc_moved_of() - how many pages of a cache have moved?
 * @cache: the cache, which is only compared
 *
 * Context: process.
 * Return: pages since boot.
 */
struct reloc_moved reloc_moved_of(const struct kmem_cache *cache)
{
	struct reloc_moved *counted, moved = { };

	mutex_lock(&reloc_mutex);
	counted = reloc_counted(cache);
	if (counted)
		moved = *counted;
	mutex_unlock(&reloc_mutex);
	return moved;
}
