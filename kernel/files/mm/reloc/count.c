// SPDX-License-Identifier: GPL-2.0
/*
 * Relocatable slabs: counts of pages on each node, and of moves of each cache.
 */
#include <linux/atomic.h>
#include <linux/memory-tiers.h>
#include <linux/mutex.h>

#include "reloc.h"

/* The caches; only compared, never dereferenced. Protected by reloc_mutex. */
static const struct kmem_cache *reloc_counted[RELOC_COUNTED];

/* Moves, by the number of the cache. Protected by reloc_mutex. */
static struct reloc_moved reloc_moved[RELOC_COUNTED];

/**
 * reloc_number() - find the number of a cache, or give it one
 * @cache: the cache, only compared; NULL for none
 *
 * The cache keeps the number until reloc_forget_cache().
 *
 * Context: with reloc_mutex held.
 * Return: the number; -1 for no cache, and if there are too many caches.
 */
int reloc_number(const struct kmem_cache *cache)
{
	int i, free = -1;

	lockdep_assert_held(&reloc_mutex);
	if (!cache)
		return -1;
	for (i = 0; i < RELOC_COUNTED; i++) {
		if (reloc_counted[i] == cache)
			return i;
		if (!reloc_counted[i] && free < 0)
			free = i;
	}
	if (free >= 0) {
		reloc_counted[free] = cache;
		reloc_moved[free] = (struct reloc_moved) { };
	}
	return free;
}

/**
 * reloc_forget_cache() - give back the number of a cache
 * @cache: the cache, which is about to be destroyed and has no slabs
 *
 * Context: process; may sleep.
 */
void reloc_forget_cache(const struct kmem_cache *cache)
{
	int i;

	mutex_lock(&reloc_mutex);
	for (i = 0; i < RELOC_COUNTED; i++)
		if (reloc_counted[i] == cache)
			reloc_counted[i] = NULL;
	mutex_unlock(&reloc_mutex);
}

/**
 * reloc_count_moved() - count a page that has moved
 * @cache: cache of the page, only compared; NULL if the slab was freed meanwhile
 * @nid: new node of the page
 *
 * Context: with reloc_mutex held.
 */
void reloc_count_moved(const struct kmem_cache *cache, int nid)
{
	int number = reloc_number(cache);

	if (number < 0)
		return;
	if (node_is_toptier(nid))
		reloc_moved[number].up++;
	else
		reloc_moved[number].down++;
}

/**
 * reloc_moved_of() - get the moves of a cache's pages
 * @number: the number of the cache
 *
 * Context: with reloc_mutex held.
 * Return: pages since the cache has the number.
 */
struct reloc_moved reloc_moved_of(int number)
{
	lockdep_assert_held(&reloc_mutex);
	return reloc_moved[number];
}

/* Pages of slabs, by the node that they are on now. */
static atomic_long_t reloc_on_node[MAX_NUMNODES];

/**
 * reloc_count_on() - count pages that were added to a node or removed from it
 * @nid: the node
 * @pages: number of pages added; negative for pages removed
 */
void reloc_count_on(int nid, long pages)
{
	atomic_long_add(pages, &reloc_on_node[nid]);
}

/**
 * reloc_pages_on() - get the number of pages of relocatable slabs on a node
 * @nid: the node
 *
 * Context: any.
 * Return: pages, including freed slabs whose pages are still mapped.
 */
unsigned long reloc_pages_on(int nid)
{
	return atomic_long_read(&reloc_on_node[nid]);
}
