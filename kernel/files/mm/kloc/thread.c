// SPDX-License-Identifier: GPL-2.0
/*
 * Contexts of files: the thread of a fast node, which keeps room there.
 */
#include <linux/freezer.h>
#include <linux/gfp.h>
#include <linux/hrtimer.h>
#include <linux/kthread.h>
#include <linux/memory-tiers.h>
#include <linux/mm.h>
#include <linux/preempt.h>
#include <linux/rcupdate_wait.h>
#include <linux/swap.h>
#include <linux/timekeeping.h>

#include "../internal.h"
#include "kloc.h"

/* Contexts that are taken from the kmap at a time. */
#define KNODES		16

/* Scans that a context in use was not used for before it may leave as a whole. */
#define LAST_AGE	2

/*
 * Which pages are used is noted from the time on when this part of fast memory is
 * left, or so many times the reserve: some time before any have to leave.
 */
#define SHORT_PART	4
#define SHORT_RESERVES	4

/* How often a thread that is not woken looks whether there is room, in a scan. */
#define LOOKS		8

/* Scans after which half of what is known of promotions is forgotten. */
#define TRIAL_HALF_LIFE	16

/* This part of the reserve is promoted to see whether it pays, in a scan. */
#define EXPLORE		16

/* A context that is promoted because it is dense has no more of a node. */
#define MOST_DENSE	8

/* Pages that the hand looks at for each that has to leave, and at least. */
#define LOOKS_A_PAGE	8
#define LEAST_LOOKS	1024

/* Times that contexts are taken from it without a page being moved. */
#define ATTEMPTS	8

/* It is worth to go on looking if one page in so many is found to move. */
#define LEAST_FOUND	64

/* A thread that was idle may move as much as in this time at once, ns. */
#define BURST		(10ULL * NSEC_PER_MSEC)

/* No longer rest than that counts, ns. */
#define MOST_REST	(1ULL * NSEC_PER_SEC)

/* Is there nothing more to do? */
typedef bool (*done_fn)(struct kloc_node *node);

/* Should this folio move? */
typedef bool (*choose_fn)(struct kloc_node *node, struct folio *folio);

/**
 * struct round - contexts that were tried in turn, and had nothing to move
 * @first: number of the first of them, 0 if there is none
 * @over: all were tried
 */
struct round {
	unsigned long first;
	bool over;
};

/* Called for a context. */
typedef void (*visit_fn)(struct kloc_node *node, struct knode *knode);

/**
 * kloc_wake() - tell a node's thread that there is something to do
 * @node: the node
 */
void kloc_wake(struct kloc_node *node)
{
	if (READ_ONCE(node->woken) || READ_ONCE(node->spent) ||
	    kloc_settings.mode == KLOC_NOMIGRATE)
		return;
	WRITE_ONCE(node->woken, true);
	wake_up(&node->wait);
}

/* May pages be promoted only to see whether that pays? */
static bool explore(struct kloc_node *node, unsigned int pages)
{
	return atomic_read(&node->explore) > 0 &&
	       atomic_sub_return(pages, &node->explore) >= 0;
}

/*
 * Pages are promoted: what will they have been good for? They are counted as soon
 * as they are queued, or many would follow before the first of them are used.
 */
static void count_trial(struct kloc_trial *trial, int pages)
{
	atomic_add(pages, &trial->pages);
}

/*
 * Should pages be promoted for a reason? A few are, even if that does not pay,
 * to see whether it pays by now.
 */
static bool promotion_pays(struct kloc_node *node, unsigned int reason,
			   unsigned int pages)
{
	return kloc_trial_pays(&node->trials[reason]) || explore(node, pages);
}

static unsigned long pages_of(const struct knode *knode)
{
	struct inode *inode = knode_dereference(knode->inode);

	return inode ? READ_ONCE(inode->i_mapping->nrpages) : 0;
}

