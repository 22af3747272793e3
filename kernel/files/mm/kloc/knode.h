/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Contexts of files: knodes, the kmap of all knodes, and the lists of recently used
 * ones.
 *
 * After Kannan, Ren and Bhattacharjee, "KLOCs: Kernel-Level Object Contexts for
 * Heterogeneous Memory Systems", ASPLOS 2021; section numbers are that paper's.
 * This part does not depend on tiers, and builds without NUMA and SMP.
 */
#ifndef _MM_KLOC_KNODE_H
#define _MM_KLOC_KNODE_H

#include <linux/atomic.h>
#include <linux/bitops.h>
#include <linux/fs.h>
#include <linux/list.h>
#include <linux/rcupdate.h>
#include <linux/refcount.h>
#include <linux/types.h>
#include <linux/xarray.h>

/* Bits of knode->flags. */
enum knode_flag {
	KNODE_INUSE,		/* is active (4.1), see knode_inuse() */
	KNODE_AGED,		/* unused since the last scan */
	KNODE_BLOCKDEV,		/* context of a block device, not of a file */
	KNODE_SLOW,		/* may have pages in slow memory */
	KNODE_QUEUED,		/* waits for its promotion */
	KNODE_DEAD,		/* detached from its inode */
	KNODE_FAST,		/* may have pages on the first node of fast memory */
};

/* Number of bits for nodes of fast memory; more nodes share bits, see knode_fast(). */
#define KNODE_FAST_NODES	8

/* The first of as many bits: no page of the knode could be demoted from that node. */
#define KNODE_STUCK		(KNODE_FAST + KNODE_FAST_NODES)

/* The bit after these: the knode waits to leave, or to come back, for a bound. */
#define KNODE_BOUND		(KNODE_STUCK + KNODE_FAST_NODES)

/* Scans after which the pages of a stuck knode are tried again. */
#define KNODE_STUCK_SCANS	8

/* An active knode that was used in this scan has only the first of these bits. */
#define KNODE_USED_MASK		(BIT(KNODE_INUSE) | BIT(KNODE_AGED))

/* Any of these bits sends an open to the slow path. */
#define KNODE_SPECIAL		(BIT(KNODE_AGED) | BIT(KNODE_BLOCKDEV) | \
				 BIT(KNODE_SLOW))

/**
 * struct knode - the context of a file or a block device
 * @inode: inode of the context, NULL once the inode is being destroyed. RCU protects
 *	it.
 * @flags: bits of enum knode_flag
 * @link: link in the list @list
 * @rcu: for kfree_rcu(), after the last reference
 * @refs: one for the inode, and one for each user that sleeps; a knode holds no
 *	reference to its inode
 * @id: index in the kmap
 * @list: number of the knode's list, KNODE_NO_LIST for none; see lists.c
 * @cpu: CPU of the last use
 * @age: scans since the last use (4.3)
 * @history: the scans of the last eight with a use, bit 0 for this scan; cleared when
 *	the knode becomes cold
 * @uses: counted uses of its pages, of all or of some, for policies that count them
 * @slow_uses: those of pages in slow memory
 * @looked: when a policy has looked at them last, in jiffies; 0 for never
 * @rate: uses a second, averaged over the looks of a policy
 */
struct knode {
	struct inode __rcu *inode;
	unsigned long flags;
	union {
		struct list_head link;
		struct rcu_head rcu;
	};
	refcount_t refs;
	u32 id;
	u32 list;
	u16 cpu;
	u8 age;
	u8 history;
	atomic_t uses;
	atomic_t slow_uses;
	u32 looked;
	u32 rate;
};

/* All knodes (4.2), by id. Iterable under RCU. */
extern struct xarray knode_kmap;

/* Dereference a pointer of or to a knode, in any kind of RCU section. */
#define knode_dereference(p)	rcu_dereference_check(p, rcu_read_lock_any_held())

/* knode.c */
int map_knode(struct knode *knode, struct inode *inode);
struct knode *knode_make(struct inode *inode, gfp_t gfp, int nid);
void knode_kill(struct inode *inode);
void knode_kill_all(void);
void knode_put(struct knode *knode);
void knode_note_use(struct knode *knode);
bool knode_activate(struct knode *knode);
void knode_deactivate(struct knode *knode);
void knode_set_fast(struct knode *knode, unsigned int index, bool fast);
unsigned int find_cpu(const struct knode *knode);
unsigned int knode_size(void);

/* kmap.c */
int add_to_kmap(struct knode *knode, gfp_t gfp);
void knode_unregister(struct knode *knode);
unsigned long knode_count(void);
void knode_all_set_fast(unsigned int index);
unsigned int knode_get_random(unsigned int index, struct knode **knodes,
			      unsigned int most);
struct knode *knode_get_from(unsigned long *id);

/* lists.c */

/* Numbers of lists: none, lists of cold knodes by set of nodes, then lists of CPUs. */
#define KNODE_NO_LIST		0
#define KNODE_USED_LIST		BIT(KNODE_FAST_NODES)

/* The largest number of knodes that a step of a pass checks. */
#define KNODE_LIST_LOOK		32U

/**
 * struct knode_pass - a pass over the lists of all CPUs
 * @next: number of the current list's CPU plus one; 0 before and after the pass
 * @left: knodes of that list that are left to check
 */
struct knode_pass {
	unsigned int next;
	unsigned int left;
};

