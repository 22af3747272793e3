/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Contexts of files in the tiers of memory: what the files of mm/kloc share.
 */
#ifndef _MM_KLOC_KLOC_H
#define _MM_KLOC_KLOC_H

#include <linux/fs.h>
#include <linux/kloc.h>
#include <linux/mmzone.h>
#include <linux/nodemask.h>
#include <linux/preempt.h>
#include <linux/rcupdate.h>
#include <linux/sched.h>
#include <linux/sched/coredump.h>
#include <linux/spinlock.h>
#include <linux/wait.h>

#include "knode.h"

struct cpumask;
struct folio;
struct kobject;
struct lruvec;
struct mem_cgroup;
struct task_struct;

/* What KLOC does. The last three are controls to compare it with. */
enum kloc_mode {
	KLOC_NOMIGRATE,		/* pages are placed, and stay there */
	KLOC_MIGRATE,
	KLOC_RANDOM,		/* random contexts are demoted, not cold ones */
	KLOC_ALLACTIVE,		/* no context is ever inactive */
	KLOC_CAP,		/* no contexts: page cache is bounded, and no more */
	KLOC_MODES,
};

/* Whose files get contexts. */
enum kloc_scope {
	KLOC_ALL,
	KLOC_CHOSEN,		/* those of chosen processes, see control.c */
	KLOC_SCOPES,
};

/* Which kinds of objects take part, bits. */
enum kloc_kind {
	KLOC_KIND_FILE,		/* pages of files */
	KLOC_KIND_BLOCKDEV,	/* a file system's own, which no file owns */
	KLOC_KINDS,
};

/* Why a page moved, or did not. */
enum kloc_event {
	KLOC_DEMOTED_INACTIVE,	/* its context is not in use */
	KLOC_DEMOTED_UNUSED,	/* it was not used, its context is */
	KLOC_DEMOTED_LAST,	/* nothing colder was left */
	KLOC_DEMOTED_LIMIT,	/* there was more than a limit allows */
	KLOC_PROMOTED_WHOLE,	/* its context has become active */
	KLOC_PROMOTED_DENSE,	/* its context is used much for its size */
	KLOC_PROMOTED_USED,	/* it was used */
	KLOC_MOVES,
	KLOC_NOT_PINNED = KLOC_MOVES,	/* it has moved too often */
	KLOC_NOT_BUSY,		/* locked, under writeback, not on an LRU list */
	KLOC_NOT_MOVABLE,	/* mlocked, or the file system cannot move it */
	KLOC_NOT_MIGRATED,	/* somebody used it, or there was no room */
	KLOC_NOT_PAYING,	/* its use would not have paid for its move */
	KLOC_NOT_LIMIT,		/* its group has as much as it may in fast memory */
	KLOC_PLACED_FAST,
	KLOC_PLACED_SLOW,
	KLOC_PLACED_ELSEWHERE,	/* no room where it should have gone */
	KLOC_PLACED_LIMIT,	/* had to go to slow memory because of a limit */
	KLOC_PREDICTED,		/* contexts that would be streams */
	KLOC_MISPREDICTED,	/* of these, those that were none */
	KLOC_EVENTS,
};

/**
 * struct kloc_settings - what can be set in /sys/kernel/mm/kloc
 * @mode: enum kloc_mode
 * @scope: enum kloc_scope
 * @kinds: bit for each enum kloc_kind that takes part
 * @reserve: pages of fast memory that are kept free for what comes
 * @rate: bytes that may be moved in a second, 0 for no limit
 * @scan_us: how often contexts age, and the pages of active ones
 * @inactive_age: scans after which an open file is not in use any more
 * @promote_heat: how often a context must have become active of late to be
 *	promoted whole
 * @promote_pages: of a larger one pages are promoted as they are used
 * @stream_bytes: bytes after which what is only streamed goes to slow memory
 * @pin: moves after which a page stays where it is
 */
struct kloc_settings {
	unsigned long mode;
	unsigned long scope;
	unsigned long kinds;
	unsigned long reserve;
	unsigned long rate;
	unsigned long scan_us;
	unsigned long inactive_age;
	unsigned long promote_heat;
	unsigned long promote_pages;
	unsigned long stream_bytes;
	unsigned long pin;
};

