/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Contexts of files: knodes, the kmap of all of them, and the lists that say which
 * were used lately.
 *
 * After Kannan, Ren and Bhattacharjee, "KLOCs: Kernel-Level Object Contexts for
 * Heterogeneous Memory Systems", ASPLOS 2021; section numbers are that paper's.
 * What is in this part knows no tiers, and builds without NUMA and SMP.
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
	KNODE_AGED,		/* a scan has passed it since it was used */
	KNODE_BLOCKDEV,		/* of a block device: owned by no file */
	KNODE_STREAM,		/* what is used of it will not be used again */
	KNODE_SLOW,		/* may have pages in slow memory */
	KNODE_QUEUED,		/* waits for its promotion */
	KNODE_DEAD,		/* its inode is about to go */
	KNODE_FAST,		/* may have pages on the first node of fast memory */
};

/* Nodes of fast memory that are told apart; there may be more, see knode_fast(). */
#define KNODE_FAST_NODES	8

/* Of these bits a knode has only the first while it is in use and a scan has not passed. */
#define KNODE_USED_MASK		(BIT(KNODE_INUSE) | BIT(KNODE_AGED))

/* With one of these there is something to do when a file is opened, or closed. */
#define KNODE_SPECIAL		(BIT(KNODE_AGED) | BIT(KNODE_BLOCKDEV) | \
				 BIT(KNODE_STREAM) | BIT(KNODE_SLOW))

/**
 * struct knode - the context of a file or a block device
 * @inode: whose context this is, NULL once the inode is about to go. May be
 *	followed under RCU.
 * @flags: bits of enum knode_flag
 * @link: in the list that @list says
 * @rcu: for freeing it, when nobody has it any more
 * @refs: one for as long as the inode has this knode, one for each user that
 *	sleeps meanwhile; never a reference to the inode
 * @id: where it is in the kmap
 * @list: the list that it is on, KNODE_NO_LIST for none; see lists.c
 * @cpu: that used it last
 * @age: scans since it was used (4.3)
 * @history: in which of the last eight scans it was used, bit 0 for this one; nothing
 *	is known of those before it became cold
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
};

/* All knodes (4.2), by their id. Iterable under RCU. */
extern struct xarray kloc_kmap;

/* Follow a pointer of knodes or to one, in any kind of RCU section. */
#define knode_dereference(p)	rcu_dereference_check(p, rcu_read_lock_any_held())

/* knode.c */
int map_knode(struct knode *knode, struct inode *inode);
struct knode *knode_make(struct inode *inode, gfp_t gfp, int nid);
void knode_kill(struct inode *inode);
void knode_kill_all(void);
void knode_put(struct knode *knode);
bool knode_activate(struct knode *knode);
void knode_deactivate(struct knode *knode);
void knode_set_fast(struct knode *knode, unsigned int index, bool fast);
unsigned int find_cpu(const struct knode *knode);
unsigned int knode_size(void);

/* kmap.c */
int add_to_kmap(struct knode *knode, gfp_t gfp);
void kmap_remove(struct knode *knode);
unsigned long kmap_count(void);
void kmap_set_fast(unsigned int index);
unsigned int kmap_get_random(unsigned int index, struct knode **knodes,
			     unsigned int most);
struct knode *kmap_get_from(unsigned long *id);

/* lists.c */

/* Numbers of lists: none, those of cold ones, then those of CPUs. */
#define KNODE_NO_LIST		0
#define KNODE_COLD_LIST		1
#define KNODE_USED_LIST		(KNODE_COLD_LIST + KNODE_FAST_NODES)

void knode_list_add(struct knode *knode);
void knode_list_add_cold(struct knode *knode);
void knode_list_del(struct knode *knode);
unsigned int knode_lists_age(u8 inactive_age, u8 cold_age);
void knode_lists_settle(u8 age);
unsigned int get_LRU_knodes(unsigned int index, struct knode **knodes,
			    unsigned int most);
unsigned int knode_get_aged(unsigned int index, u8 age, struct knode **knodes,
			    unsigned int most);

/**
 * knode_inuse() - is a knode active (4.1)?
 * @knode: the knode
 *
 * Return: true if it is.
 */
static inline bool knode_inuse(const struct knode *knode)
{
	return test_bit(KNODE_INUSE, &knode->flags);
}

/**
 * knode_fast() - may a knode have pages on a node of fast memory?
 * @knode: the knode
 * @index: of the node. Nodes whose index differs by KNODE_FAST_NODES share a note.
 *
 * Return: true if it may.
 */
static inline bool knode_fast(const struct knode *knode, unsigned int index)
{
	return test_bit(KNODE_FAST + index % KNODE_FAST_NODES, &knode->flags);
}

/**
 * knode_fast_nodes() - on which nodes of fast memory may a knode have pages?
 * @knode: the knode
 *
 * Return: a bit for each index.
 */
static inline unsigned long knode_fast_nodes(const struct knode *knode)
{
	return (READ_ONCE(knode->flags) >> KNODE_FAST) &
	       (BIT(KNODE_FAST_NODES) - 1);
}

/**
 * knode_is_listed() - is a knode on the list of a CPU?
 * @knode: the knode
 *
 * Return: true if it is.
 */
static inline bool knode_is_listed(const struct knode *knode)
{
	return READ_ONCE(knode->list) >= KNODE_USED_LIST;
}

/**
 * knode_is_touched() - is there nothing to note of a knode that is used?
 * @knode: the knode
 *
 * Return: true if it is active, and was used since the last scan.
 */
static inline bool knode_is_touched(const struct knode *knode)
{
	return (READ_ONCE(knode->flags) & KNODE_USED_MASK) == BIT(KNODE_INUSE);
}

/**
 * knode_touch() - a knode is used
 * @knode: the knode
 *
 * Context: RCU read-side critical section.
 * Return: whether it was inactive until now.
 */
static inline bool knode_touch(struct knode *knode)
{
	return !knode_is_touched(knode) && knode_activate(knode);
}

/**
 * knode_tryget() - keep a knode that was found under RCU
 * @knode: the knode
 *
 * Return: false if it is being freed.
 */
static inline bool knode_tryget(struct knode *knode)
{
	return refcount_inc_not_zero(&knode->refs);
}

/**
 * knode_is_open() - is a file open, or mapped for writing?
 * @inode: of the file
 *
 * The kernel counts those that are open already. So it does not matter whether
 * contexts were on when a file was opened.
 *
 * Return: true if it is.
 */
static inline bool knode_is_open(const struct inode *inode)
{
	return atomic_read(&inode->i_readcount) > 0 ||
	       atomic_read(&inode->i_writecount) > 0;
}

#endif /* _MM_KLOC_KNODE_H */
