/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Policies of memory tiers: the contract between the core, a policy and a grouping.
 *
 * A policy decides where a new page goes and which folios move. The core observes and
 * moves: only the core touches an LRU list or a page table. A policy gets folios as
 * arguments of its choose functions, and fills batches through tiering_take_*(). A
 * grouping (mm/kloc) assigns pages to contexts. See Documentation/mm/tiering.rst.
 */
#ifndef _MM_TIERING_POLICY_H
#define _MM_TIERING_POLICY_H

#include <linux/bits.h>
#include <linux/compiler.h>
#include <linux/kobject.h>
#include <linux/list.h>
#include <linux/mutex.h>
#include <linux/nodemask.h>
#include <linux/numa.h>
#include <linux/pgtable.h>
#include <linux/ra_class.h>
#include <linux/rcupdate.h>
#include <linux/rhashtable-types.h>
#include <linux/spinlock.h>
#include <linux/sysfs.h>
#include <linux/types.h>
#include <linux/wait.h>

struct address_space;
struct folio;
struct knode;
struct lruvec;
struct mem_cgroup;
struct task_struct;
struct tiering_policy;
struct tiering_space;

/* Needs of a policy. The core runs only the parts that the selected policy needs. */
#define TIERING_PLACES		BIT(0)	/* ->place() decides for all new pages */
#define TIERING_FILES		BIT(1)	/* ->place() decides for new page cache */
#define TIERING_USES		BIT(2)	/* the core records the uses of page cache */
#define TIERING_MOVES		BIT(3)	/* each node has a daemon, which ends scans and
					 * calls ->fill_demote() and ->fill_promote()
					 */
#define TIERING_KNODES		BIT(4)	/* files have contexts, see mm/kloc */
#define TIERING_ROOM		BIT(5)	/* kswapd calls ->make_room() before reclaim */
#define TIERING_TIERS		BIT(6)	/* two tiers; all other needs imply this one */
#define TIERING_SLABS		BIT(7)	/* the policy places slabs, and daemons move
					 * them; needs TIERING_MOVES
					 */
#define TIERING_TABLES		BIT(8)	/* page tables and stacks prefer fast memory */
#define TIERING_HINTS		BIT(9)	/* the core records the hint faults of NUMA
					 * balancing; not with TIERING_USES: a record has
					 * one history
					 */
#define TIERING_VISITS		BIT(10)	/* the visits of regions can be counted; needs
					 * TIERING_MOVES
					 */
#define TIERING_COUNTS		BIT(11)	/* uses of page cache are counted; needs
					 * TIERING_USES
					 */
#define TIERING_NET		BIT(12)	/* data of the network prefers fast memory */
#define TIERING_READAHEAD	BIT(13)	/* the class of the readahead window of new page
					 * cache and its slabs counts; else it is
					 * RA_CLASS_OTHER
					 */

/* Daemons do not wait for memory: others wait for the locks that they hold. */
#define TIERING_GFP		(GFP_KERNEL | __GFP_NORETRY | __GFP_NOWARN)

/*
 * With TIERING_COUNTS, one of so many uses on a CPU is counted: calls for all would have
 * CPUs that read the same file wait for each other. A prime: programs that use files in
 * turn, with powers of two of pages, would have all uses counted for one of them.
 */
#define TIERING_USES_EACH	17

/**
 * enum tiering_place - where new pages should go
 * @TIERING_LOCAL: the nearest node with room, as without a policy
 * @TIERING_TOP_FIRST: fast memory, or the next tier below with room; the nearest node in it
 * @TIERING_BOTTOM_FIRST: the lowest tier with room; the nearest node in it
 *
 * Cpusets and limits of zones win: the core skips a tier that the task or the
 * allocation may not use.
 */
enum tiering_place {
	TIERING_LOCAL,
	TIERING_TOP_FIRST,
	TIERING_BOTTOM_FIRST,
};