extern struct kloc_settings kloc_settings;

/* Do contexts move their pages? */
static inline bool kloc_moves(void)
{
	unsigned long mode = READ_ONCE(kloc_settings.mode);

	return mode != KLOC_NOMIGRATE && mode != KLOC_CAP;
}

/* Contexts that wait for their promotion, at most; and folios. */
#define KLOC_QUEUE	256
#define KLOC_USED	512

/**
 * struct kloc_queued - a context that is to be promoted
 * @knode: its knode, held
 * @pages: that it had, and were counted as promoted
 * @reason: enum kloc_trial_reason
 */
struct kloc_queued {
	struct knode *knode;
	unsigned int pages;
	u8 reason;
};

/**
 * struct kloc_used - a folio of slow memory that was used
 * @folio: the folio, held
 * @level: of it
 */
struct kloc_used {
	struct folio *folio;
	u8 level;
};

/**
 * struct kloc_node - a node of fast memory, and the thread that keeps room there
 * @nid: its number
 * @slow: node to demote to, NUMA_NO_NODE if there is none
 * @thread: that moves pages
 * @wait: where the thread waits
 * @woken: it has something to do
 * @spent: it has moved what it may of late, and is not to be woken for more
 * @lock: of the queue and of @used
 * @queue: contexts to promote, a ring
 * @head: first of them
 * @count: of them
 * @used: folios of slow memory that were used, held
 * @used_count: of them
 * @budget: bytes that may be moved now
 * @refilled: when the budget was filled up, ns
 * @levels: pages of contexts in use, in fast memory, that were looked at of late,
 *	by their level
 * @hand_id: number of the context whose pages are looked at next
 * @hand_index: where in it
 * @looks: pages that may still be looked at
 * @promoted_level: least level of a page that is worth promoting
 * @trials: how promotions fared, by their reason
 * @explore: pages that may be promoted for other reasons until the next scan, to
 *	see whether these pay by now
 * @scans: how many there were: now and then trials are half forgotten
 * @full: there is too little room, and nothing was found to move
 * @slow_full: there was no room where pages were to be demoted to
 * @full_until: when to look again, ns
 * @looked: when it was looked for room the last time, ns
 * @room: what was found
 * @demoted_level: highest level of a page that may be demoted
 * @ages: this node's thread has contexts age
 */
struct kloc_node {
	int nid;
	int slow;
	struct task_struct *thread;
	wait_queue_head_t wait;
	bool woken;
	bool spent;
	spinlock_t lock;	/* of the queue and of used */
	struct kloc_queued queue[KLOC_QUEUE];
	unsigned int head;
	unsigned int count;
	struct kloc_used used[KLOC_USED];
	unsigned int used_count;
	s64 budget;
	u64 refilled;
	unsigned long levels[KLOC_LEVELS];
	unsigned long hand_id;
	pgoff_t hand_index;
	long looks;
	unsigned int promoted_level;
	struct kloc_trial trials[KLOC_TRIALS];
	atomic_t explore;
	unsigned int scans;
	bool full;
	bool slow_full;
	u64 full_until;
	u64 looked;
	long room;
	unsigned int demoted_level;
	bool ages;
};

/*
 * The fast node that is nearest to each node, NULL where KLOC is not on. Read it
 * once, under RCU.
 */
extern struct kloc_node *kloc_near[MAX_NUMNODES];

/* Are contexts made? Changes to false before they are all taken away. */
extern bool kloc_ready;

/*
 * What system calls go through is a few dozen instructions, of which rcu_read_lock()
 * and its end would be half. Code that cannot be preempted is a read-side critical
 * section, too; but where locks sleep it could not take one.
 */
static inline void kloc_enter(void)
{
	if (IS_ENABLED(CONFIG_PREEMPT_RT))
		rcu_read_lock();
	else
		preempt_disable();
}

static inline void kloc_leave(void)
{
	if (IS_ENABLED(CONFIG_PREEMPT_RT))
		rcu_read_unlock();
	else
		preempt_enable();
}

