// SPDX-License-Identifier: GPL-2.0
/*
 * Contexts of files: what belongs to a context.
 *
 * Nothing is noted that an index has already: the pages of a file are those of its
 * page cache. What a knode notes is in which tiers there may be some.
 *
 * No reference to an inode is taken, or who walks might have to do what the last user
 * of an inode has to, and an unmount would have to wait for it. Folios are found in
 * i_pages under RCU, which keeps the inode's memory, and are then held themselves.
 */
#include <linux/dcache.h>
#include <linux/fs.h>
#include <linux/memory-tiers.h>
#include <linux/mm.h>
#include <linux/pagemap.h>
#include <linux/rcupdate.h>
#include <linux/tiering.h>

#include "kloc.h"

/* Entries of a mapping that are looked at before others may run. */
#define KLOC_LOOK	1024

/* Dentries of an inode that are looked at: it may have very many hard links. */
#define KLOC_DENTRIES	32

/* Is a folio where those are that are wanted? */
static bool kloc_is_wanted(const struct kloc_walk *walk, const struct folio *folio)
{
	int nid = folio_nid(folio);

	return walk->nid == NUMA_NO_NODE ? !node_is_toptier(nid) :
					   nid == walk->nid;
}

/* Hold a folio that was found, if it is wanted. */
static bool kloc_hold(struct kloc_walk *walk, struct xa_state *xas,
		      struct folio *folio)
{
	/* Of tmpfs, what was swapped out is there as a value. */
	if (xa_is_value(folio) || !kloc_is_wanted(walk, folio))
		return false;
	if (folio_try_get(folio)) {
		if (folio == xas_reload(xas) && kloc_is_wanted(walk, folio))
			return true;
		folio_put(folio);
	}
	/* It is about to go, or moves. */
	walk->left = true;
	return false;
}

/* The index after an entry, which a large folio has many of. */
static pgoff_t kloc_index_after(struct xa_state *xas)
{
	unsigned long entries = 1UL << xas_get_order(xas);

	return round_down(xas->xa_index, entries) + entries;
}

/* Find folios in a mapping that RCU keeps. */
static unsigned int kloc_find_folios(struct kloc_walk *walk,
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
		if (++looked_at == KLOC_LOOK || count == KLOC_WALK) {
			walk->index = kloc_index_after(&xas);
			return count;
		}
	}
	walk->done = true;
	return count;
}

/**
 * itr_knode_cache() - iterate over the page cache of a knode (table 2)
 * @walk: which one, where, from which index; updated
 * @folios: room for KLOC_WALK, filled in; each is held
 *
 * Return: how many were found; it may be 0 before @walk->done is set.
 */
unsigned int itr_knode_cache(struct kloc_walk *walk, struct folio **folios)
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

/* What itr_knode_slab() has found. */
struct kloc_found {
	bool (*choose)(const void *object);
	void **addrs;
	unsigned int count, most;
};

/* Add an object that was not looked at yet, if it is chosen. Return: room for more? */
static bool kloc_found_add(struct kloc_found *found, void *object)
{
	if (found->count < found->most && found->choose(object))
		found->addrs[found->count++] = object;
	return found->count < found->most;
}

/* The nodes of the tree of pages, down to the second level. */
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

/* The dentries that have led to an inode. */
static void kloc_find_dentries(struct kloc_found *found, struct inode *inode)
{
	unsigned int looks = KLOC_DENTRIES;
	struct dentry *dentry;

	spin_lock(&inode->i_lock);
	/* In an inode that is about to go, RCU's list is where the dentries were. */
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
 * @choose: says which; called with an object that was not looked at yet, so that what
 *	this does is no use of it
 * @addrs: filled in; the objects are not held
 * @most: room in @addrs
 *
 * They are the inode, the dentries that have led to it, and the nodes of the tree of its
 * pages.
 *
 * Return: how many were chosen.
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
 * kloc_pages() - how many pages does a context have?
 * @knode: the context
 *
 * Return: pages of all tiers; 0 if its inode is about to go.
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
 * knode_note_pages() - note in which tier a context may have pages
 * @knode: the context
 * @nid: node with some
 *
 * Context: RCU read-side critical section.
 */
void knode_note_pages(struct knode *knode, int nid)
{
	const struct tiering_node *tn;

	/*
	 * Either the note is seen to be cleared here, or these pages are found
	 * by the walk that comes after clearing it. Pairs with the barriers
	 * there.
	 */
	smp_mb();
	if (!node_is_toptier(nid)) {
		if (!test_bit(KNODE_SLOW, &knode->flags))
			set_bit(KNODE_SLOW, &knode->flags);
		return;
	}
	tn = rcu_dereference(tiering_near[nid]);
	if (tn)
		knode_set_fast(knode, tn->index, true);
}

/**
 * knode_add_obj() - a page of the page cache belongs to a knode (table 2)
 * @knode: the knode
 * @folio: the folio, locked
 *
 * Context: RCU read-side critical section.
 */
void knode_add_obj(struct knode *knode, struct folio *folio)
{
	knode_note_pages(knode, folio_nid(folio));
	/* No system call tells that a file system uses its own. */
	if (test_bit(KNODE_BLOCKDEV, &knode->flags))
		knode_touch(knode);
}

/**
 * kloc_kind() - what kind of pages does a context have?
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
 * kloc_takes_part() - is a context placed and moved?
 * @knode: the context
 *
 * What does not take part stays in fast memory (7.3).
 *
 * Return: true if its kind is one of those that are set.
 */
bool kloc_takes_part(const struct knode *knode)
{
	return READ_ONCE(kloc_settings.kinds) & BIT(kloc_kind(knode));
}
