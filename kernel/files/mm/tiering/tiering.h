/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Policies of memory tiers: the contract between the core and a policy.
 *
 * A policy decides: where a new page goes, which folios move. The core does it: it
 * is the only one that touches an LRU list or a page table. A policy gets folios as
 * arguments of its choose functions, and fills batches through tiering_take_*(). See
 * Documentation/mm/tiering.rst.
 */
#ifndef _MM_TIERING_TIERING_H
#define _MM_TIERING_TIERING_H

#include <linux/bits.h>
#include <linux/kobject.h>
#include <linux/list.h>
#include <linux/nodemask.h>
#include <linux/numa.h>
#include <linux/spinlock.h>
#include <linux/sysfs.h>
#include <linux/types.h>
#include <linux/wait.h>

struct address_space;
struct file_ra_state;
struct folio;
struct knode;
struct kloc_walk;
struct lruvec;
struct mem_cgroup;
struct srcu_struct;
struct task_struct;
struct tiering_policy;

/* What a policy needs. What the selected one does not need does not run. */
#define TIERING_PLACES		BIT(0)	/* ->place() is asked for all new pages */
#define TIERING_FILES		BIT(1)	/* ->place() is asked for page cache */
#define TIERING_USES		BIT(2)	/* which folios of page cache are used */
#define TIERING_MOVES		BIT(3)	/* a daemon for each node, that moves folios */
#define TIERING_KNODES		BIT(4)	/* files have contexts, see mm/kloc */
#define TIERING_ROOM		BIT(5)	/* ->make_room() comes before reclaim */
#define TIERING_TIERS		BIT(6)	/* two tiers; all others imply that */
#define TIERING_SLABS		BIT(7)	/* slabs are placed, and daemons move them;
					 * needs TIERING_MOVES
					 */
#define TIERING_TABLES		BIT(8)	/* page tables and stacks in the top tier first */

/**
 * enum tiering_place - where new pages should go
 * @TIERING_LOCAL: where they go without a policy: the nearest node with room
 * @TIERING_TOP_FIRST: the highest tier with room, and the nearest node in it
 * @TIERING_BOTTOM_FIRST: the lowest tier with room, and the nearest node in it
 *
 * Cpusets and limits of zones win: a tier that the task or the allocation may not
 * use is left out.
 */
enum tiering_place {
	TIERING_LOCAL,
	TIERING_TOP_FIRST,
	TIERING_BOTTOM_FIRST,
};

/**
 * enum tiering_reason - why folios are moved
 * @TIERING_DEMOTED_INACTIVE: their context is not in use
 * @TIERING_DEMOTED_UNUSED: they were not used for long, their context is in use
 * @TIERING_DEMOTED_OLD: they were the oldest of an LRU list
 * @TIERING_DEMOTED_RANDOM: their context was chosen at random
 * @TIERING_DEMOTED_LIMIT: there was more than a limit allows
 * @TIERING_PROMOTED_ACTIVE: their context has become active
 * @TIERING_PROMOTED_USED: they were used often
 * @TIERING_REASONS: how many there are
 */
enum tiering_reason {
	TIERING_DEMOTED_INACTIVE,
	TIERING_DEMOTED_UNUSED,
	TIERING_DEMOTED_OLD,
	TIERING_DEMOTED_RANDOM,
	TIERING_DEMOTED_LIMIT,
	TIERING_PROMOTED_ACTIVE,
	TIERING_PROMOTED_USED,
	TIERING_REASONS,
};

/**
 * enum tiering_kind - what folios are of
 * @TIERING_ANON: anonymous memory
 * @TIERING_FILE: page cache of files
 * @TIERING_BLOCKDEV: page cache of block devices: a file system's own
 * @TIERING_SLAB: relocatable slabs: dentries, inodes
 * @TIERING_KERNEL: page tables and kernel stacks, which are placed and never moved
 * @TIERING_KINDS: how many there are
 */
enum tiering_kind {
	TIERING_ANON,
	TIERING_FILE,
	TIERING_BLOCKDEV,
	TIERING_SLAB,
	TIERING_KERNEL,
	TIERING_KINDS,
};

