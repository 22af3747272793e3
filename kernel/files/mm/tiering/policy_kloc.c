// SPDX-License-Identifier: GPL-2.0
/*
 * The policy kloc: the context of a file says where its pages are.
 *
 * After Kannan, Ren and Bhattacharjee, "KLOCs: Kernel-Level Object Contexts for
 * Heterogeneous Memory Systems", ASPLOS 2021; section numbers are that paper's. Its
 * rules are:
 *
 * - New pages of a context in use go to fast memory, those of others to slow memory
 *   (4.4). Application pages come first: page cache leaves room for them (4.2.2).
 * - A context is in use while its file is open and is used. It gets a scan older with
 *   each scan that passes over it, and use makes it young again (4.3).
 * - What is not in use, and was not used for some scans, leaves as a whole, the coldest
 *   first, without waiting until somebody needs the room (4.5).
 * - A context that is used again and again comes back as a whole, if it fits; a page of
 *   slow memory that is used in as many scans comes back alone (4.4).
 * - A page that has moved too often stays in fast memory (4.5; see migrate.c).
 * - Inodes and dentries leave and come back by pages, with their contexts or by use, if
 *   they can move (4.4; see policy_kloc_slab.c).
 *
 * While fast memory has room for all, nothing of this is done. One rule is not the
 * paper's: copies that were for nothing make that fewer are made, see
 * policy_kloc_copies.c.
 */
#include <linux/cpuset.h>
#include <linux/init.h>
#include <linux/kloc.h>
#include <linux/mm.h>
#include <linux/pagemap.h>
#include <linux/slab.h>
#include <linux/spinlock.h>
#include <linux/sysfs.h>
#include <linux/timekeeping.h>

#include "../kloc/kloc.h"
#include "policy_kloc.h"

/* Contexts that wait for their promotion, at most. */
#define POLICY_KLOC_QUEUE	128

/* Contexts that are tried to fill a batch: some have no pages by now. */
#define POLICY_KLOC_TRIES	64

/* Scans that a context in use was not used for before pages of it leave. */
#define POLICY_KLOC_AGED	2

/**
 * struct policy_kloc_node - what the policy keeps for a node
 * @demote: the context whose pages the daemon demotes
 * @room: the context whose pages kswapd demotes
 * @unused: the context in use of which it demotes what was not used
 * @settled: when those that are not in use became cold under pressure, ns
 * @idle: nothing of the kind was found in this scan
 * @promote: the context whose pages the daemon promotes
 * @lock: of @queue and @count
 * @queue: contexts that have become active and may have pages in slow memory, held
 * @count: how many there are
 */
struct policy_kloc_node {
	struct kloc_walk demote;
	struct kloc_walk room;
	struct kloc_walk unused;
	u64 settled;
	bool idle;
	struct kloc_walk promote;
	spinlock_t lock;	/* of queue and count */
	struct knode *queue[POLICY_KLOC_QUEUE];
	unsigned int count;
};

/* Scans after which a context is not in use, though its file is open; or cold. */
static unsigned long policy_kloc_inactive_age = 8;

/* In how many of the last eight scans is used what is promoted? */
static struct policy_kloc_copies policy_kloc_uses = {
	.first = TIERING_PROMOTED_ACTIVE,
	.last = TIERING_PROMOTED_USED,
	.least = 2,
	.most = 9,
};

/* Scans that a context was not used for before it leaves, for room at once. */
static struct policy_kloc_copies policy_kloc_rest = {
	.first = TIERING_DEMOTED_INACTIVE,
	.last = TIERING_DEMOTED_INACTIVE,
	.least = 2,
	.most = U8_MAX,
};

/* Scans since the policy was selected. */
static unsigned int policy_kloc_scans;

static void policy_kloc_forget(void)
{
	policy_kloc_copies_forget(&policy_kloc_uses);
	policy_kloc_copies_forget(&policy_kloc_rest);
	policy_kloc_slab_forget();
}

static int policy_kloc_select(void)
{
	policy_kloc_scans = 0;
	policy_kloc_forget();
	return 0;
}

static int policy_kloc_init_node(struct tiering_node *tn)
{
	struct policy_kloc_node *node = kzalloc_node(sizeof(*node), GFP_KERNEL,
						     tn->nid);

	tn->priv = node;
	if (node)
		spin_lock_init(&node->lock);
	return node ? 0 : -ENOMEM;
}

