// SPDX-License-Identifier: GPL-2.0
/*
 * The policy kloc: the state of a file's context decides the tier of its pages.
 *
 * After Kannan, Ren and Bhattacharjee, "KLOCs: Kernel-Level Object Contexts for
 * Heterogeneous Memory Systems", ASPLOS 2021; section numbers are that paper's. Its
 * rules are:
 *
 * - New pages of active contexts go to fast memory, new pages of inactive contexts to
 *   slow memory (4.4). Application pages come first: page cache leaves room for them
 *   (4.2.2).
 * - A context is active while its file is open and in use. Its age grows by one with
 *   each scan, and a use resets it (4.3).
 * - A context that is inactive and was unused for some scans is demoted as a whole, the
 *   coldest first, before anyone needs the room (4.5).
 * - A context that is used in several scans is promoted as a whole, if there is room; a
 *   page of slow memory that is used in as many scans is promoted alone (4.4).
 * - A page that has moved too often stays in fast memory (4.5; see migrate.c).
 * - New data of sockets goes to fast memory (4.2.3; see net.c).
 * - Relocatable slab pages of inodes and dentries move with their contexts or by use
 *   (4.4; see policy_kloc_slab.c).
 *
 * None of the rules applies while fast memory has room for all. Two rules are not the
 * paper's: wasted copies make promotion and demotion stricter, see
 * policy_kloc_copies.c; and pages that an application will use only once begin in slow
 * memory.
 */
#include <linux/cpuset.h>
#include <linux/init.h>
#include <linux/kloc.h>
#include <linux/kthread.h>
#include <linux/mm.h>
#include <linux/pagemap.h>
#include <linux/sched.h>
#include <linux/slab.h>
#include <linux/spinlock.h>
#include <linux/sysfs.h>
#include <linux/timekeeping.h>

#include "../kloc/kloc.h"
#include "policy_kloc.h"

/* The largest number of contexts that wait for their promotion. */
#define POLICY_KLOC_QUEUE	128

/* The largest number of contexts to try for a batch: some may have no pages by now. */
#define POLICY_KLOC_TRIES	64

/* The largest number of steps of a pass over contexts in a call by kswapd. */
#define POLICY_KLOC_STEPS	32

/* Scans without use after which unused pages of an active context are demoted. */
#define POLICY_KLOC_AGED	2

/* The largest number of such contexts that kswapd finds at a time. */
#define POLICY_KLOC_FOUND	128

/* The largest number of walks without a page to demote, in a scan. */
#define POLICY_KLOC_FUTILE	128

/**
 * struct policy_kloc_aged - contexts that were unused for some scans
 * @pass: pass over the lists of recently used contexts
 * @is_over: a pass has ended in this scan
 * @scan: number of this scan
 * @futile: walks in this scan that found no page to demote
 * @walk: walk over the context whose unused pages kswapd demotes
 * @next: index of the next entry of @found to walk over
 * @count: number of entries in @found
 * @found: the contexts, held
 */
struct policy_kloc_aged {
	struct knode_pass pass;
	bool is_over;
	unsigned int scan;
	unsigned int futile;
	struct tiering_walk walk;
	unsigned int next, count;
	struct knode *found[POLICY_KLOC_FOUND];
};

/**
 * struct policy_kloc_node - the policy's data of a node
 * @demote: walk over the context that the daemon demotes
 * @room: walk over the context that kswapd demotes
 * @cold_pass: pass that finds inactive contexts to demote under pressure
 * @cold_pass_end: time of the end of the last such pass, ns
 * @aged: contexts whose unused pages kswapd demotes
 * @promote: walk over the context that the daemon promotes
 * @lock: protects @queue and @count
 * @queue: contexts that have become active and may have pages in slow memory, held
 * @count: number of contexts in @queue
 */
struct policy_kloc_node {
	struct tiering_walk demote;
	struct tiering_walk room;
	struct knode_pass cold_pass;
	u64 cold_pass_end;
	struct policy_kloc_aged aged;
	struct tiering_walk promote;
	spinlock_t lock;	/* protects queue and count */
	struct knode *queue[POLICY_KLOC_QUEUE];
	unsigned int count;
};

/* Scans without use until an open context becomes inactive, and a closed one cold. */
static unsigned long policy_kloc_inactive_age = 8;