/**
 * enum tiering_reason - why folios are moved
 * @TIERING_DEMOTED_INACTIVE: their context is not in use
 * @TIERING_DEMOTED_UNUSED: their context is in use, but they were unused for some scans
 * @TIERING_DEMOTED_OLD: they were the oldest of an LRU list
 * @TIERING_DEMOTED_RANDOM: they or their context were chosen at random
 * @TIERING_DEMOTED_LIMIT: a node or a cgroup exceeded its limit
 * @TIERING_DEMOTED_PAIR: they changed places with a hotter folio
 * @TIERING_DEMOTED_COLD: their region has few visits
 * @TIERING_PROMOTED_ACTIVE: their context has become active
 * @TIERING_PROMOTED_USED: they were used in enough scans
 * @TIERING_PROMOTED_HINT: they had a hint fault
 * @TIERING_REASONS: the number of reasons
 */
enum tiering_reason {
	TIERING_DEMOTED_INACTIVE,
	TIERING_DEMOTED_UNUSED,
	TIERING_DEMOTED_OLD,
	TIERING_DEMOTED_RANDOM,
	TIERING_DEMOTED_LIMIT,
	TIERING_DEMOTED_PAIR,
	TIERING_DEMOTED_COLD,
	TIERING_PROMOTED_ACTIVE,
	TIERING_PROMOTED_USED,
	TIERING_PROMOTED_HINT,
	TIERING_REASONS,
};

/**
 * enum tiering_kind - the contents of folios
 * @TIERING_ANON: anonymous memory
 * @TIERING_FILE: page cache of files
 * @TIERING_BLOCKDEV: page cache of block devices: the metadata of file systems
 * @TIERING_SLAB: relocatable slabs: dentries, inodes
 * @TIERING_KERNEL: page tables, kernel stacks and, with TIERING_PLACES, all other
 *	kernel memory; the core places these pages and never moves them
 * @TIERING_SOCKET: data of the network, as TIERING_KERNEL, with TIERING_NET
 * @TIERING_KINDS: the number of kinds
 */
enum tiering_kind {
	TIERING_ANON,
	TIERING_FILE,
	TIERING_BLOCKDEV,
	TIERING_SLAB,
	TIERING_KERNEL,
	TIERING_SOCKET,
	TIERING_KINDS,
};

/**
 * enum tiering_event - the events that are counted for each kind, in pages
 * @TIERING_MOVED: moved; one count for each reason
 * @TIERING_FREED: freed before the copy had paid; one count for each reason
 * @TIERING_RETURNED: moved back before the copy had paid; one count for each reason
 * @TIERING_NOT_PINNED: not moved: had moved too often before
 * @TIERING_NOT_BUSY: not moved: locked, under writeback, truncated, or on no LRU list
 * @TIERING_NOT_MOVABLE: not moved: mlocked, or a file system holds their buffers
 * @TIERING_NOT_LIMIT: not moved: a limit of their cgroup forbids it
 * @TIERING_NOT_PROTECTED: not moved: memory.min or memory.low of their cgroup protects
 *	them
 * @TIERING_NOT_MIGRATED: not moved: migration failed, or the target had no room
 * @TIERING_PLACED_FAST: new pages, placed in fast memory as the policy wanted
 * @TIERING_PLACED_SLOW: new pages, placed in slow memory as the policy wanted
 * @TIERING_PLACED_ELSEWHERE: new pages, for which the wanted tier had no room
 * @TIERING_EVENTS: the number of events
 */
enum tiering_event {
	TIERING_MOVED,
	TIERING_FREED = TIERING_MOVED + TIERING_REASONS,
	TIERING_RETURNED = TIERING_FREED + TIERING_REASONS,
	TIERING_NOT_PINNED = TIERING_RETURNED + TIERING_REASONS,
	TIERING_NOT_BUSY,
	TIERING_NOT_MOVABLE,
	TIERING_NOT_LIMIT,
	TIERING_NOT_PROTECTED,
	TIERING_NOT_MIGRATED,
	TIERING_PLACED_FAST,
	TIERING_PLACED_SLOW,
	TIERING_PLACED_ELSEWHERE,
	TIERING_EVENTS,
};

