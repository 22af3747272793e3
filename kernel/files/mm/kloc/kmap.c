// SPDX-License-Identifier: GPL-2.0
/*
 * Contexts of files: the map of all knodes (4.2).
 *
 * An xarray in place of the paper's red-black tree: it is walked under RCU. Ids are
 * used again, so that it has no more nodes than the knodes need.
 */
#include <linux/random.h>
#include <linux/rcupdate.h>
#include <linux/rcupdate_wait.h>

#include "kloc.h"

DEFINE_XARRAY_ALLOC1(kloc_kmap);

/* Changed under the lock of the kmap. */
static unsigned long kmap_knodes;

/**
 * add_to_kmap() - add a knode to the kmap (table 2)
 * @knode: the knode, new and inactive
 * @gfp: how to allocate
 *
 * Context: RCU read-side critical section, if @gfp does not allow to sleep.
 * Return: 0 or -ENOMEM.
 */
int add_to_kmap(struct knode *knode, gfp_t gfp)
{
	int error;

	xa_lock(&kloc_kmap);
	error = __xa_alloc(&kloc_kmap, &knode->id, knode, xa_limit_32b, gfp);
	if (!error)
		WRITE_ONCE(kmap_knodes, kmap_knodes + 1);
	xa_unlock(&kloc_kmap);
	return error;
}

/**
 * kmap_remove() - take a knode out of the kmap
 * @knode: the knode
 */
void kmap_remove(struct knode *knode)
{
	xa_lock(&kloc_kmap);
	__xa_erase(&kloc_kmap, knode->id);
	WRITE_ONCE(kmap_knodes, kmap_knodes - 1);
	xa_unlock(&kloc_kmap);
}

/**
 * kmap_count() - how many knodes are there?
 *
 * Return: the count.
 */
unsigned long kmap_count(void)
{
	return READ_ONCE(kmap_knodes);
}

/**
 * kmap_set_fast() - any knode may have pages on a node of fast memory
 * @index: of the node
 *
 * For a node that begins to take part when there are knodes already.
 *
 * Context: may sleep.
 */
void kmap_set_fast(unsigned int index)
{
	struct knode *knode;
	unsigned long id;

	rcu_read_lock();
	xa_for_each(&kloc_kmap, id, knode) {
		knode_set_fast(knode, index, true);
		cond_resched_rcu();
	}
	rcu_read_unlock();
}

/**
 * kmap_get_from() - find the first knode from an id on
 * @id: the id; it becomes that of the knode
 *
 * Return: the knode, to be given up with knode_put(); NULL if there is none.
 */
struct knode *kmap_get_from(unsigned long *id)
{
	struct knode *knode;

	rcu_read_lock();
	knode = xa_find(&kloc_kmap, id, ULONG_MAX, XA_PRESENT);
	while (knode && !knode_tryget(knode))
		knode = xa_find_after(&kloc_kmap, id, ULONG_MAX, XA_PRESENT);
	rcu_read_unlock();
	return knode;
}

/**
 * kmap_get_random() - find any knodes that may have pages on a node
 * @index: of a node of fast memory
 * @knodes: filled in with them
 * @most: room in @knodes
 *
 * What cold ones have to be compared with.
 *
 * Return: how many there are; knode_put() each when done with it.
 */
unsigned int kmap_get_random(unsigned int index, struct knode **knodes,
			     unsigned int most)
{
	unsigned int tries, count = 0;
	unsigned long id;

	/* Most ids below the count are in use, as they are used again. */
	for (tries = 0; tries < 8 * most && count < most; tries++) {
		struct knode *knode;

		id = 1 + get_random_u32_below(kmap_count() + 1);
		knode = kmap_get_from(&id);
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