/*
 * Number of the last eight scans in which a context or page must be used for promotion.
 */
static struct policy_kloc_copies policy_kloc_promote_uses = {
	.first = TIERING_PROMOTED_ACTIVE,
	.last = TIERING_PROMOTED_USED,
	.least = 2,
	.most = 9,	/* never */
};

/* Scans without use after which an inactive context is demoted under pressure. */
static struct policy_kloc_copies policy_kloc_demote_age = {
	.first = TIERING_DEMOTED_INACTIVE,
	.last = TIERING_DEMOTED_INACTIVE,
	.least = 2,
	.most = U8_MAX,
};

/* Scans since the policy was selected. */
static unsigned int policy_kloc_scans;

/**
 * policy_kloc_select() - prepare for selection, the operation init
 *
 * Return: 0.
 */
int policy_kloc_select(void)
{
	WRITE_ONCE(policy_kloc_scans, 0);
	policy_kloc_copies_forget(&policy_kloc_promote_uses);
	policy_kloc_copies_forget(&policy_kloc_demote_age);
	return 0;
}

/**
 * policy_kloc_init_node() - allocate the data of a node, the operation init_node
 * @tn: the node
 *
 * Return: 0, or -ENOMEM.
 */
int policy_kloc_init_node(struct tiering_node *tn)
{
	struct policy_kloc_node *node = kzalloc_node(sizeof(*node), GFP_KERNEL,
						     tn->nid);

	tn->priv = node;
	if (node)
		spin_lock_init(&node->lock);
	return node ? 0 : -ENOMEM;
}

/**
 * policy_kloc_place_used() - choose a tier for new pages that are expected to be used
 * @tn: the node
 * @class: class of the readahead window of the pages
 *
 * Return: one of enum tiering_place.
 */
enum tiering_place policy_kloc_place_used(struct tiering_node *tn, enum ra_class class)
{
	if (!tiering_is_short(tn->nid))
		return TIERING_TOP_FIRST;
	/* The application says that it will not use them again. */
	if (class == RA_CLASS_ONCE)
		return TIERING_BOTTOM_FIRST;
	return tiering_may_fill(tn->nid) ? TIERING_TOP_FIRST :
					   TIERING_BOTTOM_FIRST;
}

/**
 * policy_kloc_place_active() - choose a tier for new pages of an active context
 * @tn: the node
 * @alloc: the pages
 *
 * Return: one of enum tiering_place.
 */
enum tiering_place policy_kloc_place_active(struct tiering_node *tn,
					    const struct tiering_alloc *alloc)
{
	if (alloc->cold)
		return policy_kloc_place_cold_slab(tn);
	/* Page cache without a context is placed as without a policy. */
	if (!alloc->knode)
		return TIERING_LOCAL;
	/*
	 * An excluded kind goes to fast memory (7.3), but leaves room for applications.
	 */
	if (!kloc_takes_part(alloc->knode))
		return tiering_may_fill(tn->nid) ? TIERING_TOP_FIRST : TIERING_LOCAL;
	return policy_kloc_place_used(tn, alloc->class);
}

/**
 * policy_kloc_place() - choose a tier for new pages by the state of their context (4.4)
 * @tn: the node
 * @alloc: the pages
 *
 * Return: one of enum tiering_place.
 */
enum tiering_place policy_kloc_place(struct tiering_node *tn,
				     const struct tiering_alloc *alloc)
{
	if (alloc->knode && !knode_inuse(alloc->knode) &&
	    kloc_takes_part(alloc->knode) && tiering_is_short(tn->nid))
		return TIERING_BOTTOM_FIRST;
	return policy_kloc_place_active(tn, alloc);
}

/**
 * policy_kloc_used() - decide whether to promote a folio that is used
 * @tn: the node
 * @folio: the folio
 * @history: uses of the folio
 *
 * Return: true if the folio was used in enough scans.
 */
bool policy_kloc_used(struct tiering_node *tn, struct folio *folio,
		      unsigned int history)
{
	const struct knode *knode;

	if (hweight_long(history) < READ_ONCE(policy_kloc_promote_uses.value))
		return false;
	knode = kloc_knode_in(tiering_mapping_of(folio));
	return knode && kloc_takes_part(knode);
}