/* Is it worth to promote all that a context has? */
static bool pays_whole(struct kloc_node *node, const struct knode *knode,
		       unsigned long pages, unsigned int reason)
{
	unsigned long most = kloc_settings.promote_pages;

	if (reason == KLOC_TRIAL_WHOLE &&
	    READ_ONCE(knode->heat) < kloc_settings.promote_heat)
		return false;
	if (reason == KLOC_TRIAL_DENSE)
		most = node_present_pages(node->nid) / MOST_DENSE;
	return pages <= most && !test_bit(KNODE_STREAM, &knode->flags) &&
	       promotion_pays(node, reason, pages);
}

static bool enqueue(struct kloc_node *node, struct knode *knode,
		    unsigned int pages, unsigned int reason)
{
	bool many;

	spin_lock(&node->lock);
	if (node->count < KLOC_QUEUE && knode_tryget(knode)) {
		node->queue[(node->head + node->count++) % KLOC_QUEUE] =
			(struct kloc_queued) { knode, pages, reason };
		count_trial(&node->trials[reason], pages);
	} else {
		clear_bit(KNODE_QUEUED, &knode->flags);
	}
	many = node->count > KLOC_QUEUE / 8;
	spin_unlock(&node->lock);
	return many;
}

/* The fast node of a CPU, which may be gone, and have no node any more. */
static struct kloc_node *near_cpu(unsigned int cpu)
{
	int nid = cpu_to_node(cpu);

	return nid == NUMA_NO_NODE ? NULL : READ_ONCE(kloc_near[nid]);
}

/**
 * kloc_queue_promotion() - should a context move?
 * @knode: the context
 * @reason: it may have to
 *
 * Context: RCU read-side critical section.
 */
void kloc_queue_promotion(struct knode *knode, unsigned int reason)
{
	struct kloc_node *node = near_cpu(find_cpu(knode));
	unsigned long pages;

	if (!test_bit(KNODE_SLOW, &knode->flags) ||
	    test_bit(KNODE_QUEUED, &knode->flags) || !node || !kloc_moves())
		return;
	pages = pages_of(knode);
	if (!pays_whole(node, knode, pages, reason)) {
		kloc_count(KLOC_NOT_PAYING, knode, pages);
		return;
	}
	if (test_and_set_bit(KNODE_QUEUED, &knode->flags))
		return;
	/* Waking the thread for each would cost more than is won. */
	if (enqueue(node, knode, pages, reason))
		kloc_wake(node);
}

/**
 * kloc_promoted_used() - a page is used that was promoted
 * @node: where it is
 * @folio: the folio, which the caller has a reference to
 * @trial: the reason for which it was promoted
 *
 * Context: RCU read-side critical section.
 */
void kloc_promoted_used(struct kloc_node *node, struct folio *folio,
			unsigned int trial)
{
	unsigned int pages = folio_nr_pages(folio);
	struct knode *knode;

	kloc_trial_use(&node->trials[trial], pages);
	if (trial >= KLOC_LEVELS)
		return;
	knode = kloc_knode_in(folio_mapping(folio));
	if (knode && !test_bit(KNODE_DIRECTORY, &knode->flags))
		kloc_trial_use(&knode->trial, pages);
}

/**
 * kloc_queue_used() - a folio of slow memory is used: does it have to move?
 * @node: fast node that it may move to
 * @folio: the folio, which the caller has a reference to
 * @level: of the folio
 *
 * The thread is not woken for it, unless there are many.
 *
 * Context: RCU read-side critical section.
 */