/* The copy of a demoted folio has paid if the folio stays for more scans than this. */
#define TIERING_SOON		10

/*
 * The copy of a promoted folio has paid if the folio is used in this many scans. A
 * promotion, and the demotion that follows later, cost as much as some uses of the
 * folio in slow memory.
 */
#define TIERING_USES_TO_PAY	4

/**
 * struct tiering_copies - copies and wasted copies, since boot
 * @moved: pages that were moved
 * @wasted: moved pages that were freed or moved back before the copy had paid
 */
struct tiering_copies {
	unsigned long moved;
	unsigned long wasted;
};

/* The largest number of folios in slow memory that wait for their promotion. */
#define TIERING_HOT		512

/* The largest number of slab pages in a move. */
#define TIERING_SLABS_MOST	64U

/**
 * struct tiering_slabs - slab pages that wait for their move
 * @count: number of pages
 * @addrs: address of an object on each page; the objects are not held
 */
struct tiering_slabs {
	unsigned int count;
	void *addrs[TIERING_SLABS_MOST];
};

/**
 * struct tiering_node - a node of fast memory
 * @nid: number of the node
 * @index: index among the nodes that take part
 * @counts: this node's daemon advances the global scan; true for one node
 * @slow: a node of the next lower tier, the first one to try for new pages;
 *	NUMA_NO_NODE if no tier is below
 * @priv: private data of the policy
 * @policy: policy of the daemon; this and all later members belong to the core
 * @daemon: the thread that moves folios, NULL if the policy has none
 * @wait: wait queue of the daemon
 * @woken: the daemon has work
 * @undrained: some folios did not move because they were on no LRU list
 * @drained: time of the last lru_add_drain_all(), ns
 * @asked: time of the last wakeup of kswapd on behalf of waiting promotions, ns
 * @retried: time at which kswapd was last allowed to try again, ns
 * @budget: bytes that may be moved now
 * @refilled: time of the last refill of the budget, ns
 * @making_room: held while a hint fault makes room; only tried, never waited for
 * @lock: protects @hot, @hot_first, @hot_count, @slabs_leave and @slabs_come
 * @hot: ring of the page frames of folios that wait for their promotion. The folios are
 *	not held and may be freed meanwhile.
 * @hot_first: index of the first entry of @hot
 * @hot_count: number of entries in @hot
 * @slabs_cold: offset in the arena of the next slab to check for demotion, in this scan
 * @slabs_hot: offset in the arena of the next slab to check for promotion, in this scan
 * @slabs_leave: slab pages of contexts that are demoted
 * @slabs_come: slab pages of contexts that are promoted
 *
 * Fast memory is one tier. Candidates are nodes for which node_is_toptier() is true and
 * that have a tier below them; the lowest tier of the candidates is fast memory.
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
	bool undrained;
	u64 drained;
	u64 asked;
	u64 retried;
	s64 budget;
	u64 refilled;
	struct mutex making_room;	/* held in hint_room */
	spinlock_t lock;	/* protects hot*, slabs_leave and slabs_come */
	unsigned long hot[TIERING_HOT];
	unsigned int hot_first;
	unsigned int hot_count;
	unsigned long slabs_cold;
	unsigned long slabs_hot;
	struct tiering_slabs slabs_leave;
	struct tiering_slabs slabs_come;
};

/**
 * struct tiering_alloc - a request for new pages, or for new slab objects
 * @kind: kind of the pages
 * @knode: context of the pages; NULL for kinds and files without contexts
 * @class: class of the readahead window of the pages
 * @lookup: the objects are an inode and its dentry, looked up and not opened
 * @cold: the pages are a slab of objects with few expected uses
 */