/**
 * policy_kloc_knode_active() - queue an active context for promotion (4.4)
 * @tn: the node
 * @knode: the context
 */
void policy_kloc_knode_active(struct tiering_node *tn, struct knode *knode)
{
	struct policy_kloc_node *node = tn->priv;
	bool many = false;

	if ((READ_ONCE(knode->flags) & (BIT(KNODE_SLOW) | BIT(KNODE_QUEUED))) !=
	    BIT(KNODE_SLOW) ||
	    !kloc_takes_part(knode) ||
	    hweight8(READ_ONCE(knode->history)) < READ_ONCE(policy_kloc_promote_uses.value) ||
	    /* The task's cpuset or memory policy excludes that node. */
	    !node_isset(tn->nid, cpuset_current_mems_allowed) || current->mempolicy ||
	    test_and_set_bit(KNODE_QUEUED, &knode->flags))
		return;
	spin_lock(&node->lock);
	if (node->count < POLICY_KLOC_QUEUE && knode_tryget(knode)) {
		node->queue[node->count++] = knode;
		many = node->count > POLICY_KLOC_QUEUE / 4;
	} else {
		clear_bit(KNODE_QUEUED, &knode->flags);
	}
	spin_unlock(&node->lock);
	/* Waking the daemon for each context would cost more than a promotion saves. */
	if (many)
		tiering_wake(tn);
}

/*
 * Age all contexts by a scan. There may be millions, so check for a stop of the daemon.
 */
static void policy_kloc_age_contexts(void)
{
	unsigned int inactive_age = READ_ONCE(policy_kloc_inactive_age);
	unsigned int cold_age = max(inactive_age, policy_kloc_demote_age.value);
	struct knode_pass pass = { };

	while (knode_pass_age(&pass, inactive_age, cold_age) && !kthread_should_stop())
		cond_resched();
}

/**
 * policy_kloc_period() - age all contexts and adapt thresholds at the end of a scan
 * (4.3)
 * @tn: the node
 */
void policy_kloc_period(struct tiering_node *tn)
{
	/* One daemon ages the contexts of all nodes. */
	if (!READ_ONCE(tn->counts))
		return;
	policy_kloc_age_contexts();
	WRITE_ONCE(policy_kloc_scans, policy_kloc_scans + 1);
	if (policy_kloc_scans % TIERING_SOON)
		return;
	policy_kloc_copies_adapt(&policy_kloc_promote_uses);
	policy_kloc_copies_adapt(&policy_kloc_demote_age);
}

/* End a walk over the pages of a context in fast memory, and list the context again. */
static void policy_kloc_end(struct tiering_node *tn, struct tiering_walk *walk)
{
	struct knode *knode = walk->knode;

	if (!knode)
		return;
	/* Skip the context for some scans if none of its pages could be demoted. */
	if (walk->done && walk->left && !walk->taken)
		knode_set_stuck(knode, tn->index);
	rcu_read_lock();
	if (!walk->done || walk->left)
		knode_set_fast(knode, tn->index, true);
	if (knode_inuse(knode))
		knode_list_add(knode);
	else
		knode_list_add_cold(knode);
	rcu_read_unlock();
	knode_put(knode);
	walk->knode = NULL;
}

/*
 * Begin a walk over the pages of a context in fast memory. The walk holds the context.
 */
static void policy_kloc_begin(struct tiering_node *tn, struct tiering_walk *walk,
			      struct knode *knode)
{
	*walk = (struct tiering_walk) { .knode = knode, .nid = tn->nid };
	/* Clear the bit before the walk: pages added meanwhile set it again. */
	rcu_read_lock();
	knode_set_fast(knode, tn->index, false);
	rcu_read_unlock();
}

/* Begin a walk over the next context to demote. Return: false if there is none. */
static bool policy_kloc_begin_next(struct tiering_node *tn, struct tiering_walk *walk,
				   policy_kloc_next_t next)
{
	struct knode *knode;

	if (!next(tn->index, &knode, 1))
		return false;
	tiering_slabs_leave(tn, knode);
	policy_kloc_begin(tn, walk, knode);
	return true;
}

/* Test whether a batch takes pages of a context: all its pages are of one kind. */
static bool policy_kloc_fits(const struct tiering_batch *b, const struct knode *knode)
{
	return !b->pages || b->kind == kloc_kind(knode);
}

