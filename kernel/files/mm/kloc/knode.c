// SPDX-License-Identifier: GPL-2.0
/*
 * Contexts of files: the life of a knode.
 *
 * A knode belongs to its inode and goes with it. It is made when it is needed
 * first, and holds no reference to the inode. Whoever found the knode elsewhere
 * follows knode->inode under RCU: it is cleared before the inode is freed, and
 * file systems free inodes after a grace period.
 */
#include <linux/fs.h>
#include <linux/init.h>
#include <linux/rcupdate.h>
#include <linux/rcupdate_wait.h>
#include <linux/slab.h>
#include <linux/smp.h>

#include "kloc.h"

#define CREATE_TRACE_POINTS
#include <trace/events/kloc.h>

static struct kmem_cache *knode_cache __ro_after_init;

/* Allocate a knode, on one node if there is room (4.2.2). */
static struct knode *knode_alloc(gfp_t gfp, int nid)
{
	struct knode *knode = NULL;

	gfp |= __GFP_ZERO;
	if (nid != NUMA_NO_NODE)
		knode = kmem_cache_alloc_node(knode_cache,
					      (gfp & ~__GFP_RECLAIM) |
					      __GFP_THISNODE | __GFP_NOWARN, nid);
	if (!knode)
		knode = kmem_cache_alloc(knode_cache, gfp);
	if (knode) {
		refcount_set(&knode->refs, 1);
		INIT_LIST_HEAD(&knode->link);
	}
	return knode;
}

/**
 * knode_put() - end the use of a knode
 * @knode: the knode
 */
void knode_put(struct knode *knode)
{
	if (refcount_dec_and_test(&knode->refs))
		kfree_rcu(knode, rcu);
}

/**
 * map_knode() - give an inode its knode (table 2)
 * @knode: the knode, which is in the kmap already
 * @inode: the inode, which the caller has a reference to
 *
 * Return: 0, or -EEXIST if the inode has got one meanwhile.
 */
int map_knode(struct knode *knode, struct inode *inode)
{
	struct knode *other;

	rcu_assign_pointer(knode->inode, inode);
	other = unrcu_pointer(cmpxchg(&inode->i_knode, NULL,
				      RCU_INITIALIZER(knode)));
	return other ? -EEXIST : 0;
}

/* Nobody finds the knode any more after this, but who has found it. */
static void knode_bury(struct knode *knode)
{
	/* Before it is taken off its list, see lists.c; a full barrier. */
	test_and_set_bit(KNODE_DEAD, &knode->flags);
	knode_list_del(knode);
	kmap_remove(knode);
	RCU_INIT_POINTER(knode->inode, NULL);
	knode_put(knode);
}

/*
 * A file may have pages from a time when it had no context. Where they are nobody
 * knows: the first who walks over them finds out. Its context can be found by now, so
 * that of what comes from here on it is told.
 */
static void knode_adopt(struct knode *knode, const struct inode *inode)
{
	unsigned int index;

	if (!inode->i_mapping || !READ_ONCE(inode->i_mapping->nrpages))
		return;
	set_bit(KNODE_SLOW, &knode->flags);
	for (index = 0; index < KNODE_FAST_NODES; index++)
		set_bit(KNODE_FAST + index, &knode->flags);
}

/**
 * knode_make() - make the knode of an inode, if it has none
 * @inode: the inode, which the caller has a reference to
 * @gfp: how to allocate
 * @nid: node that the knode should be on, or NUMA_NO_NODE
 *
 * Context: RCU read-side critical section.
 * Return: the inode's knode, or NULL if there is no memory.
 */
struct knode *knode_make(struct inode *inode, gfp_t gfp, int nid)
{
	struct knode *knode = knode_dereference(inode->i_knode);

	if (knode)
		return knode;

	knode = knode_alloc(gfp, nid);
	if (!knode)
		return NULL;
	if (S_ISBLK(inode->i_mode))
		__set_bit(KNODE_BLOCKDEV, &knode->flags);
	/* It counts as used in this scan. */
	knode->history = BIT(0);
	if (add_to_kmap(knode, gfp)) {
		knode_put(knode);
		return NULL;
	}
	if (map_knode(knode, inode)) {
		knode_bury(knode);
		return knode_dereference(inode->i_knode);
	}
	knode_adopt(knode, inode);
	trace_kloc_knode_create(knode, inode);
	/* One that is not used may leave, too. */
	knode_list_add(knode);
	return knode;
}

