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

#include "knode.h"

#define CREATE_TRACE_POINTS
#include <trace/events/kloc.h>

static struct kmem_cache *knode_cache __ro_after_init;

/**
 * knode_alloc() - allocate a knode, which is inactive and of no inode yet
 * @gfp: how
 * @nid: node that it must be on, or NUMA_NO_NODE
 *
 * Return: the knode, or NULL.
 */
struct knode *knode_alloc(gfp_t gfp, int nid)
{
	struct knode *knode;

	if (nid != NUMA_NO_NODE)
		gfp |= __GFP_THISNODE;
	knode = kmem_cache_alloc_node(knode_cache, gfp | __GFP_ZERO, nid);
	if (knode) {
		refcount_set(&knode->refs, 1);
		INIT_LIST_HEAD(&knode->cold);
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
static void bury(struct kmap *kmap, struct knode *knode)
{
	kmap_remove(kmap, knode);
	RCU_INIT_POINTER(knode->inode, NULL);
	knode_put(knode);
}

/**
 * knode_make() - make the knode of an inode, if it has none
 * @kmap: the kmap to add it to
 * @inode: the inode, which the caller has a reference to
 * @gfp: how to allocate
 * @nid: node that the knode must be on, or NUMA_NO_NODE
 *
 * Context: RCU read-side critical section.
 * Return: the inode's knode, or NULL if there is no memory.
 */
struct knode *knode_make(struct kmap *kmap, struct inode *inode, gfp_t gfp,
			 int nid)
{
	struct knode *knode = knode_dereference(inode->i_knode);

	if (knode)
		return knode;

	knode = knode_alloc(gfp, nid);
	if (!knode)
		return NULL;
	if (S_ISDIR(inode->i_mode))
		__set_bit(KNODE_DIRECTORY, &knode->flags);
	else if (S_ISBLK(inode->i_mode))
		__set_bit(KNODE_SYSTEM, &knode->flags);
	if (!S_ISDIR(inode->i_mode))
		kloc_trial_begin(&knode->trial, true);

	if (add_to_kmap(kmap, knode, gfp)) {
		knode_put(knode);
		return NULL;
	}
	if (map_knode(knode, inode)) {
		bury(kmap, knode);
		return knode_dereference(inode->i_knode);
	}
	trace_kloc_knode_create(knode, inode);
	return knode;
}

/**
 * knode_kill() - take an inode's knode away, as the inode goes
 * @kmap: the kmap that has the knode
 * @inode: the inode, which may have none
 */
void knode_kill(struct kmap *kmap, struct inode *inode)
{
	struct knode *knode = unrcu_pointer(xchg(&inode->i_knode, NULL));

	if (knode)
		bury(kmap, knode);
}

/* Like knode_kill(), unless the inode goes at this very moment. */
static void kill_found(struct kmap *kmap, struct knode *knode)
{
	struct inode *inode = rcu_dereference(knode->inode);
	struct knode __rcu *mine = RCU_INITIALIZER(knode);

	if (inode && cmpxchg(&inode->i_knode, mine, NULL) == mine)
		bury(kmap, knode);
}

/**
 * knode_kill_all() - take all knodes away
 * @kmap: the kmap, to which no knode is added any more
 *
 * Inodes may go meanwhile and take their knodes with them.
 */
void knode_kill_all(struct kmap *kmap)
{
	struct knode *knode;
	unsigned long id;

	rcu_read_lock();
	xa_for_each(&kmap->knodes, id, knode) {
		kill_found(kmap, knode);
		cond_resched_rcu();
	}
	rcu_read_unlock();
}

/* A knode becomes active: how hot is it from now on? */
static void warm_up(struct knode *knode)
{
	u64 now = knode_now(), since = now - READ_ONCE(knode->used);

	WRITE_ONCE(knode->heat,
		   kloc_heat(READ_ONCE(knode->heat), since * TICK_NSEC));
	WRITE_ONCE(knode->used, now);
}

/* It was used for the first time since a scan passed it over. */
static void make_young(struct knode *knode)
{
	WRITE_ONCE(knode->age, 0);
	clear_bit(KNODE_AGED, &knode->flags);
	WRITE_ONCE(knode->used, knode_now());
}

/**
 * knode_activate() - a knode is used for the first time since a scan, or since it
 * became inactive
 * @kmap: the kmap that has the knode
 * @knode: the knode
 *
 * Context: RCU read-side critical section.
 * Return: whether it was inactive until now.
 */
bool knode_activate(struct kmap *kmap, struct knode *knode)
{
	if (test_bit(KNODE_AGED, &knode->flags))
		make_young(knode);
	WRITE_ONCE(knode->cpu, raw_smp_processor_id());
	if (test_and_set_bit(KNODE_INUSE, &knode->flags))
		return false;

	warm_up(knode);
	trace_kloc_activate(knode, knode_dereference(knode->inode));
	knode_list_add(kmap, knode);
	return true;
}

/**
 * knode_deactivate() - make a knode inactive
 * @kmap: the kmap that has the knode
 * @knode: the knode
 *
 * Context: RCU read-side critical section.
 */
void knode_deactivate(struct kmap *kmap, struct knode *knode)
{
	if (!test_and_clear_bit(KNODE_INUSE, &knode->flags))
		return;
	trace_kloc_deactivate(knode, knode_dereference(knode->inode));
	knode_list_add(kmap, knode);
}

/**
 * knode_close() - a file is closed; after the last one the knode is inactive
 * @kmap: the kmap that has the knode
 * @knode: of the file's inode
 *
 * A file may be closed that was opened before KLOC was switched off and on.
 *
 * Context: RCU read-side critical section.
 * Return: whether it was the last one.
 */
bool knode_close(struct kmap *kmap, struct knode *knode)
{
	if (atomic_dec_if_positive(&knode->openers))
		return false;
	/* A file system uses its own without having it open. */
	if (test_bit(KNODE_SYSTEM, &knode->flags))
		return true;

	WRITE_ONCE(knode->used, knode_now());
	knode_deactivate(kmap, knode);
	/*
	 * Who opened it meanwhile may have found it active. The change of the
	 * flag is a full barrier, and pairs with the one in knode_open().
	 */
	if (atomic_read(&knode->openers))
		knode_touch(kmap, knode);
	return true;
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
	/* The cost of contexts is that of knodes. */
	BUILD_BUG_ON(sizeof(struct knode) > 128);

	knode_cache = KMEM_CACHE(knode, SLAB_NO_MERGE | SLAB_PANIC);
	return 0;
}
core_initcall(knode_init);

#ifdef CONFIG_KLOC_KUNIT_TEST
#include "tests/core-kunit.h"
#endif