struct tiering_alloc {
	enum tiering_kind kind;
	struct knode *knode;
	enum ra_class class;
	bool lookup;
	bool cold;
};

/*
 * The largest number of pages in a move. A larger batch would delay others for too
 * long.
 */
#define TIERING_BATCH		128

/* The largest number of page cache entries that are checked for a batch. */
#define TIERING_BATCH_LOOKS	(8 * TIERING_BATCH)

/**
 * struct tiering_batch - folios that will be moved together
 * @folios: the folios, isolated from their LRU lists
 * @pages: number of pages in @folios; at most @most, except for a larger folio, which
 *	moves alone
 * @room: the largest number of pages to take, set by the core
 * @may_exceed: the first folio may have more pages than @room, and is the only one then
 * @most: pages that are wanted; 0 for TIERING_BATCH. The last folio may be larger if it
 *	moves alone
 * @pair: the folio that changes places with those of the batch, NULL for none
 * @looks: page cache entries that were checked
 * @closed: the next folio does not fit
 * @memcg: cgroup of the last folio that was checked; only compared, never dereferenced
 * @spared: memory.min or memory.low protects @memcg
 * @more: more folios may be left that were not checked for this batch
 * @why: reason of the move, set by the policy
 * @kind: kind of the folios
 * @promote: the folios move from slow memory to the node; else from it to slow memory
 * @full: the target nodes had no room, set by tiering_migrate()
 */
struct tiering_batch {
	struct list_head folios;
	unsigned int pages;
	long room;
	bool may_exceed;
	unsigned int most;
	struct folio *pair;
	unsigned long looks;
	bool closed;
	bool more;
	const struct mem_cgroup *memcg;
	bool spared;
	enum tiering_reason why;
	enum tiering_kind kind;
	bool promote;
	bool full;
};

/* The largest number of folios that a grouping finds in a call. */
#define TIERING_WALK	32

/**
 * struct tiering_walk - an iteration over the page cache of a context
 * @knode: the context, held
 * @nid: node of the folios to find; NUMA_NO_NODE for all slow memory
 * @index: index of the next folio
 * @looks: entries that were checked so far, counted by the grouping
 * @done: the walk has reached the end
 * @left: some folios were found and not taken
 * @taken: some folios were taken
 * @mapping: owner of the folios found last; only compared, never dereferenced
 */
struct tiering_walk {
	struct knode *knode;
	int nid;
	pgoff_t index;
	unsigned long looks;
	bool done;
	bool left;
	bool taken;
	const struct address_space *mapping;
};

/* The number of base pages in a region, which is as large as a huge page. */
#define TIERING_REGION_ORDER	(PMD_SHIFT - PAGE_SHIFT)
#define TIERING_REGION_PAGES	((unsigned int)(PMD_SIZE / PAGE_SIZE))

/* The largest number of pages of a region that are watched (Thermostat, section 3.2). */
#define TIERING_WATCHES		50U

/**
 * enum tiering_stage - which entries of a region are watched
 * @TIERING_UNWATCHED: none
 * @TIERING_WHOLE: the entry of the huge page
 * @TIERING_PAGES: those of some pages
 */
enum tiering_stage {
	TIERING_UNWATCHED,
	TIERING_WHOLE,
	TIERING_PAGES,
};

/**
 * struct tiering_watch - a watched entry of a page table
 * @index: place of the page in the 2 MiB of its region
 * @is_closed: the entry is closed, as far as is known
 * @visits: visits that found it closed
 * @since: time at which it was closed or was last seen closed, in units of 1024 ns
 * @closed: time that it was closed until @since while programs ran, in units of 1024 ns
 *
 * Protected by the lock of the region.
 */
struct tiering_watch {
	u16 index;
	bool is_closed;
	u16 visits;
	u32 since;
	u32 closed;
};

/**
 * struct tiering_region_key - where a region is
 * @mm: the address space
 * @addr: address, a multiple of 2 MiB
 */