/**
 * struct kloc_walk - an iteration over the page cache of a knode
 * @knode: the knode; NULL for folios of any files
 * @nid: node whose folios are wanted
 * @index: where to go on
 * @done: the end was reached
 * @looked_at: entries that were looked at, whatever they were
 * @others: there are folios on other nodes of the same tier, or some that could
 *	not be held
 * @stayed: without @knode, folios that stay where they are on their lists
 * @mapping: what the folios found last belonged to; not to be followed
 */
struct kloc_walk {
	struct knode *knode;
	int nid;
	pgoff_t index;
	unsigned long looked_at;
	bool done;
	bool others;
	unsigned int stayed;
	const struct address_space *mapping;
};

/* Folios that are looked at, or moved, at a time. */
#define KLOC_BATCH	32

/* memcg.c */
#ifdef CONFIG_MEMCG
bool kloc_is_group_chosen(void);
bool kloc_memcg_charge(unsigned int pages);
bool kloc_memcg_charge_folio(struct folio *folio);
bool kloc_memcg_refresh(struct mem_cgroup *group);
unsigned long kloc_memcg_max(struct mem_cgroup *group);
unsigned long kloc_memcg_pages(struct mem_cgroup *group, int nid);
unsigned int kloc_memcg_select(struct mem_cgroup *group,
			       struct folio **folios, unsigned int count);
#else
static inline bool kloc_is_group_chosen(void)
{
	return false;
}

static inline bool kloc_memcg_charge(unsigned int pages)
{
	return true;
}

static inline bool kloc_memcg_charge_folio(struct folio *folio)
{
	return true;
}

static inline bool kloc_memcg_refresh(struct mem_cgroup *group)
{
	return false;
}

static inline unsigned long kloc_memcg_max(struct mem_cgroup *group)
{
	return KLOC_NO_LIMIT;
}

static inline unsigned long kloc_memcg_pages(struct mem_cgroup *group, int nid)
{
	return 0;
}

static inline unsigned int kloc_memcg_select(struct mem_cgroup *group,
					     struct folio **folios,
					     unsigned int count)
{
	return count;
}
#endif

/* control.c */
extern bool kloc_any_process;
extern bool kloc_any_group;

/* Was the process of this task chosen? */
static inline bool kloc_is_process_chosen(void)
{
	return current->mm && test_bit(MMF_KLOC, &current->mm->flags);
}

/**
 * kloc_chosen() - does a file get a context that this task uses?
 *
 * With the scope "chosen" it does if the task's process was chosen, or a group
 * that it is in; on most servers none ever was. What the kernel does on its own is
 * nobody's choice.
 *
 * Return: true if it does.
 */
static inline bool kloc_chosen(void)
{
	if (READ_ONCE(kloc_settings.scope) != KLOC_ALL) {
		if (!(READ_ONCE(kloc_any_process) && kloc_is_process_chosen()) &&
		    !(READ_ONCE(kloc_any_group) && kloc_is_group_chosen()))
			return false;
		if (current->flags & PF_KTHREAD)
			return false;
	}
	return READ_ONCE(kloc_settings.mode) != KLOC_CAP;
}

/* events.c */
void kloc_count(enum kloc_event event, const struct knode *knode, long count);
unsigned long kloc_events(enum kloc_event event, enum kloc_kind kind);
enum kloc_kind kloc_kind(const struct knode *knode);
bool kloc_has_kind(const struct knode *knode);

/* hooks.c */
struct knode *kloc_knode_make(struct inode *inode);

/**
 * kloc_knode_of() - the knode of an inode, made if need be
 * @inode: the inode, which the caller has a reference to
 *
 * Context: RCU read-side critical section, of any kind.
 * Return: the knode; NULL if there is none.
 */
static inline struct knode *kloc_knode_of(struct inode *inode)
{
	struct knode *knode = knode_dereference(inode->i_knode);

	return knode ?: kloc_knode_make(inode);
}

