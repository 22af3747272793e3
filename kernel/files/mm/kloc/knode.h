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
#include <linux/rcupdate.h>
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
	KNODE_HISTORY,		/* of a directory: it is known how files fared */
	KNODE_INUSE,		/* is active (4.1), see knode_inuse() */
	KNODE_AGED,		/* its age is not 0 */
	KNODE_LISTED,		/* is on the list of a CPU, see lists.c */
	KNODE_NOTED,		/* of a file: it is noted how it was read and written */
};

/* Of these bits a knode in use has only the first, once it was used since a scan. */
#define KNODE_USED		BIT(KNODE_INUSE)
#define KNODE_USED_MASK		(KNODE_USED | BIT(KNODE_AGED))

/*
 * Of these a file's knode has only the first while there is nothing to do when it is
 * opened, or closed, but to note that it was.
 */
#define KNODE_PLAIN		BIT(KNODE_LISTED)
#define KNODE_PLAIN_MASK	(KNODE_PLAIN | BIT(KNODE_DIRECTORY) | \
				 BIT(KNODE_SYSTEM) | BIT(KNODE_SLOW) | \
				 BIT(KNODE_STREAM) | BIT(KNODE_JUDGED) | \
				 BIT(KNODE_AGED) | BIT(KNODE_NOTED))

/**
 * struct knode - the context of a file, a directory or a block device
 * @inode: whose context this is, NULL once the inode is about to go. May be
 *	followed under RCU.
 * @id: where it is in the kmap, never used again.
 * @parent: of a file: number of its directory's knode, when it was opened; 0
 *	if that is not known.
 * @flags: bits of enum knode_flag.
 * @used: when it was last found to be in use, or became inactive, knode_now().
 * @refs: one for as long as the inode has this knode, one for each user that
 *	sleeps meanwhile; never an inode reference.
 * @openers: files that are open and were opened while KLOC was on.
 * @cpu: that used it last.
 * @judged: of a file: number of files that had been judged, when it was looked at
 *	how those of its directory fared; modulo 2^16.
 * @dead: its inode is about to go. Changed under the lock of the kmap.
 * @age: scans of the kmap since it was used (4.3).
 * @heat: how often it became active of late.
 * @stream: of a file: how it is read and written.
 * @trial: of a file: how promotions of single pages fared.
 * @history: of a directory: how its files were.
 * @cold: among those that may leave fast memory, see struct kmap.
 * @rcu: for freeing it, when nobody has it any more.
 */
struct knode {
	struct inode __rcu *inode;
	unsigned long id;
	unsigned long parent;
	unsigned long flags;
	u64 used;
	refcount_t refs;
	atomic_t openers;
	u16 cpu;
	u16 judged;
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
	union {
		struct list_head cold;
		struct rcu_head rcu;
	};
};

/*
 * Marks of the kmap. All that are active have the first, but for those that are
 * on CPUs' lists; those that are not lose it when kmap_age() comes by, as many
 * become active again before.
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
bool knode_activate(struct kmap *kmap, struct knode *knode);
bool knode_close(struct kmap *kmap, struct knode *knode);
void knode_deactivate(struct kmap *kmap, struct knode *knode);
unsigned int find_cpu(const struct knode *knode);
unsigned int knode_size(void);

/**
 * knode_now() - the time that knodes know
 *
 * Return: jiffies: it is asked for at each open and close.
 */
static inline u64 knode_now(void)
{
	return get_jiffies_64();
}

/**
 * knode_is_recent() - was a knode used within a half-life?
 * @knode: the knode
 * @now: knode_now()
 *
 * Return: true if it was.
 */
static inline bool knode_is_recent(const struct knode *knode, u64 now)
{
	return (now - READ_ONCE(knode->used)) * TICK_USEC <
	       READ_ONCE(kloc_half_life_us);
}

/* Follow a pointer of knodes or to one, in any kind of RCU section. */
#define knode_dereference(p)	rcu_dereference_check(p, rcu_read_lock_any_held())

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
 * knode_touch() - a knode is used
 * @kmap: the kmap that has the knode
 * @knode: the knode
 *
 * Context: RCU read-side critical section.
 * Return: whether it was inactive until now.
 */
static inline bool knode_touch(struct kmap *kmap, struct knode *knode)
{
	if ((READ_ONCE(knode->flags) & KNODE_USED_MASK) == KNODE_USED)
		return false;
	return knode_activate(kmap, knode);
}

/**
 * knode_open() - a file is opened
 * @kmap: the kmap that has the knode
 * @knode: of the file's inode
 *
 * Context: RCU read-side critical section.
 * Return: whether the knode was inactive until now.
 */
static inline bool knode_open(struct kmap *kmap, struct knode *knode)
{
	atomic_inc(&knode->openers);
	/* Pairs with the one in knode_close(). */
	smp_mb__after_atomic();
	return knode_touch(kmap, knode);
}

/**
 * knode_open_again() - a file is opened, and may be one that was closed a moment ago
 * @knode: of the file's inode
 *
 * What knode_open() does, for most files that are opened again and again, in a few
 * instructions. The caller has to see that the knode is on a list afterwards.
 *
 * Context: RCU read-side critical section.
 * Return: false if nothing was done, and knode_open() has to be called.
 */
static inline bool knode_open_again(struct knode *knode)
{
	u64 now = knode_now();
	u8 heat;

	if ((READ_ONCE(knode->flags) & KNODE_PLAIN_MASK) != KNODE_PLAIN ||
	    !knode_is_recent(knode, now))
		return false;

	atomic_inc(&knode->openers);
	/* Pairs with the barrier in knode_close_again() and knode_close(). */
	smp_mb__after_atomic();
	if (test_and_set_bit(KNODE_INUSE, &knode->flags))
		return true;
	heat = READ_ONCE(knode->heat);
	WRITE_ONCE(knode->heat, heat + (heat < U8_MAX));
	WRITE_ONCE(knode->used, now);
	WRITE_ONCE(knode->cpu, raw_smp_processor_id());
	return true;
}

/**
 * knode_close_again() - the same for a file that is closed
 * @knode: of the file's inode
 *
 * Context: RCU read-side critical section.
 * Return: false if nothing was done, and knode_close() has to be called.
 */
static inline bool knode_close_again(struct knode *knode)
{
	if ((READ_ONCE(knode->flags) & KNODE_PLAIN_MASK) != KNODE_PLAIN ||
	    atomic_cmpxchg(&knode->openers, 1, 0) != 1)
		return false;

	WRITE_ONCE(knode->used, knode_now());
	test_and_clear_bit(KNODE_INUSE, &knode->flags);
	/* That was a full barrier: who opened it meanwhile found it in use. */
	if (atomic_read(&knode->openers))
		set_bit(KNODE_INUSE, &knode->flags);
	return true;
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
void kmap_settle(struct kmap *kmap, struct knode **knodes, unsigned int count);
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

void knode_list_add(struct kmap *kmap, struct knode *knode);
void knode_lists_flush(struct kmap *kmap);
void knode_list_count(bool saved);
unsigned long knode_list_saved(void);
unsigned long knode_list_missed(void);

#endif /* _MM_KLOC_KNODE_H */