struct tiering_region_key {
	struct mm_struct *mm;
	unsigned long addr;
};

/**
 * struct tiering_region - up to 2 MiB of a mapping, whose visits are counted
 * @list: link in a list of the policy
 * @hash: link in the table of all regions
 * @rcu: for kfree_rcu()
 * @space: the address space
 * @at: where it is; a region is the part of these 2 MiB that is in one mapping
 * @start: first address
 * @end: end
 * @is_gone: the mapping is no more; to be freed
 * @is_split: it was a huge page until tiering_regions_split()
 * @is_left: the last walk of tiering_take_region() has found folios to move
 * @next: where tiering_take_region() continues, 0 to begin
 * @cleared: time of the split, ns
 * @accessed: pages that were accessed between the split and the watch
 * @least: visits that they say there were at least, in a second
 * @rate: visits of all its pages, in a second
 * @visits: visits that were counted for @rate
 * @state: the policy's
 * @group: the policy's
 * @lock: protects @stage, @watched and @watches
 * @stage: what is watched
 * @watched: number of watches
 * @watches: the watched entries, by index
 *
 * All but the watches belongs to the daemon of a node.
 */
struct tiering_region {
	struct list_head list;
	struct rhash_head hash;
	struct rcu_head rcu;
	struct tiering_space *space;
	struct tiering_region_key at;
	unsigned long start;
	unsigned long end;
	bool is_gone;
	bool is_split;
	bool is_left;
	u16 next;
	u64 cleared;
	unsigned int accessed;
	unsigned long least;
	unsigned long rate;
	unsigned int visits;
	unsigned int state;
	void *group;

	spinlock_t lock;	/* protects stage, watched and watches */
	enum tiering_stage stage;
	unsigned int watched;
	struct tiering_watch watches[TIERING_WATCHES];
};

/*
 * Returns true if this folio should be moved. The caller holds a reference and no lock,
 * so the folio may have another owner by now. May sleep.
 */
typedef bool (*tiering_choose_t)(struct tiering_node *tn, struct folio *folio);

/**
 * struct tiering_policy - a policy
 * @name: name that selects the policy
 * @needs: bits TIERING_*
 * @attrs: settings of the policy, in the folder /sys/kernel/mm/tiering/<name>; NULL for
 *	none. The folder and the values stay while another policy is selected.
 * @list: link in the core's list of policies
 *
 * Operations that a policy does not need are NULL; tiering_register() refuses a policy
 * whose needs and operations contradict. None is called before @init has returned.
 */
struct tiering_policy {
	const char *name;
	unsigned long needs;
	const struct attribute_group *attrs;
	struct list_head list;

	/**
	 * @init: prepare the policy for its selection
	 *
	 * Context: process context, with the locks of CPU hotplug, memory hotplug
	 * and selection; may sleep.
	 * Return: 0, or an error; after an error, no policy is selected.
	 */
	int (*init)(void);

	/**
	 * @init_node: add a node; called after @init
	 *
	 * Context: as @init.
	 * Return: 0, or an error; after an error, @exit_node is not called for @tn.
	 */
	int (*init_node)(struct tiering_node *tn);

	/**
	 * @exit_node: remove a node, on which no other operation runs any more
	 *
	 * Context: as @init.
	 */
	void (*exit_node)(struct tiering_node *tn);

	/**
	 * @place: choose a tier for new pages; needs TIERING_PLACES or TIERING_FILES
	 * @tn: the node of fast memory that is nearest to this CPU
	 * @alloc: the request
	 *
	 * Context: any, in an RCU read-side critical section. Must not sleep,
	 * allocate, or take a lock that others take with interrupts enabled.
	 * Return: one of enum tiering_place.
	 */
	enum tiering_place (*place)(struct tiering_node *tn,
				    const struct tiering_alloc *alloc);