void kloc_queue_used(struct kloc_node *node, struct folio *folio,
		     unsigned int level)
{
	unsigned int pages = folio_nr_pages(folio);
	struct knode *knode;
	bool many;

	if (level < READ_ONCE(node->promoted_level))
		return;
	knode = kloc_knode_in(folio_mapping(folio));
	if (!knode || test_bit(KNODE_DIRECTORY, &knode->flags))
		return;
	/* What pays in one context need not pay in another. */
	if (!kloc_trial_pays(&knode->trial) ||
	    !promotion_pays(node, level, pages)) {
		kloc_count(KLOC_NOT_PAYING, knode, pages);
		return;
	}
	/* It will be used again, if it has to move. */
	if (!spin_trylock(&node->lock))
		return;
	if (node->used_count < KLOC_USED && folio_try_get(folio)) {
		node->used[node->used_count++] = (struct kloc_used) {
			.folio = folio,
			.level = level,
		};
		count_trial(&knode->trial, pages);
		count_trial(&node->trials[level], pages);
	}
	many = node->used_count > KLOC_USED / 2;
	spin_unlock(&node->lock);
	if (many)
		kloc_wake(node);
}

/* Take some of the folios that were used, those that were used last. */
static unsigned int take_used(struct kloc_node *node, struct kloc_used *used)
{
	unsigned int count;

	spin_lock(&node->lock);
	count = min(node->used_count, KLOC_BATCH);
	node->used_count -= count;
	memcpy(used, node->used + node->used_count, count * sizeof(*used));
	spin_unlock(&node->lock);
	return count;
}

/* Take a context to promote. Return: false if there is none. */
static bool next_promotion(struct kloc_node *node, struct kloc_queued *next)
{
	bool found;

	spin_lock(&node->lock);
	found = node->count;
	if (found) {
		*next = node->queue[node->head];
		node->head = (node->head + 1) % KLOC_QUEUE;
		node->count--;
		clear_bit(KNODE_QUEUED, &next->knode->flags);
	}
	spin_unlock(&node->lock);
	return found;
}

/* End what next_promotion() began; so many pages were promoted. */
static void end_promotion(struct kloc_node *node, struct kloc_queued *queued,
			  unsigned int moved)
{
	count_trial(&node->trials[queued->reason], (int)(moved - queued->pages));
	knode_put(queued->knode);
}

/* May pages be moved now, or have enough been of late? */
static bool within_rate(struct kloc_node *node)
{
	u64 now = ktime_get_mono_fast_ns();
	u64 since = min(now - node->refilled, MOST_REST);
	u64 rate = READ_ONCE(kloc_settings.rate);
	s64 most = mul_u64_u64_div_u64(rate, BURST, NSEC_PER_SEC);
	s64 more = mul_u64_u64_div_u64(rate, since, NSEC_PER_SEC);

	node->refilled = now;
	node->budget = rate ? min(node->budget + more, most) : 0;
	return !rate || node->budget > 0;
}

static long headroom(const struct kloc_node *node)
{
	/* What this CPU keeps for itself will be there for all, see below. */
	return kloc_limit_room(node->nid,
			       kloc_headroom(node->nid,
					     cpumask_of(raw_smp_processor_id())));
}

static bool has_room(struct kloc_node *node)
{
	return headroom(node) >= (long)kloc_settings.reserve;
}

static bool has_none(struct kloc_node *node)
{
	return headroom(node) < KLOC_BATCH;
}

static bool done_demoting(struct kloc_node *node)
{
	return has_room(node) || node->slow_full || !within_rate(node);
}

static bool done_promoting(struct kloc_node *node)
{
	return has_none(node) || !within_rate(node);
}

/* How many pages have to leave? */
static unsigned long missing(const struct kloc_node *node)
{
	return max((long)kloc_settings.reserve - headroom(node), 0);
}

/* Is the thread to end, or to wait while the system sleeps? */
static bool must_stop(void)
{
	return kthread_should_stop() || freezing(current);
}

/**
 * kloc_may_move() - may a node's thread go on to move pages?
 * @node: the node
 *
 * Context: may sleep.
 * Return: false if it has to stop, or has moved enough of late.
 */
bool kloc_may_move(struct kloc_node *node)
{
	cond_resched();
	return !must_stop() && within_rate(node);
}

static bool choose_all(struct kloc_node *node, struct folio *folio)
{
	return true;
}