/**
 * policy_kloc_choose_clean() - choose clean folios
 * @tn: the node
 * @folio: the folio
 *
 * A file that was just written may be deleted soon.
 *
 * Return: true if the folio is one.
 */
bool policy_kloc_choose_clean(struct tiering_node *tn, struct folio *folio)
{
	/* tmpfs pages have no backing store and are always dirty. */
	return !folio_test_dirty(folio) || folio_test_swapbacked(folio);
}

/**
 * policy_kloc_choose_unused() - choose clean folios without a use in the last eight scans
 * @tn: the node
 * @folio: the folio
 *
 * Return: true if the folio is one.
 */
bool policy_kloc_choose_unused(struct tiering_node *tn, struct folio *folio)
{
	return policy_kloc_choose_clean(tn, folio) &&
	       !tiering_page_history(folio) &&
	       !(folio_mapped(folio) && tiering_was_referenced(folio));
}

/*
 * Take the pages of contexts on a node, one context after another. @walk is the current
 * walk, and @next finds the context after it.
 */
static long policy_kloc_take(struct tiering_node *tn, struct tiering_batch *b,
			     struct tiering_walk *walk, policy_kloc_next_t next)
{
	unsigned int tries;

	for (tries = POLICY_KLOC_TRIES; tries && !tiering_batch_full(b); tries--) {
		if (!walk->knode && !policy_kloc_begin_next(tn, walk, next))
			break;
		if (!policy_kloc_fits(b, walk->knode))
			break;
		/* The context may have become active since the walk began. */
		if (next == get_LRU_knodes && knode_inuse(walk->knode)) {
			policy_kloc_end(tn, walk);
			continue;
		}
		tiering_take_knode(tn, b, walk, policy_kloc_choose_clean);
		if (walk->done)
			policy_kloc_end(tn, walk);
	}
	/* Many contexts had few pages to demote. Others come after them. */
	b->more |= !tries;
	return b->pages;
}

/**
 * policy_kloc_take_for_room() - take the pages of contexts on a node, for kswapd
 * @tn: the node
 * @b: the batch
 * @next: finds the next context when a walk is over
 *
 * Return: pages in @b.
 */
long policy_kloc_take_for_room(struct tiering_node *tn, struct tiering_batch *b,
			       policy_kloc_next_t next)
{
	struct policy_kloc_node *node = tn->priv;

	return policy_kloc_take(tn, b, &node->room, next);
}

/**
 * policy_kloc_fill_demote() - demote inactive contexts in the background (4.5)
 * @tn: the node
 * @b: the batch
 * @want: pages that are missing
 *
 * Return: pages in @b.
 */
long policy_kloc_fill_demote(struct tiering_node *tn, struct tiering_batch *b,
			     long want)
{
	struct policy_kloc_node *node = tn->priv;

	if (!tiering_is_short(tn->nid) || !tiering_in_background(tn))
		return 0;
	b->why = TIERING_DEMOTED_INACTIVE;
	return policy_kloc_take(tn, b, &node->demote, get_LRU_knodes);
}

/* List more inactive contexts as cold. Return: false if that was done recently. */
static bool policy_kloc_collect(struct policy_kloc_node *node)
{
	unsigned int steps, age = READ_ONCE(policy_kloc_demote_age.value);
	u64 since = ktime_get_mono_fast_ns() - node->cold_pass_end;

	if (knode_pass_is_over(&node->cold_pass) && since <= tiering_scan_ns() / 8)
		return false;
	for (steps = POLICY_KLOC_STEPS; steps; steps--) {
		if (!knode_pass_collect(&node->cold_pass, age)) {
			node->cold_pass_end = ktime_get_mono_fast_ns();
			break;
		}
		cond_resched();
	}
	return true;
}

/* Reset the search for unused contexts if a new scan has begun. */
static void policy_kloc_begin_scan(struct policy_kloc_aged *aged)
{
	unsigned int scan = READ_ONCE(policy_kloc_scans);

	if (aged->scan == scan)
		return;
	aged->scan = scan;
	aged->futile = 0;
	aged->is_over = false;
}