	/**
	 * @used: decide whether to promote a page cache folio in slow memory, at its
	 * first use in this scan; needs TIERING_USES
	 * @tn: the node of fast memory that is nearest to the folio's node
	 * @folio: the folio
	 * @history: the scans of the last eight in which the folio was used, bit 0 for
	 * this scan
	 *
	 * Context: RCU read-side critical section; not in interrupts. The caller may
	 * hold locks of file systems. Must not sleep.
	 * Return: true if the folio should be promoted.
	 */
	bool (*used)(struct tiering_node *tn, struct folio *folio,
		     unsigned int history);

	/**
	 * @count_use: count TIERING_USES_EACH uses of page cache, in slow or in fast
	 * memory; needs TIERING_COUNTS
	 * @folio: the folio that was used last; its history is that before this use
	 *
	 * Context: as @used.
	 */
	void (*count_use)(struct folio *folio);

	/**
	 * @knode_active: note that a context has become active; needs TIERING_KNODES
	 * @tn: the node of fast memory that is nearest to this CPU
	 * @knode: the context
	 *
	 * Not called if the file is opened again before a scan has found its context
	 * unused and before any of its pages has moved.
	 *
	 * Context: as @used.
	 */
	void (*knode_active)(struct tiering_node *tn, struct knode *knode);

	/**
	 * @period: end a scan; needs TIERING_MOVES
	 *
	 * Context: the daemon of @tn; may sleep. Stopping a daemon holds the locks of
	 * CPU and memory hotplug: taking them, or waiting for their holders, deadlocks.
	 */
	void (*period)(struct tiering_node *tn);

	/**
	 * @fill_demote: choose folios to demote from the node; needs TIERING_MOVES
	 * @b: an empty batch, to be filled through tiering_take_*()
	 * @want: free pages that are missing up to the watermark; negative above it
	 *
	 * The daemon calls this again until it returns 0 without setting @b->more,
	 * or the budget is spent.
	 *
	 * Context: as @period.
	 * Return: pages in @b.
	 */
	long (*fill_demote)(struct tiering_node *tn, struct tiering_batch *b,
			    long want);

	/**
	 * @fill_promote: choose folios to promote to the node; needs TIERING_MOVES
	 * @b: as for @fill_demote
	 * @room: pages that may be promoted
	 *
	 * The daemon calls this again as @fill_demote. It wakes kswapd to make room
	 * when there is none.
	 *
	 * Context: as @period.
	 * Return: pages in @b, no more than @room.
	 */
	long (*fill_promote)(struct tiering_node *tn, struct tiering_batch *b,
			     long room);

	/**
	 * @waits: tell whether promotions wait for room; optional. The daemon then
	 * wakes kswapd
	 *
	 * Context: as @period.
	 * Return: true if the policy has something to promote.
	 */
	bool (*waits)(struct tiering_node *tn);

	/**
	 * @slab_new_cold: predict whether new slab objects are cold. Cold objects share
	 * pages with cold objects only. Needs TIERING_SLABS
	 * @tn: as for @place
	 * @alloc: the objects
	 *
	 * Context: task, in an RCU read-side critical section; must not sleep.
	 * Return: true if few uses are expected.
	 */
	bool (*slab_new_cold)(struct tiering_node *tn,
			      const struct tiering_alloc *alloc);

	/**
	 * @slab_cold: decide whether to demote a slab page; needs TIERING_SLABS
	 * @history: the scans of the last eight in which an object of the page was
	 * used, bit 0 for the last scan that is over
	 *
	 * Called for the slab pages of the node in each scan in which the node is short
	 * of free memory or exceeds its limit.
	 *
	 * Context: as @period, with locks; must not sleep.
	 * Return: true if the page should be demoted.
	 */
	bool (*slab_cold)(struct tiering_node *tn, unsigned int history);

	/**
	 * @slab_hot: decide whether to promote a slab page; needs TIERING_SLABS
	 * @history: as for @slab_cold
	 *
	 * Context: as @slab_cold.
	 * Return: true if the page should be promoted. The core ignores pages that are
	 * in fast memory already.
	 */
	bool (*slab_hot)(struct tiering_node *tn, unsigned int history);