/* Look at some more pages, and move those that @choose chooses. */
static unsigned long move_some(struct kloc_node *node, struct kloc_walk *walk,
			       enum kloc_event why, unsigned int trial,
			       choose_fn choose, bool *left)
{
	struct folio *folios[KLOC_BATCH];
	unsigned int i, count, chosen = 0;
	unsigned long moved, pages = 0;

	count = itr_knode_cache(walk, folios);
	for (i = 0; i < count; i++) {
		pages += folio_nr_pages(folios[i]);
		if (choose(node, folios[i]))
			folios[chosen++] = folios[i];
		else
			folio_put(folios[i]);
	}
	moved = kloc_move(node, walk, why, trial, folios, chosen);
	*left |= moved < pages;
	cond_resched();
	return moved;
}

/*
 * Go over the pages that a context has in slow memory, if they are promoted for
 * the reason @trial, or in fast, and move them, until it is done with it. Return:
 * pages that were moved.
 */
static unsigned long move_all(struct kloc_node *node, struct knode *knode,
			      enum kloc_event why, unsigned int trial,
			      done_fn done)
{
	int from = trial ? READ_ONCE(node->slow) : node->nid;
	struct kloc_walk walk = { .knode = knode, .nid = from };
	bool left = !kloc_has_kind(knode);
	unsigned long moved = 0;

	/* Slow memory may go at any time. */
	if (from == NUMA_NO_NODE)
		return 0;
	walk.done = left;
	while (!walk.done && !must_stop() && !done(node))
		moved += move_some(node, &walk, why, trial, choose_all, &left);
	if (!walk.done || left || walk.others)
		kloc_note_pages(knode, from);
	return moved;
}

/* Call @visit for each context that is in use. */
static void visit_active(struct kloc_node *node, visit_fn visit)
{
	struct knode *knode;
	unsigned long id;

	rcu_read_lock();
	xa_for_each_marked(&kloc_kmap.knodes, id, knode, KMAP_ACTIVE) {
		if (!knode_inuse(knode) || !knode_tryget(knode))
			continue;
		rcu_read_unlock();
		visit(node, knode);
		knode_put(knode);
		cond_resched();
		rcu_read_lock();
	}
	rcu_read_unlock();
}

static u64 scan_ns(void)
{
	return (u64)READ_ONCE(kloc_settings.scan_us) * NSEC_PER_USEC;
}

static void forget_trial(struct kloc_node *node, struct knode *knode)
{
	if (!test_bit(KNODE_DIRECTORY, &knode->flags))
		kloc_trial_forget(&knode->trial);
}

/* What is known of promotions gets old. */
static void review_trials(struct kloc_node *node)
{
	unsigned int i;

	atomic_set(&node->explore, kloc_settings.reserve / EXPLORE);
	if (++node->scans % TRIAL_HALF_LIFE)
		return;
	for (i = 1; i < KLOC_TRIALS; i++)
		kloc_trial_forget(&node->trials[i]);
	if (node->ages)
		visit_active(node, forget_trial);
}

static void look_at_use(struct kloc_node *node, struct knode *knode)
{
	unsigned long uses;

	if (test_bit(KNODE_DIRECTORY, &knode->flags))
		return;
	rcu_read_lock();
	uses = kloc_stream_scan(&knode->stream, pages_of(knode));
	if (kloc_is_dense(uses))
		kloc_queue_promotion(knode, KLOC_TRIAL_DENSE);
	rcu_read_unlock();
}

/* One scan over all contexts that are in use. */
static void scan(struct kloc_node *node)
{
	unsigned int level;

	review_trials(node);
	if (node->ages) {
		kloc_pages_set_tick(kloc_settings.scan_us / LOOKS);
		if (kloc_settings.mode != KLOC_ALLACTIVE)
			kmap_age(&kloc_kmap, kloc_settings.inactive_age);
		visit_active(node, look_at_use);
	}

	/* What is not in use makes room for all who are. */
	level = list_empty(&kloc_kmap.cold) ?
		kloc_demotion_level(node->levels) + 1 : 1;
	WRITE_ONCE(node->promoted_level, level);
	for (level = 0; level < KLOC_LEVELS; level++)
		node->levels[level] /= 2;
}