/**
 * knode_kill() - take an inode's knode away, as the inode goes
 * @inode: the inode, which may have none
 */
void knode_kill(struct inode *inode)
{
	struct knode *knode = unrcu_pointer(xchg(&inode->i_knode, NULL));

	if (knode)
		knode_bury(knode);
}

/* Like knode_kill(), unless the inode goes at this very moment. */
static void knode_kill_found(struct knode *knode)
{
	struct inode *inode = rcu_dereference(knode->inode);
	struct knode __rcu *mine = RCU_INITIALIZER(knode);

	if (inode && cmpxchg(&inode->i_knode, mine, NULL) == mine)
		knode_bury(knode);
}

/**
 * knode_kill_all() - take all knodes away, when none are made any more
 *
 * Inodes may go meanwhile and take their knodes with them.
 */
void knode_kill_all(void)
{
	struct knode *knode;
	unsigned long id;

	rcu_read_lock();
	xa_for_each(&kloc_kmap, id, knode) {
		knode_kill_found(knode);
		cond_resched_rcu();
	}
	rcu_read_unlock();
}

/**
 * knode_activate() - a knode is used for the first time since a scan, or since it
 * became inactive
 * @knode: the knode
 *
 * Context: RCU read-side critical section.
 * Return: whether it was inactive until now.
 */
bool knode_activate(struct knode *knode)
{
	bool was_inactive;

	if (test_bit(KNODE_AGED, &knode->flags)) {
		WRITE_ONCE(knode->age, 0);
		WRITE_ONCE(knode->history, READ_ONCE(knode->history) | BIT(0));
		clear_bit(KNODE_AGED, &knode->flags);
	}
	WRITE_ONCE(knode->cpu, raw_smp_processor_id());
	was_inactive = !test_and_set_bit(KNODE_INUSE, &knode->flags);
	knode_list_add(knode);
	if (was_inactive)
		trace_kloc_activate(knode, knode_dereference(knode->inode));
	return was_inactive;
}

/**
 * knode_deactivate() - make a knode inactive
 * @knode: the knode
 *
 * It stays on the list that it is on, until a scan passes it.
 *
 * Context: RCU read-side critical section; the list may be locked.
 */
void knode_deactivate(struct knode *knode)
{
	if (test_and_clear_bit(KNODE_INUSE, &knode->flags))
		trace_kloc_deactivate(knode, knode_dereference(knode->inode));
}

/**
 * knode_set_fast() - note whether a knode may have pages on a node of fast memory
 * @knode: the knode
 * @index: of the node
 * @fast: false if all that it has there are about to be looked at
 *
 * Context: RCU read-side critical section.
 */
void knode_set_fast(struct knode *knode, unsigned int index, bool fast)
{
	unsigned int bit = KNODE_FAST + index % KNODE_FAST_NODES;

	if (!fast) {
		clear_bit(bit, &knode->flags);
		/* Pages that are looked at now: see knode_note_pages(). */
		smp_mb__after_atomic();
		return;
	}
	if (test_bit(bit, &knode->flags))
		return;
	set_bit(bit, &knode->flags);
	/* What is on no list because it had none may leave from now on. */
	if (READ_ONCE(knode->list) == KNODE_NO_LIST)
		knode_list_add(knode);
}

/**
 * find_cpu() - find the CPU that used a knode last (table 2)
 * @knode: the knode
 *
 * Return: its number; it may be offline by now.
 */
unsigned int find_cpu(const struct knode *knode)
{
	return READ_ONCE(knode->cpu);
}

/**
 * knode_size() - how much memory does a knode take?
 *
 * Return: bytes.
 */
unsigned int knode_size(void)
{
	return kmem_cache_size(knode_cache);
}

static int __init knode_init(void)
{
	/* The paper's knode has 64 bytes (7.3). */
	BUILD_BUG_ON(sizeof(struct knode) > 64);

	knode_cache = KMEM_CACHE(knode, SLAB_NO_MERGE | SLAB_PANIC | SLAB_ACCOUNT);
	return 0;
}
core_initcall(knode_init);

#ifdef CONFIG_KLOC_KUNIT_TEST
#include "tests/knode-kunit.h"
#endif