	/**
	 * @make_room: choose folios to demote before kswapd reclaims the LRU lists;
	 * needs TIERING_ROOM
	 * @b: as for @fill_demote
	 * @want: free pages that are missing
	 *
	 * kswapd calls this again until it returns 0 without setting @b->more, or the
	 * node has room, or kswapd has spent its batches.
	 *
	 * Context: kswapd of the node, in reclaim; may sleep, but must not allocate
	 * memory with reclaim. In an SRCU read-side critical section: the policy
	 * and the node stay.
	 * Return: pages in @b.
	 */
	long (*make_room)(struct tiering_node *tn, struct tiering_batch *b,
			  long want);

	/**
	 * @hint_fault: decide where a folio should be, at its first use since a scan of
	 * NUMA balancing; needs TIERING_HINTS
	 * @tn: the node of fast memory that is nearest to this CPU
	 * @folio: the folio
	 * @history: its last eight scans, bit 0 for the last one; a set bit means that
	 * the folio was used before the next scan
	 * @cpu_nid: node of this CPU
	 *
	 * The core asks only for memory without a memory policy, and checks that the
	 * cpuset of the task allows the node.
	 *
	 * Context: hint fault, with the lock of the page table, in an RCU read-side
	 * critical section. Must not sleep.
	 * Return: the node; NUMA_NO_NODE if the folio should stay.
	 */
	int (*hint_fault)(struct tiering_node *tn, struct folio *folio,
			  unsigned int history, int cpu_nid);

	/**
	 * @hint_room: choose folios to demote, so that a folio with a hint fault can be
	 * promoted to the node; optional, needs TIERING_HINTS
	 * @b: an empty batch that wants as many pages as the folio has, and some more if
	 *	other faults have found no room
	 * @order: order of the folio
	 *
	 * The task waits: check few folios. One task at a time on a node; a fault that
	 * finds another task here may find no room. If @b->why is
	 * TIERING_DEMOTED_PAIR, the core demotes to the node of the folio.
	 *
	 * Context: hint fault, without the lock of the page table, with that of the
	 * mapping; may sleep, but must not allocate memory with reclaim. In an SRCU
	 * read-side critical section, as @make_room.
	 * Return: pages in @b.
	 */
	long (*hint_room)(struct tiering_node *tn, struct tiering_batch *b,
			  unsigned int order);
};

/**
 * struct tiering_settings - the settings in /sys/kernel/mm/tiering
 * @scan_us: length of a scan, microseconds
 * @rate: budget of a node's daemon, bytes a second, 0 for no limit
 * @pin: moves after which a folio of page cache stays in fast memory
 * @kinds: a bit for each enum tiering_kind that takes part
 */
struct tiering_settings {
	unsigned long scan_us;
	unsigned long rate;
	unsigned long pin;
	unsigned long kinds;
};

extern struct tiering_settings tiering_settings;

/**
 * tiering_takes_part() - test whether policies place and move pages of a kind
 * @kind: the kind
 *
 * An excluded kind stays in fast memory (KLOCs, section 7.3).
 *
 * Return: true if they do.
 */
static inline bool tiering_takes_part(enum tiering_kind kind)
{
	return READ_ONCE(tiering_settings.kinds) & BIT(kind);
}

/* The functions that a policy may call. */

/* core.c */
int tiering_register(struct tiering_policy *policy);

/* nodes.c */
bool tiering_is_slow(int nid);
int tiering_node_index(int nid);
int tiering_better_node(struct folio *folio, int cpu_nid);

/* room.c */
long tiering_room(int nid);
bool tiering_is_balanced(int nid, unsigned int order);
bool tiering_is_short(int nid);
bool tiering_may_fill(int nid);

/* limits.c */
long tiering_limit_room(int nid);