void knode_list_add(struct knode *knode);
void knode_list_add_cold(struct knode *knode);
void knode_list_del(struct knode *knode);
bool knode_pass_age(struct knode_pass *pass, u8 inactive_age, u8 cold_age);
bool knode_pass_collect(struct knode_pass *pass, u8 age);
unsigned int knode_pass_find_aged(struct knode_pass *pass, unsigned int index, u8 age,
				  struct knode **knodes, unsigned int most);
unsigned int get_LRU_knodes(unsigned int index, struct knode **knodes,
			    unsigned int most);

/**
 * knode_pass_is_over() - test whether a pass has ended or not begun
 * @pass: the pass
 *
 * Return: true if the next step begins a new pass.
 */
static inline bool knode_pass_is_over(const struct knode_pass *pass)
{
	return !pass->next;
}

/**
 * knode_inuse() - test whether a knode is active (4.1)
 * @knode: the knode
 *
 * Return: true if the knode is active.
 */
static inline bool knode_inuse(const struct knode *knode)
{
	return test_bit(KNODE_INUSE, &knode->flags);
}

/**
 * knode_fast() - test whether a knode may have pages on a node of fast memory
 * @knode: the knode
 * @index: index of the node; nodes whose indices differ by KNODE_FAST_NODES share a bit
 *
 * Return: true if the knode may have pages there.
 */
static inline bool knode_fast(const struct knode *knode, unsigned int index)
{
	return test_bit(KNODE_FAST + index % KNODE_FAST_NODES, &knode->flags);
}

/**
 * knode_fast_nodes() - get the nodes of fast memory where a knode may have pages
 * @knode: the knode
 *
 * Return: a bit for each index modulo KNODE_FAST_NODES.
 */
static inline unsigned long knode_fast_nodes(const struct knode *knode)
{
	return (READ_ONCE(knode->flags) >> KNODE_FAST) &
	       (BIT(KNODE_FAST_NODES) - 1);
}

/**
 * knode_set_stuck() - note that no page of a knode could be demoted from a node
 * @knode: the knode
 * @index: index of the node, as for knode_fast()
 *
 * A use of the knode clears the note, and so do KNODE_STUCK_SCANS scans.
 */
static inline void knode_set_stuck(struct knode *knode, unsigned int index)
{
	set_bit(KNODE_STUCK + index % KNODE_FAST_NODES, &knode->flags);
}

/**
 * knode_is_stuck() - test whether no page of a knode could be demoted from a node
 * @knode: the knode
 * @index: index of the node, as for knode_fast()
 *
 * Return: true if knode_set_stuck() noted that in the last scans.
 */
static inline bool knode_is_stuck(const struct knode *knode, unsigned int index)
{
	return test_bit(KNODE_STUCK + index % KNODE_FAST_NODES, &knode->flags);
}

/**
 * knode_may_leave() - test whether a knode may have pages that can be demoted
 * @knode: the knode
 *
 * Return: false if the knode is stuck on all nodes where it may have pages.
 */
static inline bool knode_may_leave(const struct knode *knode)
{
	unsigned long stuck = (READ_ONCE(knode->flags) >> KNODE_STUCK) &
			      (BIT(KNODE_FAST_NODES) - 1);

	return !stuck || knode_fast_nodes(knode) & ~stuck;
}

/**
 * knode_clear_stuck() - clear the notes that no page of a knode could be demoted
 * @knode: the knode
 */
static inline void knode_clear_stuck(struct knode *knode)
{
	const unsigned long all = GENMASK(KNODE_STUCK + KNODE_FAST_NODES - 1, KNODE_STUCK);

	if (READ_ONCE(knode->flags) & all)
		set_mask_bits(&knode->flags, all, 0);
}

/**
 * knode_is_listed() - test whether a knode is on the list of a CPU
 * @knode: the knode
 *
 * Return: true if the knode is on such a list.
 */
static inline bool knode_is_listed(const struct knode *knode)
{
	return READ_ONCE(knode->list) >= KNODE_USED_LIST;
}

/**
 * knode_is_touched() - test whether a use of a knode is noted already
 * @knode: the knode
 *
 * Return: true if the knode is active and was used since the last scan.
 */
static inline bool knode_is_touched(const struct knode *knode)
{
	return (READ_ONCE(knode->flags) & KNODE_USED_MASK) == BIT(KNODE_INUSE);
}

/**
 * knode_touch() - note a use of a knode, and make it active
 * @knode: the knode
 *
 * Context: RCU read-side critical section.
 * Return: true if the knode was inactive.
 */
static inline bool knode_touch(struct knode *knode)
{
	return !knode_is_touched(knode) && knode_activate(knode);
}

/**
 * knode_tryget() - get a reference to a knode that was found under RCU
 * @knode: the knode
 *
 * Return: false if the knode is being freed.
 */
static inline bool knode_tryget(struct knode *knode)
{
	return refcount_inc_not_zero(&knode->refs);
}

/**
 * knode_is_open() - test whether a file is open, or mapped for writing
 * @inode: inode of the file
 *
 * Uses the kernel's own counts, which include files that were opened before contexts
 * were on.
 *
 * Return: true if the file is open.
 */
static inline bool knode_is_open(const struct inode *inode)
{
	return atomic_read(&inode->i_readcount) > 0 ||
	       atomic_read(&inode->i_writecount) > 0;
}

#endif /* _MM_KLOC_KNODE_H */