/**
 * kloc_knode_in() - the knode that the pages of a mapping belong to
 * @mapping: the mapping, kept by the caller; NULL for none
 *
 * Whether it takes part is not looked at.
 *
 * Context: RCU read-side critical section.
 * Return: the knode; NULL if there is none.
 */
static inline struct knode *kloc_knode_in(const struct address_space *mapping)
{
	return mapping && mapping->host ?
	       knode_dereference(mapping->host->i_knode) : NULL;
}

/**
 * kloc_has_none() - is an inode none that has a context, or gets one now?
 * @inode: the inode, which the caller has a reference to
 *
 * To be asked before all else: where few processes were chosen it is the answer
 * for most of what is done to files, which should pay next to nothing.
 *
 * Return: true if there is nothing to do.
 */
static inline bool kloc_has_none(struct inode *inode)
{
	return !rcu_access_pointer(inode->i_knode) && !kloc_chosen();
}

/* place.c */
long kloc_headroom(int nid, const struct cpumask *cpus);
void knode_add_obj(struct knode *knode, struct folio *folio);

/* pages.c */
int kloc_pages_alloc(void);
void kloc_pages_free(void);
unsigned long kloc_pages_size(void);
bool kloc_page_pinned(struct folio *folio);
void kloc_page_moved(struct folio *src, struct folio *dst, unsigned int trial);
void kloc_page_new(struct folio *folio);
void kloc_page_use(struct folio *folio);
unsigned int kloc_page_level_of(struct folio *folio);
void kloc_page_failed(struct folio *folio);
void kloc_pages_set_tick(unsigned long us);

/* move.c */
unsigned int itr_knode_cache(struct kloc_walk *walk, struct folio **folios);
void kloc_note_pages(struct knode *knode, int nid);
unsigned long kloc_move(struct kloc_node *node, struct kloc_walk *walk,
			enum kloc_event why, unsigned int trial,
			struct folio **folios, unsigned int count);

/* mapped.c */
bool kloc_was_referenced(struct folio *folio);

/* thread.c */
void kloc_wake(struct kloc_node *node);
void kloc_promoted_used(struct kloc_node *node, struct folio *folio,
			unsigned int trial);
void kloc_queue_promotion(struct knode *knode, unsigned int reason);
void kloc_queue_used(struct kloc_node *node, struct folio *folio,
		     unsigned int level);
bool kloc_may_move(struct kloc_node *node);
int kloc_thread_start(struct kloc_node *node);
void kloc_thread_stop(struct kloc_node *node);

/* limit.c */

/* Of a node that has no limit; a group's is PAGE_COUNTER_MAX then. */
#define KLOC_NO_LIMIT	ULONG_MAX

extern unsigned int kloc_limits;
extern unsigned long kloc_node_max[MAX_NUMNODES];

void kloc_limit_changed(void);
unsigned long kloc_file_pages(int nid);
long __kloc_limit_room(int nid, long room);
bool kloc_limit_is_why(int nid);
void kloc_limit_look(struct kloc_node *node);
void kloc_limit(struct kloc_node *node);

/**
 * kloc_limit_room() - how much room do limits leave on a node?
 * @nid: the node
 * @room: pages that there are without limits
 *
 * Return: pages, no more than @room.
 */
static inline long kloc_limit_room(int nid, long room)
{
	return READ_ONCE(kloc_limits) ? __kloc_limit_room(nid, room) : room;
}

/* cap.c */
unsigned long kloc_lruvec_pages(struct lruvec *lruvec, int nid);
unsigned long kloc_demote_oldest(struct kloc_node *node,
				 struct mem_cgroup *root,
				 unsigned long all, unsigned long pages);
void kloc_cap_added(struct kloc_node *node);
void kloc_cap(struct kloc_node *node);

/* nodes.c */
int kloc_nodes_show(void);
void kloc_nodes_hide(void);

/* sysfs.c */
extern struct kobject *kloc_folder;

int kloc_sysfs_init(void);

/* hotplug.c */
int kloc_hotplug_init(void);

/* main.c */
int kloc_enable(bool on);
void kloc_note_uses(void);
void kloc_nodes_changed(void);

#endif /* _MM_KLOC_KLOC_H */
