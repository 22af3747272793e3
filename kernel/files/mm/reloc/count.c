// SPDX-License-Identifier: GPL-2.0
/*
 * Relocatable slabs: how many pages are on each node, the caches whose pages are counted,
 * and how many of them have moved.
 */
#include <linux/atomic.h>
#include <linux/memory-tiers.h>
#include <linux/mutex.h>

#include "reloc.h"

/* The caches, which are only compared. Protected by reloc_mutex. */
static const struct kmem_cache *reloc_counted[RELOC_COUNTED];

/* What has moved, by the number of the cache. Protected by reloc_mutex. */
static struct reloc_moved reloc_moved[RELOC_COUNTED];

/**
 * reloc_number() - which number has a cache?
 * @cache: the cache, which is only compared; NULL for none
 *
 * Context: with reloc_mutex held.
 * Return: the number, which stays; -1 if there are too many caches, or for none. A slab
 *	   that is being made may have a flag where its cache will be, which is none, too.
 */
int reloc_number(const struct kmem_cache *cache)
{
	int i;

	lockdep_assert_held(&reloc_mutex);
	if ((unsigned long)cache < PAGE_SIZE)
		return -1;
	for (i = 0; i < RELOC_COUNTED; i++) {
		if (!reloc_counted[i])
			reloc_counted[i] = cache;
		if (reloc_counted[i] == cache)
			return i;
	}
	return -1;
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
	int number = reloc_number(cache);

	if (number < 0)
		return;
	if (node_is_toptier(nid))
		reloc_moved[number].up++;
	else
		reloc_moved[number].down++;
}

/**
 * reloc_moved_of() - how many pages of a cache have moved?
 * @number: that of the cache
 *
 * Context: with reloc_mutex held.
 * Return: pages since boot.
 */
struct reloc_moved reloc_moved_of(int number)
{
	lockdep_assert_held(&reloc_mutex);
	return reloc_moved[number];
}

/* Pages of slabs, by the node that they are on now. */
static atomic_long_t reloc_on_node[MAX_NUMNODES];

/**
 * reloc_count_on() - pages have come to a node, or left it
 * @nid: the node
 * @pages: how many more there are
 */
void reloc_count_on(int nid, long pages)
{
	atomic_long_add(pages, &reloc_on_node[nid]);
}

/**
 * reloc_pages_on() - how many pages of relocatable slabs are on a node?
 * @nid: the node
 *
 * Context: any.
 * Return: pages, with those that are not given back yet.
 */
unsigned long reloc_pages_on(int nid)
{
	return atomic_long_read(&reloc_on_node[nid]);
}