/* The context that a folio belongs to, held; NULL if it takes no part. */
static struct knode *knode_of(struct folio *folio, struct kloc_walk *walk)
{
	struct knode *knode;

	/* The lock keeps the folio in its mapping, and that its inode. */
	if (!folio_trylock(folio))
		return NULL;
	rcu_read_lock();
	walk->mapping = folio_mapping(folio);
	knode = kloc_knode_in(walk->mapping);
	if (knode && (!kloc_has_kind(knode) || !knode_tryget(knode)))
		knode = NULL;
	rcu_read_unlock();
	folio_unlock(folio);
	return knode;
}

static bool is_slow(const struct kloc_node *node, const struct folio *folio)
{
	const struct kloc_node *near = READ_ONCE(kloc_near[folio_nid(folio)]);

	return near && near->nid != folio_nid(folio);
}

/*
 * Free pages that this CPU keeps for itself, up to an eighth of a zone, do not
 * count where watermarks are looked at: with many of them, who does not ask for
 * fast memory first is sent to slow memory.
 */
static void gather_free(void)
{
	migrate_disable();
	drain_local_pages(NULL);
	migrate_enable();
}

static unsigned long demote_whole(struct kloc_node *node, struct knode *knode,
				  enum kloc_event why)
{
	unsigned long moved;

	/* Before looking: what comes meanwhile sets it again. */
	kmap_set_fast(&kloc_kmap, knode, false);
	moved = move_all(node, knode, why, 0, done_demoting);
	/* A large one goes on to leave when there is too little room again. */
	if (has_room(node) || node->slow_full)
		kmap_set_coldest(&kloc_kmap, knode);
	return moved;
}

/* May a context be demoted as a whole, for that reason? */
static bool may_demote(const struct knode *knode, enum kloc_event why)
{
	if (test_bit(KNODE_SYSTEM, &knode->flags))
		return false;
	if (kloc_settings.mode == KLOC_RANDOM)
		return true;
	if (why == KLOC_DEMOTED_LAST)
		return READ_ONCE(knode->age) >= LAST_AGE;
	return !knode_inuse(knode);
}

/*
 * Demote a context as a whole. Those that have nothing to move come after all
 * others again: when the first of them does so all were tried.
 */
static unsigned long try_to_demote(struct kloc_node *node, struct knode *knode,
				   enum kloc_event why, struct round *round)
{
	unsigned long moved = demote_whole(node, knode, why);

	if (moved)
		round->first = 0;
	else if (!round->first && test_bit(KNODE_FAST, &knode->flags))
		round->first = knode->id;
	return moved;
}

/*
 * Demote some of the coldest contexts, until the round is over. Return: pages
 * that were moved.
 */
static unsigned long demote_coldest(struct kloc_node *node, enum kloc_event why,
				    struct round *round)
{
	struct knode *knodes[KNODES];
	unsigned long moved = 0;
	unsigned int i, count;

	count = kloc_settings.mode == KLOC_RANDOM ?
		kmap_get_random(&kloc_kmap, knodes, KNODES) :
		get_LRU_knodes(&kloc_kmap, knodes, KNODES);
	for (i = 0; i < count; i++) {
		round->over |= round->first == knodes[i]->id;
		if (may_demote(knodes[i], why) && !round->over &&
		    !has_room(node) && !node->slow_full && kloc_may_move(node))
			moved += try_to_demote(node, knodes[i], why, round);
		knode_put(knodes[i]);
	}
	return moved;
}

/* What is mapped is used without anybody being told. */
static void look_at_mapped(struct folio *folio)
{
	if (folio_mapped(folio) && kloc_was_referenced(folio))
		kloc_page_use(folio);
}

