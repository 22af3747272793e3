// SPDX-License-Identifier: GPL-2.0
/*
 * Contexts of files: the objects of a context.
 *
 * A context needs no index of its own: the pages of a file are in i_pages. A knode only
 * notes the nodes of fast memory, and whether in slow memory, where pages may be.
 *
 * Walks take no reference to an inode: dropping the last one would have to evict the
 * inode, and an unmount would wait for the walk. They find folios in i_pages under RCU,
 * which keeps the inode's memory, and hold the folios.
 */
#include <linux/dcache.h>
#include <linux/fs.h>
#include <linux/mm.h>
#include <linux/pagemap.h>
#include <linux/rcupdate.h>
#include <linux/tiering.h>

#include "kloc.h"

/* The largest number of entries of a mapping to check in an RCU section. */
#define KLOC_LOOK	1024

/* The largest number of dentries of an inode to check: hard links may be many. */
#define KLOC_DENTRIES	32

/* Test whether a folio is on a node that a walk wants. */
static bool kloc_is_wanted(const struct tiering_walk *walk, const struct folio *folio)
{
	int nid = folio_nid(folio);

	return walk->nid == NUMA_NO_NODE ? tiering_is_slow(nid) : nid == walk->nid;
}

/* Hold a folio that was found, if the walk wants its node. */
static bool kloc_hold(struct tiering_walk *walk, struct xa_state *xas,
		      struct folio *folio)
{
	/* In tmpfs, swapped-out pages are value entries. */
	if (xa_is_value(folio) || !kloc_is_wanted(walk, folio))
		return false;
	if (folio_try_get(folio)) {
		if (folio == xas_reload(xas) && kloc_is_wanted(walk, folio))
			return true;
		folio_put(folio);
	}
	/* The folio is being freed, or moves. */
	walk->left = true;
	return false;
}

/* Get the index after an entry; the entry of a large folio spans several. */
static pgoff_t kloc_index_after(struct xa_state *xas)
{
	unsigned long entries = 1UL << xas_get_order(xas);

	return round_down(xas->xa_index, entries) + entries;
}

/* Find folios in a mapping that RCU protects. */
static unsigned int kloc_find_folios(struct tiering_walk *walk,
				     struct address_space *mapping,
				     struct folio **folios)
{
	unsigned int looked_at = 0, count = 0;
	XA_STATE(xas, &mapping->i_pages, walk->index);
	struct folio *folio;

	xas_for_each(&xas, folio, ULONG_MAX) {
		if (xas_retry(&xas, folio))
			continue;
		if (kloc_hold(walk, &xas, folio))
			folios[count++] = folio;
		walk->looks++;
		if (++looked_at == KLOC_LOOK || count == TIERING_WALK) {
			walk->index = kloc_index_after(&xas);
			return count;
		}
	}
	walk->done = true;
	return count;
}

/**
 * itr_knode_cache() - iterate over the page cache of a knode (table 2)
 * @walk: the walk; updated
 * @folios: array of TIERING_WALK entries, filled in with held folios
 *
 * Return: the number of folios; it may be 0 before @walk->done is set.
 */
unsigned int itr_knode_cache(struct tiering_walk *walk, struct folio **folios)
{
	unsigned int count = 0;
	struct inode *inode;

	rcu_read_lock();
	inode = rcu_dereference(walk->knode->inode);
	if (inode) {
		walk->mapping = inode->i_mapping;
		count = kloc_find_folios(walk, inode->i_mapping, folios);
	} else {
		walk->done = true;
	}
	rcu_read_unlock();
	return count;
}

/* The result of itr_knode_slab(). */
struct kloc_found {
	bool (*choose)(const void *object);
	void **addrs;
	unsigned int count, most;
};

/* Add an object if it is chosen. Return: true if there is room for more. */
static bool kloc_found_add(struct kloc_found *found, void *object)
{
	if (found->count < found->most && found->choose(object))
		found->addrs[found->count++] = object;
	return found->count < found->most;
}

/* Find the nodes of the tree of pages, down to the second level. */
static void kloc_find_nodes(struct kloc_found *found, struct address_space *mapping)
{
	struct xarray *pages = &mapping->i_pages;
	void *entry = xa_head(pages);
	struct xa_node *node;
	unsigned int i;

	if (!xa_is_node(entry))
		return;
	node = xa_to_node(entry);
	if (!kloc_found_add(found, node) || !node->shift)
		return;
	for (i = 0; i < XA_CHUNK_SIZE; i++) {
		entry = xa_entry(pages, node, i);
		if (xa_is_node(entry) && !kloc_found_add(found, xa_to_node(entry)))
			return;
	}
}

