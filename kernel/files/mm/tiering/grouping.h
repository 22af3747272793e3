/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Policies of memory tiers: the contract between the core and a grouping, which assigns
 * pages to contexts. There is one grouping, mm/kloc.
 */
#ifndef _MM_TIERING_GROUPING_H
#define _MM_TIERING_GROUPING_H

#include "policy.h"

/**
 * struct tiering_grouping - the assignment of pages to contexts
 * @start: start before a policy with TIERING_KNODES runs; the caller holds the lock of
 *	CPU hotplug
 * @stop: stop after the last policy with TIERING_KNODES has run; may sleep
 * @node_added: note that any context may have pages on the node with this index; may
 *	sleep
 * @covers: test whether this task's use of a mapping counts for a context. A NULL
 *	mapping stands for an inode that is looked up
 * @eligible: test whether a mapping gets a context if this task uses it, while a policy
 *	with TIERING_KNODES is selected
 * @of: find or create the context of a mapping; returns NULL for none
 * @find: find the context of a mapping; returns NULL for none
 * @kind: the kind of a context's pages
 * @add: note that a folio, which is locked, was added to a context
 * @note: note that a context has pages on a node
 * @walk: find and hold up to TIERING_WALK folios of a context. Returns the number of
 *	folios, which may be 0 before @walk->done is set
 * @walk_slab: find objects of a context on relocatable slabs that @choose accepts.
 *	Neither reads the objects, which would count as a use. Returns the number of
 *	objects in @addrs
 *
 * The core calls @start, @stop, @node_added and the walks outside of RCU; the walks
 * hold their context. It calls the others in an RCU read-side critical section of any
 * kind.
 */
struct tiering_grouping {
	void (*start)(void);
	void (*stop)(void);
	void (*node_added)(unsigned int index);
	bool (*covers)(const struct address_space *mapping);
	bool (*eligible)(const struct address_space *mapping);
	struct knode *(*of)(struct address_space *mapping);
	struct knode *(*find)(const struct address_space *mapping);
	enum tiering_kind (*kind)(const struct knode *knode);
	void (*add)(struct knode *knode, struct folio *folio);
	void (*note)(struct knode *knode, int nid);
	unsigned int (*walk)(struct tiering_walk *walk, struct folio **folios);
	unsigned int (*walk_slab)(const struct knode *knode,
				  bool (*choose)(const void *object),
				  void **addrs, unsigned int most);
};

/* The functions that a grouping may call. */
void tiering_register_grouping(const struct tiering_grouping *grouping);
void tiering_context_active(struct knode *knode);
int tiering_fast_nid(void);

#endif /* _MM_TIERING_GROUPING_H */
