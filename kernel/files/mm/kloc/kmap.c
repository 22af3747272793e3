// SPDX-License-Identifier: GPL-2.0
/*
 * Contexts of files: the map of all knodes (4.2).
 *
 * An xarray in place of the paper's red-black tree, for walks under RCU. Ids are used
 * again, to keep the xarray compact.
 */
#include <linux/random.h>
#include <linux/rcupdate.h>
#include <linux/rcupdate_wait.h>

#include "kloc.h"

DEFINE_XARRAY_ALLOC1(knode_kmap);

/* Number of knodes in the kmap. Written under its lock. */
static unsigned long knode_registered;

/**
 * add_to_kmap() - add a knode to the kmap (table 2)
 * @knode: the knode, new and inactive
 * @gfp: allocation flags
 *
 * Context: RCU read-side critical section, if @gfp does not allow to sleep.
 * Return: 0 or -ENOMEM.
 */
int add_to_kmap(struct knode *knode, gfp_t gfp)
{
	int error;

	xa_lock(&knode_kmap);
	error = __xa_alloc(&knode_kmap, &knode->id, knode, xa_limit_32b, gfp);
	if (!error)
		WRITE_ONCE(knode_registered, knode_registered + 1);
	xa_unlock(&knode_kmap);
	return error;
}

/**
 * knode_unregister() - remove a knode from the kmap
 * @knode: the knode
 */
void knode_unregister(struct knode *knode)
{
	xa_lock(&knode_kmap);
	__xa_erase(&knode_kmap, knode->id);
	WRITE_ONCE(knode_registered, knode_registered - 1);
	xa_unlock(&knode_kmap);
}

/**
 * knode_count() - get the number of knodes
 *
 * Return: the count.
 */
unsigned long knode_count(void)
{
	return READ_ONCE(knode_registered);
}

/**
 * knode_all_set_fast() - note for all knodes that they may have pages on a fast node
 * @index: index of the node
 *
 * For a node that is added while there are knodes.
 *
 * Context: may sleep.
 */
void knode_all_set_fast(unsigned int index)
{
	struct knode *knode;
	unsigned long id;

	rcu_read_lock();
	xa_for_each(&knode_kmap, id, knode) {
		knode_set_fast(knode, index, true);
		cond_resched_rcu();
	}
	rcu_read_unlock();
}

/**
 * knode_get_from() - get the first knode with an id or a higher one
 * @id: the id; set to the id of the knode
 *
 * Return: the knode, which the caller has to put; NULL if there is none.
 */
struct knode *knode_get_from(unsigned long *id)
{
	struct knode *knode;

	rcu_read_lock();
	knode = xa_find(&knode_kmap, id, ULONG_MAX, XA_PRESENT);
	while (knode && !knode_tryget(knode))
		knode = xa_find_after(&knode_kmap, id, ULONG_MAX, XA_PRESENT);
	rcu_read_unlock();
	return knode;
}

/**
 * knode_get_random() - get random knodes that may have pages on a node
 * @index: index of the node
 * @knodes: filled in with the knodes
 * @most: size of @knodes
 *
 * For the policy kloc-random, the control for demotion of cold knodes.
 *
 * Return: the number of knodes; the caller has to put each.
 */
unsigned int knode_get_random(unsigned int index, struct knode **knodes,
			      unsigned int most)
{
	unsigned int tries, count = 0;
	unsigned long id;

	/* Ids are used again, so most ids below the count exist. */
	for (tries = 0; tries < 8 * most && count < most; tries++) {
		struct knode *knode;

		id = 1 + get_random_u32_below(knode_count() + 1);
		knode = knode_get_from(&id);
		if (knode && knode_fast(knode, index))
			knodes[count++] = knode;
		else if (knode)
			knode_put(knode);
	}
	return count;
}

#ifdef CONFIG_KLOC_KUNIT_TEST
#include "tests/kmap-kunit.h"
#endif