/**
 * enum tiering_event - what is counted for each kind, in pages
 * @TIERING_MOVED: for each reason, that were moved for it
 * @TIERING_FREED: for each reason, that were freed before the copy had paid
 * @TIERING_RETURNED: for each reason, that were moved back before it had
 * @TIERING_NOT_PINNED: that were not moved because they had been too often
 * @TIERING_NOT_BUSY: because they were locked, under writeback, or on no LRU list
 * @TIERING_NOT_MOVABLE: because they are mlocked, or in use by a file system
 * @TIERING_NOT_LIMIT: because a limit does not allow it
 * @TIERING_NOT_MIGRATED: because somebody used them, or there was no room
 * @TIERING_PLACED_FAST: new, that were placed in fast memory
 * @TIERING_PLACED_SLOW: new, that were placed in slow memory
 * @TIERING_PLACED_ELSEWHERE: new, for which there was no room where they belong
 * @TIERING_EVENTS: how many there are
 */
enum tiering_event {
	TIERING_MOVED,
	TIERING_FREED = TIERING_MOVED + TIERING_REASONS,
	TIERING_RETURNED = TIERING_FREED + TIERING_REASONS,
	TIERING_NOT_PINNED = TIERING_RETURNED + TIERING_REASONS,
	TIERING_NOT_BUSY,
	TIERING_NOT_MOVABLE,
	TIERING_NOT_LIMIT,
	TIERING_NOT_MIGRATED,
	TIERING_PLACED_FAST,
	TIERING_PLACED_SLOW,
	TIERING_PLACED_ELSEWHERE,
	TIERING_EVENTS,
};

/* The copy of a demoted folio has paid if the folio stays for longer, in scans. */
#define TIERING_SOON		10

/*
 * That of a promoted one, if it was used in so many scans: it was copied, and will be
 * again, which takes as long as some uses of it in slow memory.
 */
#define TIERING_USES_TO_PAY	4

/**
 * struct tiering_copies - what came of copies, since boot
 * @moved: pages that were moved
 * @wasted: of them, those that were freed or moved back before the copy had paid
 */
struct tiering_copies {
	unsigned long moved;
	unsigned long wasted;
};

/* Folios of slow memory that wait for their promotion, at most. */
#define TIERING_HOT		512

/* Pages of slabs that are moved at a time. */
#define TIERING_SLABS_MOST	64U

/**
 * struct tiering_slabs - pages of slabs that are to be moved
 * @count: of them
 * @addrs: addresses of objects on them, which are not held
 */
struct tiering_slabs {
	unsigned int count;
	void *addrs[TIERING_SLABS_MOST];
};

/**
 * struct tiering_node - a node of the highest tier that has a tier below it
 * @nid: its number
 * @index: among those that take part
 * @counts: whether scans are those of its daemon; true of one node
 * @slow: the node that pages are demoted to, NUMA_NO_NODE if it is gone
 * @priv: what the policy keeps for the node
 *
 * What follows is the core's.
 * @policy: that the daemon asks
 * @daemon: the thread that moves folios, NULL if the policy has none
 * @wait: where the daemon waits
 * @woken: the daemon has something to do
 * @busy: folios that could not be moved in this scan because they were on no LRU list,
 *	or locked
 * @budget: bytes that may be moved now
 * @refilled: when the budget was filled up, ns
 * @lock: of @hot, @hot_first, @hot_count, @slabs_leave and @slabs_come
 * @hot: page frames of folios that are to be promoted, a ring. They are not held:
 *	a folio may be freed meanwhile.
 * @hot_first: the first of them
 * @hot_count: how many there are
 * @slabs_cold: where to go on with looking for slabs to demote, in this scan
 * @slabs_hot: the same for promotion
 * @slabs_leave: of contexts that leave
 * @slabs_come: of contexts that come
 */
struct tiering_node {
	int nid;
	unsigned int index;
	bool counts;
	int slow;
	void *priv;

	const struct tiering_policy *policy;
	struct task_struct *daemon;
	wait_queue_head_t wait;
	bool woken;
	unsigned long busy;
	s64 budget;
	u64 refilled;
	spinlock_t lock;	/* of the hot ones, and of slabs_leave and slabs_come */
	unsigned long hot[TIERING_HOT];
	unsigned int hot_first;
	unsigned int hot_count;
	unsigned long slabs_cold;
	unsigned long slabs_hot;
	struct tiering_slabs slabs_leave;
	struct tiering_slabs slabs_come;
};