/**
 * policy_kloc_place_active() - where new pages of a context in use should go
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
	/* What was not asked for, and who takes no part, is as without a policy. */
	if (!alloc->knode)
		return TIERING_LOCAL;
	/* A kind that is excluded stays fast (7.3). */
	if (!kloc_takes_part(alloc->knode) || !tiering_is_short(tn->nid))
		return TIERING_TOP_FIRST;
	/* What will not be used again need not come. */
	if (alloc->stream || test_bit(KNODE_STREAM, &alloc->knode->flags))
		return TIERING_BOTTOM_FIRST;
	return tiering_may_fill(tn->nid) ? TIERING_TOP_FIRST :
					   TIERING_BOTTOM_FIRST;
}

/* New pages of what is in use go to fast memory, others to slow memory (4.4). */
static enum tiering_place policy_kloc_place(struct tiering_node *tn,
					    const struct tiering_alloc *alloc)
{
	if (alloc->knode && !knode_inuse(alloc->knode) &&
	    kloc_takes_part(alloc->knode) && tiering_is_short(tn->nid))
		return TIERING_BOTTOM_FIRST;
	return policy_kloc_place_active(tn, alloc);
}

/* What is used in enough scans is promoted. */
static bool policy_kloc_used(struct tiering_node *tn, struct folio *folio,
			     unsigned int history)
{
	const struct knode *knode;

	if (hweight_long(history) < READ_ONCE(policy_kloc_uses.value))
		return false;
	knode = kloc_knode_in(folio_mapping(folio));
	/* File systems hold most of what they use of block devices. */
	return knode && kloc_takes_part(knode) &&
	       !test_bit(KNODE_BLOCKDEV, &knode->flags);
}

