/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Contexts of files: knodes, the kmap and per-CPU lists of them.
 *
 * After Kannan, Ren and Bhattacharjee, "KLOCs: Kernel-Level Object Contexts for
 * Heterogeneous Memory Systems", ASPLOS 2021; section numbers are that paper's.
 * What is in this part knows no tiers, and builds without NUMA and SMP.
 */
#ifndef _MM_KLOC_KNODE_H
#define _MM_KLOC_KNODE_H

#include <linux/atomic.h>
#include <linux/bitops.h>
#include <linux/jiffies.h>
#include <linux/list.h>
#include <linux/refcount.h>
#include <linux/types.h>
#include <linux/xarray.h>

#include "policy.h"

struct inode;

/* Bits of knode->flags. */
enum knode_flag {
	KNODE_DIRECTORY,	/* of a directory: remembers how its files fared */
	KNODE_SYSTEM,		/* of a block device's mapping: owned by no file */
	KNODE_FAST,		/* may have pages in fast memory, as the mark */
	KNODE_SLOW,		/* may have pages in slow memory */
	KNODE_STREAM,		/* was predicted to be a stream when it was opened */
	KNODE_QUEUED,		/* waits for its promotion */
	KNODE_JUDGED,		/* this period of use was counted in its directory */
	KNODE_MARKED,		/* has the mark KMAP_ACTIVE */
};

/**
 * struct knode - the context of a file, a directory or a block device
 * @inode: whose context this is, NULL once the inode is about to go. May be
 *	followed under RCU.
 * @id: where it is in the kmap, never used again.
 * @parent: of a file: number of its directory's knode, when it was opened; 0
 *	if that is not known.
 * @flags: bits of enum knode_flag.
 * @cpus: CPUs (modulo the number of bits) whose lists may have it.
 * @used: when it was last found to be in use, or became inactive, knode_now().
 * @refs: one for as long as the inode has this knode, one for each user that
 *	sleeps meanwhile; never an inode reference.
 * @openers: files that are open and were opened while KLOC was on.
 * @cpu: that used it last.
 * @inuse: is it active (4.1)? Changed under the lock of the kmap.
 * @dead: its inode is about to go. Likewise.
 * @age: scans of the kmap since it was used (4.3).
 * @heat: how often it became active of late.
 * @stream: of a file: how it is read and written.
 * @trial: of a file: how promotions of single pages fared.
 * @history: of a directory: how its files were.
 * @cold: among those that may leave fast memory, see struct kmap.
 * @rcu: for freeing it.
 */
struct knode {
	struct inode __rcu *inode;
	unsigned long id;
	unsigned long parent;
	unsigned long flags;
	unsigned long cpus;
	u64 used;
	refcount_t refs;
	atomic_t openers;
	u16 cpu;
	bool inuse;
	bool dead;
	u8 age;
	u8 heat;
	union {
		struct {
			struct kloc_stream stream;
			struct kloc_trial trial;
		};
		struct kloc_history history;
	};
	struct list_head cold;
	struct rcu_head rcu;
};

/*
 * Marks of the kmap. All that are active have the first; those that are not lose
 * it when kmap_age() comes by, as many become active again before.
 */
#define KMAP_ACTIVE	XA_MARK_0
/* May have pages in fast memory. */
#define KMAP_FAST	XA_MARK_1

/**
 * struct kmap - all knodes (4.2)
 * @knodes: by their number; marked if they are active. Iterable under RCU.
 * @last: number of the knode that was added last.
 * @next: number from which to look for cold ones among those in use.
 * @cold: those that are inactive and may have pages in fast memory, the one
 *	that is so for longest first. Changed under the lock of @knodes.
 * @count: of knodes.
 */
struct kmap {
	struct xarray knodes;
	unsigned long last;
	unsigned long next;
	struct list_head cold;
	unsigned long count;
};

extern struct kmap kloc_kmap;

/* knode.c */
struct knode *knode_alloc(gfp_t gfp, int nid);
int map_knode(struct knode *knode, struct inode *inode);
struct knode *knode_make(struct kmap *kmap, struct inode *inode, gfp_t gfp,
			 int nid);
void knode_kill(struct kmap *kmap, struct inode *inode);
void knode_kill_all(struct kmap *kmap);
void knode_put(struct knode *knode);
bool knode_touch(struct kmap *kmap, struct knode *knode);
bool knode_open(struct kmap *kmap, struct knode *knode);
bool knode_close(struct kmap *kmap, struct knode *knode);
void knode_deactivate(struct kmap *kmap, struct knode *knode);
unsigned int find_cpu(const struct knode *knode);

/**
 * knode_now() - the time that knodes know
 *
 * Return: ns, no finer than a jiffy: it is asked for at each open and close.
 */
static inline u64 knode_now(void)
{
	return get_jiffies_64() * TICK_NSEC;
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

/* kmap.c */
int add_to_kmap(struct kmap *kmap, struct knode *knode, gfp_t gfp);
void kmap_remove(struct kmap *kmap, struct knode *knode);
bool kmap_set_inuse(struct kmap *kmap, struct knode *knode, bool inuse);
void kmap_set_fast(struct kmap *kmap, struct knode *knode, bool fast);
void kmap_set_coldest(struct kmap *kmap, struct knode *knode);
unsigned int kmap_age(struct kmap *kmap, u8 inactive_age);
unsigned int get_LRU_knodes(struct kmap *kmap, struct knode **coldest,
			    unsigned int most);
unsigned int kmap_get_cold(struct kmap *kmap, const struct knode *after,
			   struct knode **knodes, unsigned int most);
unsigned int kmap_get_random(struct kmap *kmap, struct knode **knodes,
			     unsigned int most);

/* lists.c */

/* Knodes that a CPU's list holds at most. */
#define KNODE_LIST_SIZE		16

bool knode_list_has(const struct knode *knode);
void knode_list_miss(void);
void knode_list_add(struct knode *knode);
void knode_list_drop(struct knode *knode);
unsigned long knode_list_saved(void);
unsigned long knode_list_missed(void);

#endif /* _MM_KLOC_KNODE_H */
