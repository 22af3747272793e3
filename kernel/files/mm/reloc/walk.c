// SPDX-License-Identifier: GPL-2.0
/*
 * Relocatable slabs: finding pages.
 */
#include <linux/minmax.h>
#include <linux/mm.h>
#include <linux/nodemask.h>
#include <linux/sched.h>

#include "../slab.h"
#include "reloc.h"

/**
 * reloc_nid() - get the current node of the memory at an address
 * @addr: an address in a slab in the arena
 *
 * SLUB and its statistics use the node of the descriptor, where the page was allocated.
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
 * reloc_cache_of() - find the cache of a page
 * @desc: the descriptor of the page
 *
 * The slab may be freed at any time, so the pointer may be stale: only compare it,
 * never dereference it.
 *
 * Return: the cache, or NULL.
 */
struct kmem_cache *reloc_cache_of(struct page *desc)
{
	struct folio *folio = page_folio(desc);
	struct kmem_cache *cache;

	if (!folio_test_slab(folio))
		return NULL;
	/* The slab may be freed meanwhile, see above. */
	cache = data_race(folio_slab(folio)->slab_cache);
	/* A slab that is freed by now may have had a list link in the field. */
	smp_rmb();
	/* A slab that is being set up may have a page allocator flag in the field. */
	return folio_test_slab(folio) && (unsigned long)cache >= PAGE_SIZE ? cache : NULL;
}

/*
 * Find the next slab page from *cursor on, and set *addr to its address. Return: the
 * node of the page, or NUMA_NO_NODE at the end of the arena.
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

/* Test whether the page at an address belongs to a cache, NULL for any. */
static bool reloc_is_of(const void *addr, const struct kmem_cache *cache)
{
	return !cache || reloc_cache_of(reloc_desc(addr)) == cache;
}

/* The largest number of pages to check under the lock. */
#define RELOC_LOOK	4096

/**
 * reloc_collect() - find pages that are not on a node
 * @cache: find pages of this cache, only compared; NULL for all
 * @nid: the node
 * @cursor: offset of the next page to check, 0 to begin; updated
 * @addrs: filled in with addresses of pages
 * @nr: size of @addrs
 *
 * Context: process.
 * Return: the number of pages; 0 at the end of the arena.
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
 * Find chosen pages of a chunk from *cursor on. Checks at most *looks pages. Scans run
 * this for all pages, so it reads only the descriptors of chosen ones.
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
 * @choose: chooses a slab page by its record
 * @data: argument of @choose
 * @cursor: offset of the next page to check, 0 to begin; updated, RELOC_SIZE at the end
 * @addrs: filled in with addresses of pages
 * @nr: size of @addrs
 *
 * Checks a bounded number of pages.
 *
 * Context: process.
 * Return: the number of pages, which may be 0 before the end.
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
 * @count: called for each page under reloc_mutex, with the cache, which must only be
 *	compared, the address, and the node of the page
 * @data: argument of @count
 *
 * Pages may be moved, allocated and freed meanwhile.
 *
 * Context: process.
 */
void reloc_count_pages(void (*count)(const struct kmem_cache *cache, const void *addr,
				     int nid, void *data), void *data)
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
			count(reloc_cache_of(reloc_desc(addr)), addr, nid, data);
		}
		mutex_unlock(&reloc_mutex);
		cond_resched();
	}
}