/**
 * struct tiering_alloc - new pages that are wanted, or new objects of slabs
 * @gfp: allocation flags
 * @order: there are 2^order pages
 * @knode: the context that they are for; NULL if they are not for page cache, or the
 *	file has none
 * @stream: they are read ahead in a full window, or will not be used again
 * @lookup: they are an inode and its dentry, and not opened
 * @cold: they are pages of a slab whose objects will not be used much
 */
struct tiering_alloc {
	gfp_t gfp;
	unsigned int order;
	struct knode *knode;
	bool stream;
	bool lookup;
	bool cold;
};

/* Pages that are moved at a time: more than that, and others wait for too long. */
#define TIERING_BATCH		128

/**
 * struct tiering_batch - folios that will be moved together
 * @folios: isolated from their LRU lists
 * @pages: how many pages they have
 * @why: they are moved, set by the policy
 * @kind: of the folios
 * @promote: from slow memory to the node, else from the node to slow memory
 * @full: there was no room where they were to go, set when they are moved
 */
struct tiering_batch {
	struct list_head folios;
	unsigned int pages;
	enum tiering_reason why;
	enum tiering_kind kind;
	bool promote;
	bool full;
};

/*
 * Should this folio be moved? The folio is held and not locked, and may have changed
 * hands. May sleep.
 */
typedef bool (*tiering_choose_t)(struct tiering_node *tn, struct folio *folio);

/**
 * struct tiering_policy - a policy
 * @name: by which it is selected
 * @needs: bits TIERING_*
 * @attrs: its settings, in a folder of its name in /sys/kernel/mm/tiering; NULL for
 *	none. They are there while another policy is selected, too, and keep their
 *	values.
 * @list: of all policies, for the core
 *
 * Operations that a policy does not need are NULL. None is called before @init has
 * returned, nor after @exit is called.
 */
struct tiering_policy {
	const char *name;
	unsigned long needs;
	const struct attribute_group *attrs;
	struct list_head list;

	/**
	 * @init: the policy is selected
	 *
	 * Context: process context, with the locks of CPU and memory hotplug and
	 * that of selection; may sleep.
	 * Return: 0, or an error: then no policy is selected, and @exit is not
	 * called.
	 */
	int (*init)(void);

	/**
	 * @exit: another policy is selected; undo what @init did
	 *
	 * Context: as @init. Nobody runs one of the other operations any more.
	 */
	void (*exit)(void);

	/**
	 * @init_node: a node takes part from now on; after @init
	 *
	 * Context: as @init.
	 * Return: 0, or an error: then @exit_node is not called for it.
	 */
	int (*init_node)(struct tiering_node *tn);

	/**
	 * @exit_node: a node takes no part any more; before @exit
	 *
	 * Context: as @exit.
	 */
	void (*exit_node)(struct tiering_node *tn);

	/**
	 * @place: where should new pages go? Needs TIERING_PLACES or TIERING_FILES
	 * @tn: the node of the highest tier that is nearest to this CPU
	 *
	 * Context: any, in an RCU read-side critical section. Must not sleep,
	 * allocate, or take a lock that is taken with interrupts enabled.
	 * Return: one of enum tiering_place.
	 */
	enum tiering_place (*place)(struct tiering_node *tn,
				    const struct tiering_alloc *alloc);

	/**
	 * @used: a folio of page cache is used that is not in the highest tier, for
	 * the first time in this scan; needs TIERING_USES
	 * @tn: the node that is nearest to the folio's
	 * @history: in which of the last eight scans it was used, bit 0 for this one
	 *
	 * Context: RCU read-side critical section; not in interrupts. May hold
	 * locks of file systems, so it must not sleep.
	 * Return: true if the folio should be promoted.
	 */
	bool (*used)(struct tiering_node *tn, struct folio *folio,
		     unsigned int history);

