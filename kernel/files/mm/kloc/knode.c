// SPDX-License-Identifier: GPL-2.0
/*
 * Contexts of files: the life of a knode.
 *
 * A knode belongs to its inode, and is removed with it. It is created at the first use,
 * and holds no reference to the inode. Others dereference knode->inode under RCU: the
 * pointer is cleared before the inode is freed, and file systems free inodes after a
 * grace period.
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

/* Allocate a knode, on node @nid if there is room (4.2.2). */
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
 * knode_put() - drop a reference to a knode
 * @knode: the knode
 */
void knode_put(struct knode *knode)
{
	if (refcount_dec_and_test(&knode->refs))
		kfree_rcu(knode, rcu);
}

/**
 * map_knode() - attach a knode to its inode (table 2)
 * @knode: the knode, which is in the kmap already
 * @inode: the inode; the caller holds a reference
 *
 * Return: 0, or -EEXIST if the inode has another knode by now.
 */
int map_knode(struct knode *knode, struct inode *inode)
{
	struct knode *other;

	rcu_assign_pointer(knode->inode, inode);
	other = unrcu_pointer(cmpxchg(&inode->i_knode, NULL,
				      RCU_INITIALIZER(knode)));
	return other ? -EEXIST : 0;
}

/* Hide a knode from all searches, and drop the inode's reference to it. */
static void knode_bury(struct knode *knode)
{
	/* Before the knode is taken off its list, see lists.c; a full barrier. */
	test_and_set_bit(KNODE_DEAD, &knode->flags);
	knode_list_del(knode);
	knode_unregister(knode);
	RCU_INIT_POINTER(knode->inode, NULL);
	knode_put(knode);
}

/*
 * Note that a file may have older pages, on any node, from before it had a context. The
 * first walk finds out. The knode is visible by now, so later pages are noted when they
 * are added.
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
 * knode_make() - create the knode of an inode, if it has none
 * @inode: the inode; the caller holds a reference
 * @gfp: allocation flags
 * @nid: preferred node of the knode, or NUMA_NO_NODE
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
	/*
	 * Block devices are active: a file system uses its device without opening it.
	 */
	if (S_ISBLK(inode->i_mode))
		knode->flags = BIT(KNODE_BLOCKDEV) | BIT(KNODE_INUSE);
	/* A new knode counts as used in this scan. */
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
	/* Passes must find inactive knodes, too. */
	knode_list_add(knode);
	return knode;
}

/**
 * knode_kill() - remove the knode of an inode that is being destroyed
 * @inode: the inode, which may have no knode
 */
void knode_kill(struct inode *inode)
{
	struct knode *knode = unrcu_pointer(xchg(&inode->i_knode, NULL));

	if (knode)
		knode_bury(knode);
}

/* Remove a knode, unless the destruction of its inode removes it at the same time. */
static void knode_kill_found(struct knode *knode)
{
	struct inode *inode = rcu_dereference(knode->inode);
	struct knode __rcu *mine = RCU_INITIALIZER(knode);

	if (inode && cmpxchg(&inode->i_knode, mine, NULL) == mine)
		knode_bury(knode);
}

/**
 * knode_kill_all() - remove all knodes, after the last one was created
 *
 * Destroying an inode meanwhile may remove its knode.
 */
void knode_kill_all(void)
{
	struct knode *knode;
	unsigned long id;

	rcu_read_lock();
	xa_for_each(&knode_kmap, id, knode) {
		knode_kill_found(knode);
		cond_resched_rcu();
	}
	rcu_read_unlock();
}

/**
 * knode_note_use() - note that a knode is used in this scan
 * @knode: the knode
 */
void knode_note_use(struct knode *knode)
{
	WRITE_ONCE(knode->age, 0);
	WRITE_ONCE(knode->history, READ_ONCE(knode->history) | BIT(0));
	knode_clear_stuck(knode);
}

/**
 * knode_activate() - make a knode active at its first use since a scan or since it
 * became inactive
 * @knode: the knode
 *
 * Context: RCU read-side critical section.
 * Return: true if the knode was inactive.
 */
bool knode_activate(struct knode *knode)
{
	bool was_inactive;

	/*
	 * Pairs with knode_get_older(): each side changes KNODE_AGED, writes age and
	 * history, and checks the flag again. If the other side has changed the flag,
	 * this side writes anew.
	 */
	while (test_bit(KNODE_AGED, &knode->flags) &&
	       test_and_clear_bit(KNODE_AGED, &knode->flags)) {
		knode_note_use(knode);
		/* Order the writes before the check of the flag. */
		smp_mb();
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
 * The knode stays on its list until a scan passes it.
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
 * @index: index of the node
 * @fast: false if a walk over the knode's pages there is about to begin
 *
 * Context: RCU read-side critical section.
 */
void knode_set_fast(struct knode *knode, unsigned int index, bool fast)
{
	unsigned int bit = KNODE_FAST + index % KNODE_FAST_NODES;

	if (!fast) {
		clear_bit(bit, &knode->flags);
		/* Before the walk, see knode_note_pages(). */
		smp_mb__after_atomic();
		return;
	}
	if (test_bit(bit, &knode->flags))
		return;
	set_bit(bit, &knode->flags);
	/* Pairs with knode_list_add_cold(), which looks at the notes again. */
	smp_mb__after_atomic();
	/*
	 * The knode may be on no list, without pages in fast memory, or on a cold list
	 * of other nodes. On the list of a CPU, passes find it for all nodes.
	 */
	knode_list_add(knode);
}

/**
 * find_cpu() - find the CPU that used a knode last (table 2)
 * @knode: the knode
 *
 * Return: the number of the CPU, which may be offline by now.
 */
unsigned int find_cpu(const struct knode *knode)
{
	return READ_ONCE(knode->cpu);
}

/**
 * knode_size() - get the size of a knode
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