/* A context that is used again may come back as a whole (4.4). */
static void policy_kloc_knode_active(struct tiering_node *tn, struct knode *knode)
{
	struct policy_kloc_node *node = tn->priv;
	bool many = false;

	if ((READ_ONCE(knode->flags) & (BIT(KNODE_SLOW) | BIT(KNODE_STREAM) |
					BIT(KNODE_QUEUED))) != BIT(KNODE_SLOW) ||
	    !kloc_takes_part(knode) ||
	    hweight8(READ_ONCE(knode->history)) < READ_ONCE(policy_kloc_uses.value) ||
	    !node_isset(tn->nid, cpuset_current_mems_allowed) ||
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
	/* Waking the daemon for each would cost more than is won. */
	if (many)
		tiering_wake(tn);
}

/* A scan is over: contexts get older (4.3). */
static void policy_kloc_period(struct tiering_node *tn)
{
	struct policy_kloc_node *node = tn->priv;
	unsigned int age = READ_ONCE(policy_kloc_inactive_age);

	WRITE_ONCE(node->idle, false);
	/* One daemon does it for all. */
	if (!READ_ONCE(tn->counts))
		return;
	knode_lists_age(age, max(age, policy_kloc_rest.value));
	if (++policy_kloc_scans % TIERING_SOON)
		return;
	/* What came to nothing until now may have been copied for another policy. */
	if (policy_kloc_scans == TIERING_SOON) {
		policy_kloc_forget();
		return;
	}
	policy_kloc_copies_adapt(&policy_kloc_uses);
	policy_kloc_copies_adapt(&policy_kloc_rest);
	policy_kloc_slab_adapt();
}

/* A walk over what a context has in fast memory is over, or given up. */
static void policy_kloc_end(struct tiering_node *tn, struct kloc_walk *walk)
{
	struct knode *knode = walk->knode;

	if (!knode)
		return;
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

/* Begin a walk over the next context. Return: false if there is none. */
static bool policy_kloc_begin(struct tiering_node *tn, struct kloc_walk *walk,
			      policy_kloc_next_t next)
{
	struct knode *knode;

	if (!next(tn->index, &knode, 1))
		return false;
	*walk = (struct kloc_walk) { .knode = knode, .nid = tn->nid };
	if (policy_kloc_slab_may_leave())
		tiering_slabs_leave(tn, knode);
	/* Before looking: what comes meanwhile sets it again. */
	rcu_read_lock();
	knode_set_fast(knode, tn->index, false);
	rcu_read_unlock();
	return true;
}

/* What was just written may be deleted soon, and then its copy was for nothing. */
static bool policy_kloc_choose_clean(struct tiering_node *tn, struct folio *folio)
{
	/* What is in memory alone is always dirty. */
	return !folio_test_dirty(folio) || folio_test_swapbacked(folio);
}

/* The same, if it was not used for as long as is noted. */
static bool policy_kloc_choose_unused(struct tiering_node *tn, struct folio *folio)
{
	return policy_kloc_choose_clean(tn, folio) &&
	       !tiering_page_history(folio) &&
	       !(folio_mapped(folio) && tiering_was_referenced(folio));
}

/*
 * Take what contexts have on a node, one after another. @walk is where to go on, and
 * @next takes the next context when the walk over the last one is over.
 */
static long policy_kloc_take(struct tiering_node *tn, struct tiering_batch *b,
			     struct kloc_walk *walk, policy_kloc_next_t next)
{
	unsigned int tries;

	for (tries = POLICY_KLOC_TRIES; tries && !tiering_batch_full(b); tries--) {
		if (!walk->knode && !policy_kloc_begin(tn, walk, next))
			break;
		/* It may have been used again. */
		if (next == get_LRU_knodes && knode_inuse(walk->knode)) {
			policy_kloc_end(tn, walk);
			continue;
		}
		tiering_take_knode(tn, b, walk, policy_kloc_choose_clean);
		if (walk->done)
			policy_kloc_end(tn, walk);
	}
	return b->pages;
}

/**
 * policy_kloc_take_for_room() - take what contexts have on a node, for kswapd
 * @tn: the node
 * @b: the batch
 * @next: takes the next context, when the walk over the last one is over
 *
 * Return: pages in @b.
 */
long policy_kloc_take_for_room(struct tiering_node *tn, struct tiering_batch *b,
			       policy_kloc_next_t next)
{
	struct policy_kloc_node *node = tn->priv;

	return policy_kloc_take(tn, b, &node->room, next);
}

/* What is not in use leaves while less than half of the rate is used (4.5). */
static long policy_kloc_fill_demote(struct tiering_node *tn,
				    struct tiering_batch *b, long want)
{
	struct policy_kloc_node *node = tn->priv;

	if (!tiering_is_short(tn->nid) || !tiering_in_background(tn))
		return 0;
	b->why = TIERING_DEMOTED_INACTIVE;
	return policy_kloc_take(tn, b, &node->demote, get_LRU_knodes);
}

/* Take what was not used of contexts in use that were not used for long (4.3). */
static long policy_kloc_take_unused(struct tiering_node *tn, struct tiering_batch *b)
{
	struct policy_kloc_node *node = tn->priv;
	struct kloc_walk *walk = &node->unused;
	struct knode *knode;

	b->why = TIERING_DEMOTED_UNUSED;
	if (!walk->knode) {
		if (READ_ONCE(node->idle) ||
		    !knode_get_aged(tn->index, POLICY_KLOC_AGED, &knode, 1))
			return 0;
		*walk = (struct kloc_walk) { .knode = knode, .nid = tn->nid };
	}
	tiering_take_knode(tn, b, walk, policy_kloc_choose_unused);
	if (walk->done) {
		knode_put(walk->knode);
		walk->knode = NULL;
	}
	/* It is the oldest still: to look at it again now is of no use. */
	if (!b->pages)
		WRITE_ONCE(node->idle, true);
	return b->pages;
}

/* Under pressure first what is not in use leaves, and then what is and is not used. */
static long policy_kloc_make_room(struct tiering_node *tn,
				  struct tiering_batch *b, long want)
{
	struct policy_kloc_node *node = tn->priv;
	u64 now = ktime_get_mono_fast_ns();
	long pages;

	b->why = TIERING_DEMOTED_INACTIVE;
	pages = policy_kloc_take_for_room(tn, b, get_LRU_knodes);
	/* Not only what is cold; but to look at all lists takes long. */
	if (!pages && now - node->settled > tiering_scan_ns() / 8) {
		node->settled = now;
		knode_lists_settle(READ_ONCE(policy_kloc_rest.value));
		pages = policy_kloc_take_for_room(tn, b, get_LRU_knodes);
	}
	return pages ?: policy_kloc_take_unused(tn, b);
}

static struct knode *policy_kloc_next_queued(struct policy_kloc_node *node)
{
	struct knode *knode = NULL;

	spin_lock(&node->lock);
	if (node->count) {
		/* The one that was used last. */
		knode = node->queue[--node->count];
		clear_bit(KNODE_QUEUED, &knode->flags);
	}
	spin_unlock(&node->lock);
	return knode;
}

/* A walk over what a context has in slow memory is over, or given up. */
static void policy_kloc_end_promote(struct kloc_walk *walk)
{
	if (!walk->knode)
		return;
	if (!walk->done || walk->left)
		set_bit(KNODE_SLOW, &walk->knode->flags);
	knode_put(walk->knode);
	walk->knode = NULL;
}

/* Take what contexts that have become active have in slow memory. */
static void policy_kloc_take_active(struct tiering_node *tn,
				    struct tiering_batch *b, long room)
{
	struct policy_kloc_node *node = tn->priv;
	struct kloc_walk *walk = &node->promote;

	b->why = TIERING_PROMOTED_ACTIVE;
	while (!tiering_batch_full(b)) {
		if (!walk->knode) {
			*walk = (struct kloc_walk) {
				.knode = policy_kloc_next_queued(node),
				.nid = NUMA_NO_NODE,
			};
			if (!walk->knode)
				return;
			tiering_slabs_come(tn, walk->knode);
			clear_bit(KNODE_SLOW, &walk->knode->flags);
			/* Before looking, see knode_note_pages(). */
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

/* Contexts first, then single pages (4.4). */
static long policy_kloc_fill_promote(struct tiering_node *tn,
				     struct tiering_batch *b, long room)
{
	policy_kloc_take_active(tn, b, room);
	if (!b->pages) {
		b->why = TIERING_PROMOTED_USED;
		tiering_take_hot(tn, b, room);
	}
	return b->pages;
}

/* Contexts may stay, if it is memory that goes: they can leave and come back again. */
static void policy_kloc_exit_node(struct tiering_node *tn)
{
	struct policy_kloc_node *node = tn->priv;
	struct knode *knode;

	policy_kloc_end(tn, &node->demote);
	policy_kloc_end(tn, &node->room);
	policy_kloc_end(tn, &node->unused);
	policy_kloc_end_promote(&node->promote);
	while ((knode = policy_kloc_next_queued(node)))
		knode_put(knode);
	kfree(node);
}

TIERING_NUMBER(inactive_age, policy_kloc_inactive_age, 1, 1, U8_MAX);

TIERING_NUMBER(slab_groups, policy_kloc_slab_groups, 1, POLICY_KLOC_MIXED,
	       POLICY_KLOC_FAR);

static struct attribute *policy_kloc_attrs[] = {
	&inactive_age_number.attr.attr,
	&slab_groups_number.attr.attr,
	NULL,
};

static const struct attribute_group policy_kloc_attr_group = {
	.attrs = policy_kloc_attrs,
};

struct tiering_policy policy_kloc = {
	.name		= "kloc",
	.needs		= TIERING_FILES | TIERING_USES | TIERING_MOVES |
			  TIERING_KNODES | TIERING_ROOM | TIERING_SLABS |
			  TIERING_TABLES,
	.attrs		= &policy_kloc_attr_group,
	.init		= policy_kloc_select,
	.init_node	= policy_kloc_init_node,
	.exit_node	= policy_kloc_exit_node,
	.place		= policy_kloc_place,
	.used		= policy_kloc_used,
	.knode_active	= policy_kloc_knode_active,
	.period		= policy_kloc_period,
	.fill_demote	= policy_kloc_fill_demote,
	.fill_promote	= policy_kloc_fill_promote,
	.make_room	= policy_kloc_make_room,
	.slab_new_cold	= policy_kloc_slab_new_cold,
	.slab_cold	= policy_kloc_slab_cold,
	.slab_hot	= policy_kloc_slab_hot,
};

static int __init policy_kloc_init(void)
{
	return tiering_register(&policy_kloc);
}
late_initcall(policy_kloc_init);