	/**
	 * @knode_active: a context has become active; needs TIERING_KNODES
	 * @tn: the node that is nearest to this CPU
	 *
	 * Not for a file that is opened again before a scan has found its context
	 * unused, and of which nothing was moved away.
	 *
	 * Context: as @used.
	 */
	void (*knode_active)(struct tiering_node *tn, struct knode *knode);

	/**
	 * @period: a scan is over; needs TIERING_MOVES
	 *
	 * Context: the daemon of @tn; may sleep. It must not take the locks of CPU
	 * or memory hotplug, nor wait for who holds them.
	 */
	void (*period)(struct tiering_node *tn);

	/**
	 * @fill_demote: which folios should leave the node? Needs TIERING_MOVES
	 * @b: an empty batch, to be filled through tiering_take_*()
	 * @want: pages that are missing up to the watermark, or less than 0
	 *
	 * Called again until it returns 0, or the rate is spent.
	 *
	 * Context: as @period.
	 * Return: pages in @b.
	 */
	long (*fill_demote)(struct tiering_node *tn, struct tiering_batch *b,
			    long want);

	/**
	 * @fill_promote: which folios should come to the node? Needs TIERING_MOVES
	 * @b: as for @fill_demote
	 * @room: pages that are free for them
	 *
	 * Called again until it returns 0, or the rate is spent. Room is made by
	 * kswapd, which is woken when there is none.
	 *
	 * Context: as @period.
	 * Return: pages in @b, no more than @room.
	 */
	long (*fill_promote)(struct tiering_node *tn, struct tiering_batch *b,
			     long room);

	/**
	 * @slab_new_cold: will new objects of slabs not be used much? They then share
	 * pages with others of that kind alone. Needs TIERING_SLABS
	 * @tn: as for @place
	 * @alloc: the objects
	 *
	 * Context: task, in an RCU read-side critical section; must not sleep.
	 * Return: true if so.
	 */
	bool (*slab_new_cold)(struct tiering_node *tn,
			      const struct tiering_alloc *alloc);

	/**
	 * @slab_cold: should a page of a slab leave the node? Needs TIERING_SLABS
	 * @history: in which of the last eight scans any of its objects was used,
	 * bit 0 for the last one
	 *
	 * Asked of pages of the node, in each scan in which little of it is free.
	 *
	 * Context: as @period, with locks; must not sleep.
	 * Return: true if it should.
	 */
	bool (*slab_cold)(struct tiering_node *tn, unsigned int history);

	/**
	 * @slab_hot: should a page of a slab, which is in a lower tier, come to the
	 * node? Needs TIERING_SLABS
	 * @history: as for @slab_cold
	 *
	 * Context: as @slab_cold.
	 * Return: true if it should.
	 */
	bool (*slab_hot)(struct tiering_node *tn, unsigned int history);

	/**
	 * @make_room: which folios should leave the node before kswapd takes what
	 * is oldest? Needs TIERING_ROOM
	 * @b: as for @fill_demote
	 * @want: pages that are missing
	 *
	 * Called again until it returns 0, or there is room.
	 *
	 * Context: kswapd of the node, in reclaim; may sleep, but must not allocate
	 * memory with reclaim. In an SRCU read-side critical section: the policy
	 * and the node stay.
	 * Return: pages in @b.
	 */
	long (*make_room)(struct tiering_node *tn, struct tiering_batch *b,
			  long want);
};

/**
 * struct tiering_settings - what can be set in /sys/kernel/mm/tiering
 * @scan_us: length of a scan
 * @rate: bytes that a node's daemon may move in a second, 0 for no limit
 * @pin: moves after which a folio of page cache stays in fast memory
 */
struct tiering_settings {
	unsigned long scan_us;
	unsigned long rate;
	unsigned long pin;
};

extern struct tiering_settings tiering_settings;

/* core.c */
extern const struct tiering_policy __rcu *tiering_selected;

int tiering_register(struct tiering_policy *policy);
int tiering_select(const char *name);
struct tiering_policy *tiering_next_policy(struct tiering_policy *policy);

/* nodes.c */
extern struct tiering_node __rcu *tiering_near[MAX_NUMNODES];