/* Find contexts that were unused for some scans, in one pass a scan. */
static bool policy_kloc_find_aged(struct tiering_node *tn, struct policy_kloc_aged *aged)
{
	unsigned int steps = POLICY_KLOC_STEPS * KNODE_LIST_LOOK / POLICY_KLOC_FOUND;

	aged->next = 0;
	aged->count = 0;
	for (; !aged->count && !aged->is_over && steps; steps--) {
		aged->count = knode_pass_find_aged(&aged->pass, tn->index,
						   POLICY_KLOC_AGED, aged->found,
						   POLICY_KLOC_FOUND);
		aged->is_over = knode_pass_is_over(&aged->pass);
	}
	return aged->count;
}

/* Begin a walk over the next context that was unused for some scans. */
static bool policy_kloc_begin_aged(struct tiering_node *tn, struct policy_kloc_aged *aged)
{
	struct knode *knode;

	while (aged->futile < POLICY_KLOC_FUTILE &&
	       (aged->next < aged->count || policy_kloc_find_aged(tn, aged))) {
		knode = aged->found[aged->next++];
		/* The context may have been used since it was found. */
		if (READ_ONCE(knode->age) >= POLICY_KLOC_AGED &&
		    knode_fast(knode, tn->index)) {
			policy_kloc_begin(tn, &aged->walk, knode);
			return true;
		}
		knode_put(knode);
	}
	return false;
}

/* Take unused pages of contexts that were unused for some scans (4.3). */
static long policy_kloc_take_unused(struct tiering_node *tn, struct tiering_batch *b)
{
	struct policy_kloc_node *node = tn->priv;
	struct policy_kloc_aged *aged = &node->aged;
	unsigned int tries;

	b->why = TIERING_DEMOTED_UNUSED;
	policy_kloc_begin_scan(aged);
	for (tries = POLICY_KLOC_TRIES; tries && !tiering_batch_full(b); tries--) {
		if (!aged->walk.knode && !policy_kloc_begin_aged(tn, aged))
			break;
		if (!policy_kloc_fits(b, aged->walk.knode))
			break;
		tiering_take_knode(tn, b, &aged->walk, policy_kloc_choose_unused);
		if (!aged->walk.done)
			break;
		aged->futile += !aged->walk.taken;
		policy_kloc_end(tn, &aged->walk);
	}
	b->more |= !tries;
	return b->pages;
}

/**
 * policy_kloc_make_room() - demote inactive contexts, then unused pages of other
 * contexts
 * @tn: the node
 * @b: the batch
 * @want: pages that are missing
 *
 * Return: pages in @b.
 */
long policy_kloc_make_room(struct tiering_node *tn, struct tiering_batch *b,
			   long want)
{
	struct policy_kloc_node *node = tn->priv;
	long pages;

	b->why = TIERING_DEMOTED_INACTIVE;
	pages = policy_kloc_take_for_room(tn, b, get_LRU_knodes);
	if (!pages && policy_kloc_collect(node))
		pages = policy_kloc_take_for_room(tn, b, get_LRU_knodes);
	if (!pages)
		pages = policy_kloc_take_unused(tn, b);
	/* Finish the passes before kswapd reclaims the LRU lists. */
	if (!knode_pass_is_over(&node->cold_pass) ||
	    (!node->aged.is_over && node->aged.futile < POLICY_KLOC_FUTILE))
		b->more = true;
	return pages;
}

static struct knode *policy_kloc_next_queued(struct policy_kloc_node *node)
{
	struct knode *knode = NULL;

	spin_lock(&node->lock);
	if (node->count) {
		/* The context that became active last. */
		knode = node->queue[--node->count];
		clear_bit(KNODE_QUEUED, &knode->flags);
	}
	spin_unlock(&node->lock);
	return knode;
}

/* End a walk over the pages of a context in slow memory. */
static void policy_kloc_end_promote(struct tiering_walk *walk)
{
	if (!walk->knode)
		return;
	if (!walk->done || walk->left)
		set_bit(KNODE_SLOW, &walk->knode->flags);
	knode_put(walk->knode);
	walk->knode = NULL;
}

/* Take the pages in slow memory of contexts that have become active. */
static void policy_kloc_take_active(struct tiering_node *tn,
				    struct tiering_batch *b, long room)
{
	struct policy_kloc_node *node = tn->priv;
	struct tiering_walk *walk = &node->promote;