/* page.c */
unsigned int tiering_page_history(struct folio *folio);
unsigned int tiering_page_level(struct folio *folio);
void tiering_page_age(struct folio *folio);

/* sample.c */
bool tiering_was_referenced(struct folio *folio);
bool tiering_queue_hot(struct tiering_node *tn, struct folio *folio);

/* daemon.c */
u64 tiering_scan_ns(void);
void tiering_wake(struct tiering_node *tn);
bool tiering_in_background(struct tiering_node *tn);

/* migrate.c */
bool tiering_batch_full(const struct tiering_batch *b);
bool tiering_spares(struct tiering_batch *b, struct mem_cgroup *memcg);
void tiering_take_knode(struct tiering_node *tn, struct tiering_batch *b,
			struct tiering_walk *walk, tiering_choose_t choose);
void tiering_take_hot(struct tiering_node *tn, struct tiering_batch *b);
bool tiering_take_lru(struct tiering_node *tn, struct tiering_batch *b,
		      struct lruvec *lruvec, enum tiering_kind kind,
		      tiering_choose_t choose);
bool tiering_take_region(struct tiering_node *tn, struct tiering_batch *b,
			 struct tiering_region *region);

/* regions.c */
unsigned long tiering_regions_of(int nid);
struct tiering_region *tiering_region_sample(int nid);
bool tiering_region_join(const struct tiering_region *region);

/* bounds.c */
#define TIERING_NO_BOUND	UINT_MAX

#ifdef CONFIG_MEMCG
unsigned int tiering_bound(const struct mem_cgroup *memcg);
u64 tiering_bound_id(const struct mem_cgroup *memcg);
struct mem_cgroup *tiering_bound_parent(struct mem_cgroup *memcg);
struct mem_cgroup *tiering_bound_of(struct mm_struct *mm);
struct mem_cgroup *tiering_bound_next(unsigned long *id);
u64 tiering_bound_cpu_ns(struct mem_cgroup *memcg);
#else
static inline unsigned int tiering_bound(const struct mem_cgroup *memcg)
{
	return TIERING_NO_BOUND;
}

static inline u64 tiering_bound_id(const struct mem_cgroup *memcg)
{
	return 0;
}

static inline struct mem_cgroup *tiering_bound_parent(struct mem_cgroup *memcg)
{
	return NULL;
}

static inline struct mem_cgroup *tiering_bound_of(struct mm_struct *mm)
{
	return NULL;
}

static inline struct mem_cgroup *tiering_bound_next(unsigned long *id)
{
	return NULL;
}

static inline u64 tiering_bound_cpu_ns(struct mem_cgroup *memcg)
{
	return 0;
}
#endif

/* visits.c */
void tiering_region_free(struct tiering_region *region);
void tiering_regions_watch_whole(struct list_head *regions);
void tiering_regions_split(struct list_head *regions);
void tiering_regions_watch_pages(struct list_head *regions);
void tiering_regions_close(struct list_head *regions);
void tiering_regions_open(struct list_head *regions);
void tiering_regions_stop(struct list_head *regions);
bool tiering_region_rate(struct tiering_region *region);
bool tiering_region_count(struct tiering_region *region);

/* slab.c */
void tiering_slabs_leave(struct tiering_node *tn, const struct knode *knode);
void tiering_slabs_come(struct tiering_node *tn, const struct knode *knode);

/* stats.c */
struct address_space *tiering_mapping_of(struct folio *folio);
enum tiering_kind tiering_kind_of(struct folio *folio);
struct tiering_copies tiering_copies(enum tiering_reason first,
				     enum tiering_reason last);

/**
 * struct tiering_number - a file of sysfs with a number
 * @attr: the file
 * @value: the number
 * @unit: one in the file stands for this many of *@value
 * @least: smallest number that the file accepts
 * @most: largest number that the file accepts
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

#endif /* _MM_TIERING_POLICY_H */
