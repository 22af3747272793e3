// SPDX-License-Identifier: GPL-2.0
/*
 * Contexts of files: the hooks that say that a file is used.
 */
#include <linux/blkdev.h>
#include <linux/fs.h>
#include <linux/magic.h>
#include <linux/pagemap.h>
#include <linux/rbtree.h>
#include <linux/rcupdate.h>
#include <linux/shmem_fs.h>

#include "kloc.h"

#include <trace/events/kloc.h>

/* Was it said where the memory of a file of tmpfs should be? */
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
	 * What the kernel mounted itself has no files but memory of applications
	 * (System V's, memfd's, shared and anonymous), secret or drivers' memory.
	 */
	return S_ISREG(inode->i_mode) && !IS_DAX(inode) &&
	       !(inode->i_sb->s_flags & SB_KERNMOUNT) &&
	       inode->i_sb->s_magic != HUGETLBFS_MAGIC &&
	       inode->i_mapping->a_ops->migrate_folio &&
	       !kloc_has_mempolicy(inode);
}

/**
 * kloc_knode_make() - make the knode of an inode that has none, if it gets one
 * @inode: the inode, which the caller has a reference to
 *
 * Context: RCU read-side critical section.
 * Return: the knode; NULL if there is none.
 */
struct knode *kloc_knode_make(struct inode *inode)
{
	const struct tiering_node *tn;

	if (!READ_ONCE(kloc_ready) || !kloc_chosen() || !kloc_gets_context(inode))
		return NULL;
	tn = rcu_dereference_check(tiering_near[numa_node_id()],
				   rcu_read_lock_any_held());
	return knode_make(inode, GFP_NOWAIT | __GFP_NOWARN,
			  tn ? tn->nid : NUMA_NO_NODE);
}

/* Tell the policy that a context has become active. */
static void kloc_tell_active(struct knode *knode)
{
	const struct tiering_policy *policy;
	struct tiering_node *tn;

	rcu_read_lock();
	policy = rcu_dereference(tiering_selected);
	tn = rcu_dereference(tiering_near[numa_node_id()]);
	if (policy && policy->knode_active && tn)
		policy->knode_active(tn, knode);
	rcu_read_unlock();
}

static void kloc_touch(struct knode *knode)
{
	if (knode_touch(knode))
		kloc_tell_active(knode);
}

/* A file is opened, and there may be more to do than to note that it is in use. */
static noinline void kloc_note_open(struct inode *inode)
{
	struct knode *knode;

	if (kloc_has_none(inode))
		return;
	kloc_enter();
	knode = kloc_knode_of(inode);
	if (knode) {
		clear_bit(KNODE_STREAM, &knode->flags);
		kloc_touch(knode);
	}
	kloc_leave();
}

/* Called by kloc_file_open(). */
void __kloc_file_open(struct file *file)
{
	struct knode *knode;
	bool noted;

	/* Files that were used a moment ago end here. */
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

/* Nobody has the file open any more: its context is inactive at once (4.5). */
static void kloc_close_last(struct inode *inode, struct knode *knode)
{
	unsigned long flags = READ_ONCE(knode->flags);

	/* A file system uses its own without having it open. */
	if ((flags & (BIT(KNODE_INUSE) | BIT(KNODE_BLOCKDEV))) != BIT(KNODE_INUSE))
		return;
	knode_deactivate(knode);
	/*
	 * Who opened it meanwhile may have found it active. The change of the
	 * flag is a full barrier, and so is what opening it does.
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

/* A file is read or written, and there may be something to note. */
static noinline void kloc_note_access(const struct file *file)
{
	struct inode *inode = file_inode(file);
	struct knode *knode;

	if (kloc_has_none(inode))
		return;
	kloc_enter();
	knode = kloc_knode_of(inode);
	if (knode) {
		/* POSIX_FADV_NOREUSE: it says so itself. */
		if (unlikely(file->f_mode & FMODE_NOREUSE) &&
		    !test_bit(KNODE_STREAM, &knode->flags))
			set_bit(KNODE_STREAM, &knode->flags);
		kloc_touch(knode);
	}
	kloc_leave();
}

/* Called by kloc_file_access(). */
void __kloc_file_access(const struct file *file)
{
	const struct knode *knode;
	bool noted;

	/* Nearly all reads and writes end here, so it is as short as can be. */
	kloc_enter();
	knode = knode_dereference(file_inode(file)->i_knode);
	noted = knode && knode_is_touched(knode) && !(file->f_mode & FMODE_NOREUSE);
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