	b->why = TIERING_PROMOTED_ACTIVE;
	while (!tiering_batch_full(b)) {
		if (!walk->knode) {
			*walk = (struct tiering_walk) {
				.knode = policy_kloc_next_queued(node),
				.nid = NUMA_NO_NODE,
			};
			if (!walk->knode)
				return;
			tiering_slabs_come(tn, walk->knode);
			clear_bit(KNODE_SLOW, &walk->knode->flags);
			/* Before the walk, see knode_note_pages(). */
			smp_mb__after_atomic();
			walk->left = kloc_pages(walk->knode) > room - b->pages;
			walk->done = walk->left;
		}
		if (!walk->done && knode_inuse(walk->knode))
			tiering_take_knode(tn, b, walk, NULL);
		if (!walk->done && tiering_batch_full(b))
			return;
		policy_kloc_end_promote(walk);
	}
}

/**
 * policy_kloc_fill_promote() - promote active contexts, then single pages (4.4)
 * @tn: the node
 * @b: the batch
 * @room: pages that may be promoted
 *
 * Return: pages in @b.
 */
long policy_kloc_fill_promote(struct tiering_node *tn, struct tiering_batch *b,
			      long room)
{
	policy_kloc_take_active(tn, b, room);
	if (!b->pages) {
		b->why = TIERING_PROMOTED_USED;
		tiering_take_hot(tn, b);
	}
	return b->pages;
}

/**
 * policy_kloc_waits() - test whether a context waits for its promotion
 * @tn: the node
 *
 * Return: true if one does.
 */
bool policy_kloc_waits(struct tiering_node *tn)
{
	const struct policy_kloc_node *node = tn->priv;

	return READ_ONCE(node->count) || node->promote.knode;
}

/**
 * policy_kloc_exit_node() - release the contexts that are held for a node
 * @tn: the node
 *
 * The contexts go back to their lists and notes: after hotplug they can move again.
 */
void policy_kloc_exit_node(struct tiering_node *tn)
{
	struct policy_kloc_node *node = tn->priv;
	struct policy_kloc_aged *aged = &node->aged;
	struct knode *knode;

	policy_kloc_end(tn, &node->demote);
	policy_kloc_end(tn, &node->room);
	policy_kloc_end(tn, &aged->walk);
	while (aged->next < aged->count)
		knode_put(aged->found[aged->next++]);
	policy_kloc_end_promote(&node->promote);
	while ((knode = policy_kloc_next_queued(node)))
		knode_put(knode);
	kfree(node);
}

TIERING_NUMBER(inactive_age, policy_kloc_inactive_age, 1, 1, U8_MAX);

TIERING_NUMBER(slab_groups, policy_kloc_slab_groups, 1, POLICY_KLOC_MIXED,
	       POLICY_KLOC_FAR);

static ssize_t promote_uses_show(struct kobject *kobj, struct kobj_attribute *attr,
				 char *buf)
{
	return sysfs_emit(buf, "%u\n", READ_ONCE(policy_kloc_promote_uses.value));
}

static struct kobj_attribute promote_uses_attr = __ATTR_RO(promote_uses);

static ssize_t demote_age_show(struct kobject *kobj, struct kobj_attribute *attr,
			       char *buf)
{
	return sysfs_emit(buf, "%u\n", READ_ONCE(policy_kloc_demote_age.value));
}

static struct kobj_attribute demote_age_attr = __ATTR_RO(demote_age);

static struct attribute *policy_kloc_attrs[] = {
	&inactive_age_number.attr.attr,
	&slab_groups_number.attr.attr,
	&promote_uses_attr.attr,
	&demote_age_attr.attr,
	NULL,
};

static const struct attribute_group policy_kloc_attr_group = {
	.attrs = policy_kloc_attrs,
};

static struct tiering_policy policy_kloc = {
	.name		= "kloc",
	.needs		= POLICY_KLOC_NEEDS | TIERING_ROOM | TIERING_SLABS,
	.attrs		= &policy_kloc_attr_group,
	.place		= policy_kloc_place,
	.fill_demote	= policy_kloc_fill_demote,
	.make_room	= policy_kloc_make_room,
	POLICY_KLOC_OPERATIONS,
	POLICY_KLOC_SLAB_OPERATIONS,
};

static int __init policy_kloc_init(void)
{
	return tiering_register(&policy_kloc);
}
late_initcall(policy_kloc_init);