/* Find the dentries of an inode. */
static void kloc_find_dentries(struct kloc_found *found, struct inode *inode)
{
	unsigned int looks = KLOC_DENTRIES;
	struct dentry *dentry;

	spin_lock(&inode->i_lock);
	/* In an inode that is being freed, i_rcu overlays i_dentry. */
	if (!(inode->i_state & (I_NEW | I_WILL_FREE | I_FREEING | I_CLEAR))) {
		hlist_for_each_entry(dentry, &inode->i_dentry, d_u.d_alias)
			if (!looks-- || !kloc_found_add(found, dentry))
				break;
	}
	spin_unlock(&inode->i_lock);
}

/**
 * itr_knode_slab() - find slab objects of a knode that can move (table 2)
 * @knode: the knode
 * @choose: selects objects; called before the object is read, which would count as a
 *	use
 * @addrs: filled in; the objects are not held
 * @most: size of @addrs
 *
 * The objects are the inode, its dentries, and the nodes of its tree of pages.
 *
 * Return: the number of objects in @addrs.
 */
unsigned int itr_knode_slab(const struct knode *knode,
			    bool (*choose)(const void *object), void **addrs,
			    unsigned int most)
{
	struct kloc_found found = { .choose = choose, .addrs = addrs, .most = most };
	struct inode *inode;

	rcu_read_lock();
	inode = rcu_dereference(knode->inode);
	if (inode && kloc_found_add(&found, inode)) {
		kloc_find_dentries(&found, inode);
		kloc_find_nodes(&found, inode->i_mapping);
	}
	rcu_read_unlock();
	return found.count;
}

/**
 * kloc_pages() - count the pages of a context
 * @knode: the context
 *
 * Return: pages of all tiers; 0 if its inode is being destroyed.
 */
unsigned long kloc_pages(const struct knode *knode)
{
	unsigned long pages = 0;
	struct inode *inode;

	rcu_read_lock();
	inode = rcu_dereference(knode->inode);
	if (inode)
		pages = READ_ONCE(inode->i_mapping->nrpages);
	rcu_read_unlock();
	return pages;
}

/**
 * knode_note_pages() - note that a context has pages on a node
 * @knode: the context
 * @nid: the node
 *
 * Context: RCU read-side critical section.
 */
void knode_note_pages(struct knode *knode, int nid)
{
	int index;

	/*
	 * A walk clears the note before it searches: either this function sees the
	 * cleared note, or the walk finds these pages. Pairs with the barriers after
	 * clearing the note.
	 */
	smp_mb();
	index = tiering_is_slow(nid) ? -1 : tiering_node_index(nid);
	if (index >= 0)
		knode_set_fast(knode, index, true);
	/* A hotplugged node may not take part yet: note it as slow memory. */
	else if (!test_bit(KNODE_SLOW, &knode->flags))
		set_bit(KNODE_SLOW, &knode->flags);
}

/**
 * knode_add_obj() - note that a folio was added to the page cache of a knode (table 2)
 * @knode: the knode
 * @folio: the folio, locked
 *
 * Context: RCU read-side critical section.
 */
void knode_add_obj(struct knode *knode, struct folio *folio)
{
	knode_note_pages(knode, folio_nid(folio));
	/*
	 * A file system uses its device without system calls: adding a page is a use.
	 */
	if (test_bit(KNODE_BLOCKDEV, &knode->flags))
		knode_touch(knode);
}

/**
 * kloc_kind() - get the kind of a context's pages
 * @knode: the context
 *
 * Return: the kind.
 */
enum tiering_kind kloc_kind(const struct knode *knode)
{
	return test_bit(KNODE_BLOCKDEV, &knode->flags) ? TIERING_BLOCKDEV :
							 TIERING_FILE;
}

/**
 * kloc_takes_part() - test whether policies place and move a context
 * @knode: the context
 *
 * A context of an excluded kind stays in fast memory (7.3).
 *
 * Return: true if the kind of its pages is not excluded.
 */
bool kloc_takes_part(const struct knode *knode)
{
	return tiering_takes_part(kloc_kind(knode));
}