static bool choose_unused(struct kloc_node *node, struct folio *folio)
{
	unsigned int level;

	look_at_mapped(folio);
	level = kloc_page_level_of(folio);
	node->levels[level] += folio_nr_pages(folio);
	return level <= node->demoted_level;
}

/* Turn the hand over the pages of one context. */
static unsigned long turn_hand(struct kloc_node *node, struct knode *knode)
{
	struct kloc_walk walk = {
		.knode = knode,
		.nid = node->nid,
		.index = node->hand_index,
		.done = !kloc_has_kind(knode),
	};
	unsigned long looked_at = 0, moved = 0;
	bool left = walk.index || walk.done;

	/* Before looking: what comes meanwhile sets it again. */
	if (!left)
		kmap_set_fast(&kloc_kmap, knode, false);
	while (!walk.done && node->looks > 0 && !done_demoting(node) &&
	       !must_stop()) {
		moved += move_some(node, &walk, KLOC_DEMOTED_UNUSED, 0,
				   choose_unused, &left);
		node->looks -= walk.looked_at - looked_at;
		looked_at = walk.looked_at;
	}
	if (!walk.done || left || walk.others)
		kloc_note_pages(knode, node->nid);
	node->hand_index = walk.done ? 0 : walk.index;
	return moved;
}

/* The context that the hand is at, held; NULL at the end of the kmap. */
static struct knode *at_hand(struct kloc_node *node)
{
	unsigned long id = node->hand_id;
	struct knode *knode;

	rcu_read_lock();
	do {
		knode = xa_find(&kloc_kmap.knodes, &id, ULONG_MAX, KMAP_ACTIVE);
		if (!knode || (knode_inuse(knode) &&
			       test_bit(KNODE_FAST, &knode->flags) &&
			       knode_tryget(knode)))
			break;
		id++;
		/* There may be many that have none. */
		cond_resched_rcu();
	} while (true);
	rcu_read_unlock();

	if (id != node->hand_id || !knode)
		node->hand_index = 0;
	node->hand_id = knode ? id : 0;
	return knode;
}

/*
 * Demote the pages that are used least of the contexts in use: a hand goes round
 * over all of them, and goes on where it was the last time. It looks at no more
 * than it takes to find enough, if they are as they were of late.
 *
 * Return: whether enough of them were found for it to be worth.
 */
static bool demote_unused(struct kloc_node *node)
{
	long looks = LOOKS_A_PAGE * missing(node) + LEAST_LOOKS;
	unsigned long moved = 0;
	bool round = false;
	struct knode *knode;

	node->looks = looks;
	node->demoted_level = kloc_demotion_level(node->levels);
	while (node->looks > 0 && !done_demoting(node) && !must_stop()) {
		knode = at_hand(node);
		if (!knode && round)
			break;
		round |= !knode;
		if (!knode)
			continue;
		moved += turn_hand(node, knode);
		if (!node->hand_index)
			node->hand_id++;
		knode_put(knode);
	}
	return moved && moved * LEAST_FOUND >= looks - node->looks;
}

/* Let kswapd demote what belongs to applications. */
static void wake_kswapd(int nid)
{
	int i;

	for (i = 0; i < MAX_NR_ZONES; i++) {
		struct zone *zone = &NODE_DATA(nid)->node_zones[i];

		if (managed_zone(zone))
			wakeup_kswapd(zone, GFP_HIGHUSER_MOVABLE, 0,
				      ZONE_MOVABLE);
	}
}

/*
 * Make room in fast memory, if there is too little: first contexts that are not
 * in use leave, the coldest first, all pages of each; then pages that are used
 * least, of contexts that are. If that is not enough, applications' pages leave
 * if any are cold, and the contexts in use that were not used for longest.
 *
 * Return: false if there is too little and nothing more was found to move.
 */
