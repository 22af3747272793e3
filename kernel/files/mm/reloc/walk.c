// SPDX-License-Identifier: GPL-2.0
/*
 * Relocatable slabs: which page is where.
 */
#include <linux/minmax.h>
#include <linux/mm.h>
#include <linux/nodemask.h>
#include <linux/sched.h>

#include "../slab.h"
#include "reloc.h"

/**
 * reloc_nid() - which node is the memory at an address on now?
 * @addr: an address in a slab in the arena
 *
 * The node that the page was allocated on, by which SLUB and statistics know it,
 * is that of its descriptor.
 *
 * Context: process.
 * Return: the node, or NUMA_NO_NODE if no slab has a page there.
 */
int reloc_nid(const void *addr)
{
	int nid = NUMA_NO_NODE;
	pte_t *ptep;

	mutex_lock(&reloc_mutex);
	ptep = reloc_find_pte(addr);
	if (ptep)
		nid = page_to_nid(pte_page(ptep_get(ptep)));
	mutex_unlock(&reloc_mutex);
	return nid;
}

/**
 * reloc_cache_of() - which cache is a page of?
 * @desc: the descriptor of the page
 *
 * The slab may be freed at any time. Then this may be the link of a list, which is no
 * cache: it can be compared, and not be used.
 *
 * Return: the cache, or NULL.
 */
struct kmem_cache *reloc_cache_of(struct page *desc)
{
	struct folio *folio = page_folio(desc);
	struct kmem_cache *cache;

	if (!folio_test_slab(folio))
		return NULL;
	/* It may change meanwhile, see above. */
	cache = data_race(folio_slab(folio)->slab_cache);
	/* What was freed by now had something else there, perhaps. */
	smp_rmb();
	return folio_test_slab(folio) ? cache : NULL;
}

/*
 * Find the next page of a slab from *cursor on.
 *
 * The address is in *addr. Return the node that the page is on, or NUMA_NO_NODE at
 * the end of the arena.
 */
static int reloc_next_page(unsigned long *cursor, void **addr)
{
	unsigned long offset = *cursor;
	int nid = NUMA_NO_NODE;

	while (nid == NUMA_NO_NODE && offset < RELOC_SIZE) {
		unsigned long index = reloc_next_chunk(offset / RELOC_CHUNK_SIZE);
		pte_t *ptep;

		offset = max(offset, index * RELOC_CHUNK_SIZE);
		if (offset >= RELOC_SIZE)
			break;
		*addr = (void *)(RELOC_START + offset);
		offset += PAGE_SIZE;
		ptep = reloc_find_pte(*addr);
		if (ptep && reloc_cache_of(reloc_desc(*addr)))
			nid = page_to_nid(pte_page(ptep_get(ptep)));
	}
	*cursor = offset;
	return nid;
}

/* Is this an address of a page of a cache, or of any if it is NULL? */
static bool reloc_is_of(const void *addr, const struct kmem_cache *cache)
{
	return !cache || reloc_cache_of(reloc_desc(addr)) == cache;
}

/* Pages that are looked at before others may have the lock. */
#define RELOC_LOOK	4096

/**
 * reloc_collect() - find pages that are not on a node
 * @cache: pages of this cache, which is only compared; NULL: of all
 * @nid: the node
 * @cursor: where to begin, 0 at first; where to go on
 * @addrs: the addresses that were found
 * @nr: the size of @addrs
 *
 * Context: process.
 * Return: how many were found; 0 at the end of the arena.
 */
unsigned int reloc_collect(const struct kmem_cache *cache, int nid, unsigned long *cursor,
			   void **addrs, unsigned int nr)
{
	unsigned int found = 0, i;

	while (found < nr && *cursor < RELOC_SIZE) {
		mutex_lock(&reloc_mutex);
		for (i = 0; i < RELOC_LOOK && found < nr; i++) {
			int at = reloc_next_page(cursor, &addrs[found]);

			if (at == NUMA_NO_NODE)
				break;
			found += at != nid && reloc_is_of(addrs[found], cache);
		}
		mutex_unlock(&reloc_mutex);
		cond_resched();
	}
	return found;
}

/*
 * Look at pages of a chunk from *cursor on, as many as *looks. That is done often, and for
 * all pages: descriptors are not touched but those of pages that are chosen.
 */
static unsigned int reloc_find_in_chunk(reloc_choose_t choose, void *data,
					unsigned long *cursor, unsigned int *looks,
					void **addrs, unsigned int nr)
{
	struct reloc_chunk *chunk = reloc_chunk_at(*cursor / RELOC_CHUNK_SIZE);
	const struct reloc_page *pages = chunk->pages;
	unsigned int i = *cursor % RELOC_CHUNK_SIZE / PAGE_SIZE;
	unsigned int begin = i, found = 0;

	for (; i < RELOC_CHUNK_PAGES && found < nr && i - begin < *looks; i++) {
		void *addr = (void *)chunk + i * PAGE_SIZE;

		if (reloc_page_nid(&pages[i]) != NUMA_NO_NODE && choose(&pages[i], data) &&
		    reloc_find_pte(addr) && reloc_cache_of(reloc_desc(addr)))
			addrs[found++] = addr;
	}
	*looks -= i - begin;
	*cursor += (i - begin) * PAGE_SIZE;
	return found;
}

/**
 * reloc_find() - find pages that the caller chooses
 * @choose: says which, by the node that they are on and when they were used
 * @data: for @choose
 * @cursor: where to begin, 0 at first; where to go on, RELOC_SIZE at the end
 * @addrs: the addresses that were found
 * @nr: the size of @addrs
 *
 * Looks at a bounded number of pages.
 *
 * Context: process.
 * Return: how many were found, which may be 0 before the end.
 */
unsigned int reloc_find(reloc_choose_t choose, void *data, unsigned long *cursor,
			void **addrs, unsigned int nr)
{
	unsigned int looks = RELOC_LOOK, found = 0;

	mutex_lock(&reloc_mutex);
	while (looks && found < nr && *cursor < RELOC_SIZE) {
		unsigned long index = reloc_next_chunk(*cursor / RELOC_CHUNK_SIZE);

		*cursor = max(*cursor, index * RELOC_CHUNK_SIZE);
		if (*cursor < RELOC_SIZE)
			found += reloc_find_in_chunk(choose, data, cursor, &looks,
						     addrs + found, nr - found);
	}
	mutex_unlock(&reloc_mutex);
	return found;
}

/**
 * reloc_count_pages() - count the pages of all caches on all nodes
 * @count: called with reloc_mutex held for each page, with its cache, which is only to be
 *	compared, its node, and whether no scan of the last eight found it used
 * @data: for @count
 *
 * Others may move, allocate and free pages meanwhile.
 *
 * Context: process.
 */
void reloc_count_pages(void (*count)(const struct kmem_cache *cache, int nid, bool unused,
				     void *data), void *data)
{
	unsigned long cursor = 0;
	unsigned int i;
	void *addr;
	int nid;

	while (cursor < RELOC_SIZE) {
		mutex_lock(&reloc_mutex);
		for (i = 0; i < RELOC_LOOK; i++) {
			nid = reloc_next_page(&cursor, &addr);
			if (nid == NUMA_NO_NODE)
				break;
			count(reloc_cache_of(reloc_desc(addr)), nid,
			      !READ_ONCE(reloc_page_of(addr)->history), data);
		}
		mutex_unlock(&reloc_mutex);
		cond_resched();
	}
}
