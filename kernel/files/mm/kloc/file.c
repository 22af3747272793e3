// SPDX-License-Identifier: GPL-2.0
/*
 * Contexts of files: the hooks that note uses of files.
 */
#include <linux/blkdev.h>
#include <linux/fs.h>
#include <linux/jiffies.h>
#include <linux/magic.h>
#include <linux/pagemap.h>
#include <linux/percpu.h>
#include <linux/rbtree.h>
#include <linux/rcupdate.h>
#include <linux/shmem_fs.h>

#include "kloc.h"

#include <trace/events/kloc.h>

/* End of the pause in which this CPU creates no knode, after a failure; jiffies. */
static DEFINE_PER_CPU(unsigned long, kloc_next_try) = INITIAL_JIFFIES;

/* Test whether a file of tmpfs has a memory policy. */
static bool kloc_has_mempolicy(struct inode *inode)
{
	return shmem_mapping(inode->i_mapping) &&
	       !RB_EMPTY_ROOT(&SHMEM_I(inode)->policy.root);
}

static bool kloc_gets_context(struct inode *inode)
{
	if (S_ISBLK(inode->i_mode))
		return sb_is_blkdev_sb(inode->i_sb);
	/*
	 * Internal mounts hold no files but memory of applications (System V, memfd,
	 * shared anonymous), secret memory, and memory of drivers.
	 */
	return S_ISREG(inode->i_mode) && !IS_DAX(inode) &&
	       !(inode->i_sb->s_flags & SB_KERNMOUNT) &&
	       inode->i_sb->s_magic != HUGETLBFS_MAGIC &&
	       inode->i_mapping->a_ops->migrate_folio &&
	       !kloc_has_mempolicy(inode);
}

/**
 * kloc_is_eligible() - test whether a mapping's file gets a context if this task uses it
 * @mapping: the mapping
 *
 * Context: the inode of @mapping cannot be freed.
 * Return: true if the file gets one, while a policy with contexts is selected.
 */
bool kloc_is_eligible(const struct address_space *mapping)
{
	return mapping->host && kloc_chosen() && kloc_gets_context(mapping->host);
}

/**
 * kloc_knode_make() - create the knode of an inode, if the inode should have one
 * @inode: the inode, without a knode; the caller holds a reference
 *
 * Context: RCU read-side critical section.
 * Return: the knode; NULL if there is none.
 */
struct knode *kloc_knode_make(struct inode *inode)
{
	struct knode *knode;

	if (!READ_ONCE(kloc_ready) || !kloc_chosen() || !kloc_gets_context(inode))
		return NULL;
	/* Back off: in a full cgroup, each read would try again in vain. */
	if (time_is_after_jiffies(this_cpu_read(kloc_next_try)))
		return NULL;
	knode = knode_make(inode, GFP_NOWAIT | __GFP_NOWARN, tiering_fast_nid());
	if (!knode)
		this_cpu_write(kloc_next_try, jiffies + 1);
	return knode;
}

static void kloc_touch(struct knode *knode)
{
	if (knode_touch(knode))
		tiering_context_active(knode);
}

/* The slow path of opening a file: create the knode, or note its use. */
static noinline void kloc_note_open(struct inode *inode)
{
	struct knode *knode;

	if (kloc_has_none(inode))
		return;
	kloc_enter();
	knode = kloc_knode_of(inode);
	if (knode)
		kloc_touch(knode);
	kloc_leave();
}

/* Called by kloc_file_open(). */
void __kloc_file_open(struct file *file)
{
	struct knode *knode;
	bool noted;

	/*
	 * The fast path: the knode is on a CPU's list and was used since the last scan.
	 */
	kloc_enter();
	knode = knode_dereference(file_inode(file)->i_knode);
	noted = knode && !(READ_ONCE(knode->flags) & KNODE_SPECIAL) &&
		knode_is_listed(knode) && !trace_kloc_activate_enabled();
	/* Pairs with the barrier in kloc_close_last(). */
	if (noted)
		test_and_set_bit(KNODE_INUSE, &knode->flags);
	kloc_leave();
	if (!noted)
		kloc_note_open(file_inode(file));
}

/* Make the context of a file inactive at its last close (4.5). */
static void kloc_close_last(struct inode *inode, struct knode *knode)
{
	unsigned long flags = READ_ONCE(knode->flags);

	/* Block devices stay active: file systems use them without opening them. */
	if ((flags & (BIT(KNODE_INUSE) | BIT(KNODE_BLOCKDEV))) != BIT(KNODE_INUSE))
		return;
	knode_deactivate(knode);
	/*
	 * An open meanwhile may have found the knode active. Both sides change
	 * KNODE_INUSE with a full barrier.
	 */
	if (knode_is_open(inode))
		knode_touch(knode);
}

/* Called by kloc_file_close(). */
void __kloc_file_close(struct inode *inode)
{
	struct knode *knode;

	if (knode_is_open(inode))
		return;
	kloc_enter();
	knode = knode_dereference(inode->i_knode);
	if (knode)
		kloc_close_last(inode, knode);
	kloc_leave();
}

/* The slow path of reading or writing a file: create the knode, or note its use. */
static noinline void kloc_note_access(const struct file *file)
{
	struct inode *inode = file_inode(file);
	struct knode *knode;

	if (kloc_has_none(inode))
		return;
	kloc_enter();
	knode = kloc_knode_of(inode);
	if (knode)
		kloc_touch(knode);
	kloc_leave();
}

/* Called by kloc_file_access(). */
void __kloc_file_access(const struct file *file)
{
	const struct knode *knode;
	bool noted;

	/* The fast path of nearly all reads and writes. */
	kloc_enter();
	knode = knode_dereference(file_inode(file)->i_knode);
	noted = knode && knode_is_touched(knode);
	kloc_leave();
	if (!noted)
		kloc_note_access(file);
}

/* Called by kloc_inode_touch(). */
void __kloc_inode_touch(struct inode *inode)
{
	struct knode *knode;

	if (kloc_has_none(inode))
		return;
	kloc_enter();
	knode = kloc_knode_of(inode);
	if (knode)
		kloc_touch(knode);
	kloc_leave();
}

/* Called by kloc_inode_destroy(). */
void __kloc_inode_destroy(struct inode *inode)
{
	if (!rcu_access_pointer(inode->i_knode))
		return;
	rcu_read_lock();
	knode_kill(inode);
	rcu_read_unlock();
}
