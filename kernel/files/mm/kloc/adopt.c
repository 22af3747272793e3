// SPDX-License-Identifier: GPL-2.0
/*
 * Contexts of files: files that were in memory before there were contexts.
 *
 * A file gets its context when it is used. What was used before contexts were
 * switched on, and is not used again, would get none: nobody would have it leave
 * fast memory. So a node's thread looks at each page of its node once.
 */
#include <linux/kthread.h>
#include <linux/memory_hotplug.h>
#include <linux/mm.h>
#include <linux/mmzone.h>
#include <linux/pagemap.h>
#include <linux/rcupdate.h>

#include "kloc.h"

/* Pages that are looked at before the thread does what else there is to do. */
#define LOOK_AT		BIT(18)

/* And before others may run. */
#define LOOK_AT_ONCE	1024

/* The folio of a page, held, if it is on an LRU list of its node. */
static struct folio *get_folio(int nid, unsigned long pfn)
{
	struct page *page = pfn_to_online_page(pfn);
	struct folio *folio;

	if (!page || page_to_nid(page) != nid || PageTail(page))
		return NULL;
	folio = page_folio(page);
	if (!folio_test_lru(folio) || !folio_try_get(folio))
		return NULL;
	if (page_folio(page) == folio && folio_test_lru(folio))
		return folio;
	folio_put(folio);
	return NULL;
}

/* A file has a folio, which is locked and keeps its inode: give it a context. */
static void adopt(const struct kloc_node *node, struct address_space *mapping)
{
	struct knode *knode;

	rcu_read_lock();
	knode = kloc_knode_of(mapping->host);
	if (knode) {
		kloc_note_pages(knode, node->nid);
		/* Whether it is open is not known; what is mapped is used. */
		if (test_bit(KNODE_SYSTEM, &knode->flags) ||
		    mapping_mapped(mapping))
			knode_touch(&kloc_kmap, knode);
	}
	rcu_read_unlock();
}

/* Return: pages that were looked at. */
static unsigned long look_at(const struct kloc_node *node, unsigned long pfn)
{
	struct folio *folio = get_folio(node->nid, pfn);
	struct address_space *mapping;
	unsigned long pages;

	if (!folio)
		return 1;
	pages = folio_nr_pages(folio);
	if (!folio_test_anon(folio) && folio_trylock(folio)) {
		mapping = folio_mapping(folio);
		if (mapping && mapping->host)
			adopt(node, mapping);
		folio_unlock(folio);
	}
	folio_put(folio);
	return pages;
}

/* Do files get contexts that nobody who was chosen uses, and do their pages move? */
static bool adopts(void)
{
	return READ_ONCE(kloc_ready) && kloc_moves() &&
	       READ_ONCE(kloc_settings.scope) == KLOC_ALL;
}

/**
 * kloc_adopt() - give contexts to files that are in fast memory and have none
 * @node: the node whose pages are looked at; some at each call, until all were
 *
 * It begins anew after it was not to be done for a while: then there may be files
 * again that have none.
 *
 * Return: whether there are more pages to look at.
 */
bool kloc_adopt(struct kloc_node *node)
{
	unsigned long first = node_start_pfn(node->nid);
	unsigned long end = node_end_pfn(node->nid);
	unsigned long pfn, last, pause;

	if (!adopts()) {
		node->adopted = 0;
		return false;
	}
	pfn = max(node->adopted, first);
	last = min(pfn + LOOK_AT, end);
	for (pause = pfn; pfn < last; pfn += look_at(node, pfn)) {
		if (pfn < pause)
			continue;
		if (kthread_should_stop())
			return false;
		cond_resched();
		pause = pfn + LOOK_AT_ONCE;
	}
	node->adopted = pfn;
	return pfn < end;
}