int tiering_nodes_start(const struct tiering_policy *policy);
void tiering_nodes_hide(void);
void tiering_nodes_stop(const struct tiering_policy *policy);
void tiering_nodes_update(const struct tiering_policy *policy,
			  struct srcu_struct *srcu);
unsigned int tiering_tiers(const nodemask_t **tiers);

/* place.c */
bool tiering_is_stream(const struct file_ra_state *ra);

/* room.c */
long tiering_room(int nid);
long tiering_room_to_fill(int nid);
long tiering_room_to_min(int nid);
bool tiering_is_short(int nid);
bool tiering_may_fill(int nid);
void tiering_wake_kswapd(int nid);

/* page.c */
int tiering_pages_start(void);
void tiering_pages_stop(void);
void tiering_pages_update(void);
unsigned long tiering_pages_bytes(void);
void tiering_next_scan(void);
unsigned int tiering_page_use(struct folio *folio);
unsigned int tiering_page_history(struct folio *folio);
bool tiering_page_pinned(struct folio *folio);
void tiering_page_new(struct folio *folio);
void tiering_page_freed(struct folio *folio);
void tiering_page_split(struct folio *folio, unsigned long pages);
void tiering_page_move(struct folio *src, struct folio *dst,
		       enum tiering_reason why);

/* sample.c */
bool tiering_was_referenced(struct folio *folio);

/* daemon.c */
u64 tiering_scan_ns(void);
int tiering_daemon_start(struct tiering_node *tn);
void tiering_daemon_stop(struct tiering_node *tn);
void tiering_wake(struct tiering_node *tn);
void tiering_wake_all(void);
bool tiering_in_background(struct tiering_node *tn);

/* migrate.c */
bool tiering_batch_full(const struct tiering_batch *b);
void tiering_take_knode(struct tiering_node *tn, struct tiering_batch *b,
			struct kloc_walk *walk, tiering_choose_t choose);
void tiering_take_hot(struct tiering_node *tn, struct tiering_batch *b,
		      long room);
bool tiering_take_lru(struct tiering_node *tn, struct tiering_batch *b,
		      struct lruvec *lruvec, enum tiering_kind kind,
		      tiering_choose_t choose);
unsigned long tiering_lruvec_files(struct lruvec *lruvec, int nid);
unsigned int tiering_migrate(struct tiering_node *tn, struct tiering_batch *b);

/* slab.c */
void tiering_slabs_leave(struct tiering_node *tn, const struct knode *knode);
void tiering_slabs_come(struct tiering_node *tn, const struct knode *knode);
bool tiering_slabs_are_looked_at(const struct tiering_node *tn);
bool tiering_slabs_turn(struct tiering_node *tn);
void tiering_slabs_period(struct tiering_node *tn);

/* stats.c */
void tiering_count(enum tiering_event event, enum tiering_kind kind, long pages);
unsigned long tiering_counted(enum tiering_event event, enum tiering_kind kind);
struct tiering_copies tiering_copies(enum tiering_reason first,
				     enum tiering_reason last);
enum tiering_kind tiering_kind_of(struct folio *folio);
int tiering_stats_add(struct kobject *folder);

/**
 * struct tiering_number - a file of sysfs with a number
 * @attr: the file
 * @value: where the number is
 * @unit: of the file, in that of @value
 * @least: that the file takes
 * @most: that the file takes
 */
struct tiering_number {
	struct kobj_attribute attr;
	unsigned long *value;
	unsigned long unit;
	unsigned long least;
	unsigned long most;
};

#define TIERING_NUMBER(_name, _value, _unit, _least, _most)		\
static struct tiering_number _name##_number = {				\
	.attr = __ATTR(_name, 0644, tiering_number_show,		\
		       tiering_number_store),				\
	.value = &(_value),						\
	.unit = _unit,							\
	.least = _least,						\
	.most = _most,							\
}

/* sysfs.c */
ssize_t tiering_number_show(struct kobject *kobj, struct kobj_attribute *attr,
			    char *buf);
ssize_t tiering_number_store(struct kobject *kobj, struct kobj_attribute *attr,
			     const char *buf, size_t count);
int tiering_sysfs_add(const struct tiering_policy *policy);

#endif /* _MM_TIERING_TIERING_H */