static bool make_room(struct kloc_node *node)
{
	struct round round = { };
	unsigned int attempts;

	/* What is new is on no LRU list yet, and could not be moved. */
	if (!has_room(node))
		lru_add_drain();
	for (attempts = 0; attempts < ATTEMPTS && !round.over; attempts++) {
		if (has_room(node) || !kloc_may_move(node))
			return true;
		if (node->slow_full)
			return false;
		if (demote_coldest(node, KLOC_DEMOTED_INACTIVE, &round))
			attempts = 0;
	}

	if (demote_unused(node))
		return true;

	if (node->slow_full || headroom(node) > 0)
		return false;
	wake_kswapd(node->nid);
	round = (struct round) { };
	return demote_coldest(node, KLOC_DEMOTED_LAST, &round);
}

/* Make room, unless it was found a moment ago that there is nothing to move. */
static void try_room(struct kloc_node *node)
{
	u64 time = scan_ns();

	if (READ_ONCE(node->full) &&
	    ktime_get_mono_fast_ns() < node->full_until)
		return;
	WRITE_ONCE(node->full, !make_room(node));
	/* Slow memory's kswapd is at work already. */
	if (node->slow_full)
		time /= LOOKS;
	node->full_until = ktime_get_mono_fast_ns() + time;
}

/* Is there room for a promotion, or can it be made? */
static bool find_room(struct kloc_node *node)
{
	if (!has_none(node))
		return true;
	try_room(node);
	return !has_none(node);
}

static void promote_folio(struct kloc_node *node, struct kloc_used *used)
{
	struct folio *folio = used->folio;
	struct kloc_walk walk = { };
	struct knode *knode = is_slow(node, folio) ? knode_of(folio, &walk) : NULL;

	if (!knode) {
		folio_put(folio);
		return;
	}
	walk.knode = knode;
	kloc_move(node, &walk, KLOC_PROMOTED_USED, used->level, &folio, 1);
	knode_put(knode);
}

/* Promote folios that were used in slow memory, while there is room. */
static void promote_used(struct kloc_node *node)
{
	struct kloc_used used[KLOC_BATCH];
	unsigned int i, count;

	while (kloc_may_move(node) && (count = take_used(node, used))) {
		for (i = 0; i < count; i++)
			if (find_room(node))
				promote_folio(node, &used[i]);
			else
				folio_put(used[i].folio);
	}
}

static const enum kloc_event promoted[KLOC_TRIALS] = {
	[KLOC_TRIAL_WHOLE] = KLOC_PROMOTED_WHOLE,
	[KLOC_TRIAL_DENSE] = KLOC_PROMOTED_DENSE,
};

/* Return: pages that were promoted. */
static unsigned long promote_whole(struct kloc_node *node, struct knode *knode,
				   unsigned int reason)
{
	unsigned long moved, left, all = 0;

	rcu_read_lock();
	left = pages_of(knode);
	rcu_read_unlock();
	/* No more than it has: what is promoted may have to leave again. */
	while (left && test_bit(KNODE_SLOW, &knode->flags) &&
	       find_room(node) && kloc_may_move(node)) {
		/* Before looking: what comes meanwhile sets it again. */
		clear_bit(KNODE_SLOW, &knode->flags);
		/* See kloc_note_pages(). */
		smp_mb__after_atomic();
		moved = move_all(node, knode, promoted[reason], reason,
				 done_promoting);
		if (!moved)
			break;
		left -= min(left, moved);
		all += moved;
	}
	return all;
}

static void promote_queued(struct kloc_node *node)
{
	struct kloc_queued next;

	while (kloc_may_move(node) && next_promotion(node, &next))
		end_promotion(node, &next, promote_whole(node, next.knode,
							 next.reason));
}

/* Nothing is promoted any more: hold nothing. */
static void drop_queued(struct kloc_node *node)
{
	struct kloc_used used[KLOC_BATCH];
	struct kloc_queued next;
	unsigned int count;

	while (next_promotion(node, &next))
		end_promotion(node, &next, 0);
	while ((count = take_used(node, used)))
		while (count)
			folio_put(used[--count].folio);
}

/*
 * Will it matter before long which pages are used, or does it already? Until then
 * nobody has to note it.
 */
static bool is_short(const struct kloc_node *node)
{
	unsigned long most = max(node_present_pages(node->nid) / SHORT_PART,
				 SHORT_RESERVES * kloc_settings.reserve);
	int slow = READ_ONCE(node->slow);

	return READ_ONCE(kloc_kmap.count) &&
	       (headroom(node) < (long)most ||
		(slow != NUMA_NO_NODE &&
		 kloc_file_pages(slow) > kloc_settings.reserve));
}

/* How long to wait before looking for room again, ns. */
static u64 next_look(struct kloc_node *node)
{
	u64 now = ktime_get_mono_fast_ns(), most = scan_ns() / LOOKS;
	long room = headroom(node), taken = node->room - room;
	u64 since = now - node->looked;

	node->looked = now;
	node->room = room;
	/* Where there is nothing to move, to look sooner is of no use. */
	return node->full ? most : kloc_next_look(room, taken, since, most);
}

/*
 * Wait until something is to be done, or it is time for a scan, or to look:
 * nobody tells when applications take memory.
 */
static void wait(struct kloc_node *node, u64 until)
{
	s64 left = until - ktime_get_mono_fast_ns();

	if (left <= 0)
		return;
	left = min(left, next_look(node));
	if (node->spent)
		left = BURST;
	wait_event_interruptible_hrtimeout(node->wait,
					   kthread_should_stop() ||
					   READ_ONCE(node->woken),
					   ns_to_ktime(left));
	WRITE_ONCE(node->woken, false);
	WRITE_ONCE(node->spent, false);
}

static int kloc_thread(void *data)
{
	u64 next_scan = ktime_get_mono_fast_ns();
	struct kloc_node *node = data;

	/* Nothing moves while an image of memory is written, as with kswapd. */
	set_freezable();
	while (!kthread_freezable_should_stop(NULL)) {
		wait(node, next_scan);
		/* Nodes come and go. */
		WRITE_ONCE(node->slow, next_demotion_node(node->nid));
		if (ktime_get_mono_fast_ns() >= next_scan) {
			scan(node);
			next_scan = ktime_get_mono_fast_ns() + scan_ns();
		}
		node->slow_full = false;
		kloc_limit_look(node);
		if (!kloc_moves() || node->slow == NUMA_NO_NODE) {
			drop_queued(node);
			kloc_cap(node);
			continue;
		}
		if (!kloc_notes_pages() && is_short(node))
			kloc_note_uses();
		try_room(node);
		kloc_limit(node);
		promote_queued(node);
		promote_used(node);
		/* What is free has to be where those find it who do not ask. */
		if (kloc_headroom(node->nid, cpu_none_mask) <
		    (long)kloc_settings.reserve)
			gather_free();
		WRITE_ONCE(node->spent, !within_rate(node));
	}
	return 0;
}

/**
 * kloc_thread_start() - start the thread of a node
 * @node: the node
 *
 * Return: 0, or an error.
 */
int kloc_thread_start(struct kloc_node *node)
{
	struct task_struct *thread;

	thread = kthread_create_on_node(kloc_thread, node, node->nid,
					"klocd%d", node->nid);
	if (IS_ERR(thread))
		return PTR_ERR(thread);
	set_cpus_allowed_ptr(thread, cpumask_of_node(node->nid));
	node->thread = thread;
	wake_up_process(thread);
	return 0;
}

/**
 * kloc_thread_stop() - stop it, when nobody queues anything any more
 * @node: the node
 */
void kloc_thread_stop(struct kloc_node *node)
{
	if (!node->thread)
		return;
	kthread_stop(node->thread);
	drop_queued(node);
}
