// SPDX-License-Identifier: GPL-2.0
/*
 * The policy thermostat: as much anonymous memory is in slow memory as is possible
 * without a slowdown above a bound (Thermostat, ASPLOS 2017).
 *
 * A period has some rounds. In the first quarter, a random sample of the regions of fast
 * memory is watched whole: a region that is hot is known to be so, and stays a huge page.
 * The others are split; in the second quarter, the processor notes which of their pages
 * are accessed. In the second half, some of these are watched, for the rate of the region
 * (section 3.2). Then the coldest regions of the sample leave (section 3.4).
 *
 * Regions in slow memory are counted for ever. If they are visited too often together,
 * the hottest ones come back (section 3.5).
 *
 * The bound is a share of the processor time that was used. Visits of slow memory spend
 * it, and the faults that count visits do so, too.
 */
#include <linux/init.h>
#include <linux/kthread.h>
#include <linux/list.h>
#include <linux/list_sort.h>
#include <linux/math64.h>
#include <linux/minmax.h>
#include <linux/mm.h>
#include <linux/mutex.h>
#include <linux/sched.h>
#include <linux/slab.h>

#include "policy_thermostat.h"

/* The largest sample of a node in a period. */
#define POLICY_THERMOSTAT_SAMPLE	1024

/* Draws without a region after which a sample ends. */
#define POLICY_THERMOSTAT_MISSES	16

/* Times that a region is tried of which a part cannot come back. */
#define POLICY_THERMOSTAT_TRIES		16

/* The state of a region that was found in slow memory, and is not counted yet. */
#define POLICY_THERMOSTAT_FOUND		1

/*
 * A region that takes more than a part of its group's budget is hot without a closer look: as
 * many parts as the group has regions, and no more than this.
 */
#define POLICY_THERMOSTAT_HOT		50

/* Protects the list of nodes. */
DEFINE_MUTEX(policy_thermostat_mutex);
LIST_HEAD(policy_thermostat_nodes);

/* The number of nodes, among which the budget is divided. Changed under the mutex. */
static unsigned int policy_thermostat_count_nodes;

/**
 * policy_thermostat_lists() - get the lists of a node
 * @t: the node
 * @lists: filled in, in the order of the members
 */
void policy_thermostat_lists(struct policy_thermostat *t, struct list_head **lists)
{
	lists[0] = &t->sampled;
	lists[1] = &t->leaving;
	lists[2] = &t->cold;
	lists[3] = &t->back;
	lists[4] = &t->joining;
}

/**
 * policy_thermostat_init_node() - allocate the data of a node, the operation init_node
 * @tn: the node
 *
 * Return: 0, or -ENOMEM.
 */
int policy_thermostat_init_node(struct tiering_node *tn)
{
	struct policy_thermostat *t = kzalloc_node(sizeof(*t), GFP_KERNEL, tn->nid);
	struct list_head *lists[POLICY_THERMOSTAT_LISTS];
	int i;

	if (!t)
		return -ENOMEM;
	policy_thermostat_lists(t, lists);
	for (i = 0; i < POLICY_THERMOSTAT_LISTS; i++)
		INIT_LIST_HEAD(lists[i]);
	mutex_init(&t->lock);
	t->nid = tn->nid;
	policy_thermostat_groups_init(t);
	tn->priv = t;
	mutex_lock(&policy_thermostat_mutex);
	list_add_tail(&t->node, &policy_thermostat_nodes);
	WRITE_ONCE(policy_thermostat_count_nodes, policy_thermostat_count_nodes + 1);
	mutex_unlock(&policy_thermostat_mutex);
	return 0;
}

static void policy_thermostat_free(struct list_head *regions)
{
	struct tiering_region *region, *next;

	tiering_regions_open(regions);
	list_for_each_entry_safe(region, next, regions, list) {
		list_del(&region->list);
		tiering_region_free(region);
		cond_resched();
	}
}

/**
 * policy_thermostat_exit_node() - free the data of a node, the operation exit_node
 * @tn: the node
 */
void policy_thermostat_exit_node(struct tiering_node *tn)
{
	struct list_head *lists[POLICY_THERMOSTAT_LISTS];
	struct policy_thermostat *t = tn->priv;
	int i;

	mutex_lock(&policy_thermostat_mutex);
	list_del(&t->node);
	WRITE_ONCE(policy_thermostat_count_nodes, policy_thermostat_count_nodes - 1);
	mutex_unlock(&policy_thermostat_mutex);
	policy_thermostat_lists(t, lists);
	for (i = 0; i < POLICY_THERMOSTAT_LISTS; i++) {
		tiering_regions_stop(lists[i]);
		policy_thermostat_free(lists[i]);
	}
	policy_thermostat_groups_exit(t);
	kfree(t);
}

/* Order regions by address space, so that a round flushes each of them once. */
static int policy_thermostat_by_mm(void *priv, const struct list_head *a,
				   const struct list_head *b)
{
	const struct tiering_region *ra = list_entry(a, struct tiering_region, list);
	const struct tiering_region *rb = list_entry(b, struct tiering_region, list);

	cond_resched();
	return ra->at.mm > rb->at.mm;
}

/* Free the regions whose mapping is no more. */
static void policy_thermostat_drop_gone(struct policy_thermostat *t)
{
	struct list_head *lists[POLICY_THERMOSTAT_LISTS];
	struct tiering_region *region, *next;
	int i;

	policy_thermostat_lists(t, lists);
	for (i = 0; i < POLICY_THERMOSTAT_LISTS; i++) {
		list_for_each_entry_safe(region, next, lists[i], list) {
			cond_resched();
			if (!region->is_gone)
				continue;
			list_del(&region->list);
			tiering_region_free(region);
		}
	}
}

/* Test whether a region could not be opened, as its address space was busy. */
static bool policy_thermostat_is_watched(const struct tiering_region *region)
{
	return region->stage != TIERING_UNWATCHED && !region->is_gone;
}

/*
 * Free regions, or make them huge pages again if they were. Those that could not be opened
 * wait, too.
 */
static void policy_thermostat_release(struct policy_thermostat *t,
				      struct list_head *regions)
{
	struct tiering_region *region, *next;
	LIST_HEAD(done);

	tiering_regions_open(regions);
	list_for_each_entry_safe(region, next, regions, list) {
		region->state = 0;
		list_move_tail(&region->list,
			       region->is_split || policy_thermostat_is_watched(region) ?
			       &t->joining : &done);
	}
	policy_thermostat_free(&done);
}

/* Forget the regions that have waited for a period. */
static void policy_thermostat_drop_joining(struct policy_thermostat *t)
{
	struct tiering_region *region, *next;
	LIST_HEAD(done);

	list_for_each_entry_safe(region, next, &t->joining, list)
		if (region->state++)
			list_move_tail(&region->list, &done);
	policy_thermostat_free(&done);
}

/* Draw up to @want regions of a node into a list. Return: how many were found. */
static unsigned long policy_thermostat_draw(int nid, unsigned long want,
					    struct list_head *regions)
{
	unsigned long count = 0;
	unsigned int misses = 0;

	want = min(want, POLICY_THERMOSTAT_SAMPLE);
	while (count < want && misses < POLICY_THERMOSTAT_MISSES && !kthread_should_stop()) {
		struct tiering_region *region = tiering_region_sample(nid);

		cond_resched();
		if (!region) {
			misses++;
			continue;
		}
		misses = 0;
		list_add(&region->list, regions);
		count++;
	}
	return count;
}

static unsigned long policy_thermostat_share(unsigned long regions)
{
	return DIV_ROUND_UP(regions * READ_ONCE(policy_thermostat_settings.sample), 100);
}

/*
 * Draw a sample of a node of slow memory. Nothing is known of these regions: parts that are
 * in fast memory stay there until the visits have been counted.
 */
static void policy_thermostat_draw_node(struct policy_thermostat *t, int slow)
{
	struct tiering_region *region;
	LIST_HEAD(found);

	policy_thermostat_draw(slow, policy_thermostat_share(tiering_regions_of(slow)),
			       &found);
	list_for_each_entry(region, &found, list)
		region->state = POLICY_THERMOSTAT_FOUND;
	list_splice(&found, &t->cold);
}

/* Draw samples of all slow memory of which the node is the nearest one of fast memory. */
static void policy_thermostat_draw_slow(struct tiering_node *tn)
{
	bool is_near;
	int nid;

	for_each_node_state(nid, N_MEMORY) {
		rcu_read_lock();
		is_near = tiering_node_index(nid) == tn->index;
		rcu_read_unlock();
		if (is_near && tiering_is_slow(nid))
			policy_thermostat_draw_node(tn->priv, nid);
	}
}

/*
 * Begin a period: draw a sample of fast memory, and watch its huge pages. What has come to
 * slow memory without this policy, or was lost as its mapping has changed, is found by a
 * sample of slow memory.
 */
static void policy_thermostat_begin(struct tiering_node *tn)
{
	struct policy_thermostat *t = tn->priv;

	policy_thermostat_drop_gone(t);
	policy_thermostat_drop_joining(t);
	t->regions = tiering_regions_of(t->nid);
	t->count = policy_thermostat_draw(t->nid, policy_thermostat_share(t->regions),
					  &t->sampled);
	policy_thermostat_draw_slow(tn);
	policy_thermostat_assign_all(t);
	list_sort(NULL, &t->sampled, policy_thermostat_by_mm);
	list_sort(NULL, &t->leaving, policy_thermostat_by_mm);
	list_sort(NULL, &t->cold, policy_thermostat_by_mm);
	tiering_regions_watch_whole(&t->sampled);
}

static void policy_thermostat_close(struct policy_thermostat *t)
{
	tiering_regions_close(&t->sampled);
	tiering_regions_close(&t->leaving);
	tiering_regions_close(&t->cold);
}

/* Note what the counts of a region have cost. */
static void policy_thermostat_spend(const struct tiering_region *region)
{
	struct policy_thermostat_group *group = region->group;

	group->visits += region->visits;
	group->counted += region->visits;
}

/* Calculate the rates of regions. Those of which nothing is known go to @unknown. */
static void policy_thermostat_count(struct policy_thermostat *t, struct list_head *regions,
				    struct list_head *unknown)
{
	struct tiering_region *region, *next;

	list_for_each_entry_safe(region, next, regions, list) {
		if (tiering_region_count(region)) {
			policy_thermostat_spend(region);
			region->state = 0;
		} else if (unknown) {
			list_move_tail(&region->list, unknown);
		}
		cond_resched();
	}
}

static unsigned int policy_thermostat_nodes_now(void)
{
	return max(READ_ONCE(policy_thermostat_count_nodes), 1);
}

/* Estimate how many regions of fast memory a group has, by its part of the sample. */
static u64 policy_thermostat_regions(const struct policy_thermostat *t,
				     const struct policy_thermostat_group *group)
{
	return mul_u64_u64_div_u64(group->sampled, max(t->regions, t->count),
				   max(t->count, 1UL));
}

static bool policy_thermostat_is_hot(const struct policy_thermostat *t,
				     const struct tiering_region *region)
{
	const struct policy_thermostat_group *group = region->group;
	u64 parts = clamp_t(u64, policy_thermostat_regions(t, group), 1,
			    POLICY_THERMOSTAT_HOT);

	return policy_thermostat_cost(region->rate) > div64_u64(group->budget, parts);
}

/*
 * Let go the hot regions of a sample. In the second half of a period, in each round:
 * nobody needs to know how hot they are, and each fault costs something.
 */
static void policy_thermostat_drop_hot(struct policy_thermostat *t)
{
	struct tiering_region *region, *next;
	LIST_HEAD(hot);

	list_for_each_entry_safe(region, next, &t->sampled, list) {
		cond_resched();
		if (!tiering_region_rate(region) || !policy_thermostat_is_hot(t, region))
			continue;
		policy_thermostat_spend(region);
		list_move_tail(&region->list, &hot);
	}
	policy_thermostat_release(t, &hot);
}

/* After a quarter of the period: let go what is hot, and split the rest. */
static void policy_thermostat_split(struct policy_thermostat *t)
{
	policy_thermostat_close(t);
	policy_thermostat_estimate(t, policy_thermostat_nodes_now());
	policy_thermostat_drop_hot(t);
	policy_thermostat_count(t, &t->sampled, NULL);
	tiering_regions_split(&t->sampled);
	tiering_regions_split(&t->leaving);
	tiering_regions_split(&t->cold);
}

/* Correct what was wrong, by the counts of slow memory since the last time. */
static void policy_thermostat_check(struct policy_thermostat *t)
{
	LIST_HEAD(back);

	policy_thermostat_drop_gone(t);
	policy_thermostat_count(t, &t->leaving, NULL);
	policy_thermostat_count(t, &t->cold, NULL);
	policy_thermostat_charge(t, policy_thermostat_nodes_now());
	policy_thermostat_correct(t, &t->cold, &back);
	list_sort(NULL, &t->cold, policy_thermostat_by_mm);
	tiering_regions_open(&back);
	list_splice_tail(&back, &t->back);
}

/* After half of the period: watch the pages that were accessed. */
static void policy_thermostat_watch(struct policy_thermostat *t)
{
	policy_thermostat_close(t);
	policy_thermostat_check(t);
	tiering_regions_watch_pages(&t->sampled);
	tiering_regions_watch_pages(&t->leaving);
	tiering_regions_watch_pages(&t->cold);
}

/* End a period: correct, and let the coldest of the sample leave. */
static void policy_thermostat_end(struct policy_thermostat *t)
{
	LIST_HEAD(unknown);

	policy_thermostat_close(t);
	policy_thermostat_count(t, &t->sampled, &unknown);
	if (policy_thermostat_has_contexts(t))
		policy_thermostat_contexts_look(t->contexts,
						policy_thermostat_all_rest(t));
	policy_thermostat_check(t);
	policy_thermostat_release(t, &unknown);
	/* What was hot has left the sample, and stands for its share of memory. */
	policy_thermostat_classify(t, &t->sampled, &t->leaving, t->count, t->regions);
	if (policy_thermostat_has_contexts(t))
		policy_thermostat_contexts_done(t->contexts, t->others.cost,
						t->others.budget);
	policy_thermostat_release(t, &t->sampled);
}

/*
 * Have a region become a huge page again. khugepaged sees to what is too much for a period:
 * it leaves regions alone while they are counted.
 */
static void policy_thermostat_join(struct policy_thermostat *t)
{
	struct tiering_region *region =
		list_first_entry_or_null(&t->joining, struct tiering_region, list);

	if (region && policy_thermostat_is_watched(region)) {
		list_move_tail(&region->list, &t->joining);
		tiering_regions_open(&t->joining);
		return;
	}
	if (!region || (region->is_split && !tiering_region_join(region)))
		return;
	list_del(&region->list);
	tiering_region_free(region);
}

static void policy_thermostat_round(struct tiering_node *tn)
{
	struct policy_thermostat *t = tn->priv;

	if (!t->round)
		t->rounds = READ_ONCE(policy_thermostat_settings.rounds);
	if (!t->round)
		policy_thermostat_begin(tn);
	else if (t->round == t->rounds / 4)
		policy_thermostat_split(t);
	else if (t->round == t->rounds / 2)
		policy_thermostat_watch(t);
	else
		policy_thermostat_close(t);
	if (t->round > t->rounds / 2)
		policy_thermostat_drop_hot(t);
	if (++t->round == t->rounds) {
		policy_thermostat_end(t);
		t->round = 0;
	}
	policy_thermostat_join(t);
}

/**
 * policy_thermostat_period() - end a round, the operation period
 * @tn: the node
 */
void policy_thermostat_period(struct tiering_node *tn)
{
	struct policy_thermostat *t = tn->priv;

	mutex_lock(&t->lock);
	t->counts = READ_ONCE(tn->counts);
	policy_thermostat_round(tn);
	mutex_unlock(&t->lock);
}

/*
 * Take folios of the first region of a list. Regions whose address space is busy wait at the
 * end of the list. Return: the region, if it is over.
 */
static struct tiering_region *policy_thermostat_take(struct tiering_node *tn,
						     struct tiering_batch *b,
						     struct list_head *regions)
{
	struct tiering_region *region =
		list_first_entry(regions, struct tiering_region, list);

	if (!tiering_take_region(tn, b, region)) {
		region->next = 0;
		return region;
	}
	if (!b->pages && !b->more)
		list_move_tail(&region->list, regions);
	return NULL;
}

/**
 * policy_thermostat_fill_demote() - demote regions that leave
 * @tn: the node
 * @b: the batch
 * @want: pages that are missing
 *
 * If there are none, looks at a region in slow memory again: a part of it may not have been
 * able to leave, or have come back.
 *
 * Return: pages in @b.
 */
long policy_thermostat_fill_demote(struct tiering_node *tn, struct tiering_batch *b,
				   long want)
{
	struct policy_thermostat *t = tn->priv;
	struct tiering_region *region;

	b->why = TIERING_DEMOTED_COLD;
	mutex_lock(&t->lock);
	while (!b->pages && !b->more && !list_empty(&t->leaving)) {
		region = policy_thermostat_take(tn, b, &t->leaving);
		if (!region)
			break;
		list_move_tail(&region->list, &t->cold);
	}
	if (!b->pages && list_empty(&t->leaving) && !list_empty(&t->cold)) {
		region = list_first_entry(&t->cold, struct tiering_region, list);
		if (region->state != POLICY_THERMOSTAT_FOUND)
			region = policy_thermostat_take(tn, b, &t->cold);
		if (region)
			list_move_tail(&region->list, &t->cold);
	}
	mutex_unlock(&t->lock);
	return b->pages;
}

/*
 * Go on with a region all of whose folios were taken. What has failed to move is tried again;
 * after some tries the region counts as cold, and will come back later if it is not.
 */
static void policy_thermostat_came(struct policy_thermostat *t,
				   struct tiering_region *region)
{
	bool is_over = !region->is_left;

	if (is_over || ++region->state == POLICY_THERMOSTAT_TRIES) {
		region->state = 0;
		list_move_tail(&region->list, is_over ? &t->joining : &t->cold);
	} else {
		list_move_tail(&region->list, &t->back);
	}
}

/**
 * policy_thermostat_fill_promote() - promote regions that come back
 * @tn: the node
 * @b: the batch
 * @room: pages that may be promoted
 *
 * Return: pages in @b.
 */
long policy_thermostat_fill_promote(struct tiering_node *tn, struct tiering_batch *b,
				    long room)
{
	struct policy_thermostat *t = tn->priv;
	struct tiering_region *region;

	b->why = TIERING_PROMOTED_USED;
	mutex_lock(&t->lock);
	/* A huge page moves as a whole. */
	if (room >= TIERING_REGION_PAGES && !list_empty(&t->back)) {
		region = policy_thermostat_take(tn, b, &t->back);
		b->more |= region && !list_empty(&t->back);
		if (region)
			policy_thermostat_came(t, region);
	}
	mutex_unlock(&t->lock);
	return b->pages;
}

/**
 * policy_thermostat_waits() - test whether regions wait for room
 * @tn: the node
 *
 * Return: true if one does.
 */
bool policy_thermostat_waits(struct tiering_node *tn)
{
	const struct policy_thermostat *t = tn->priv;

	return !list_empty(&t->back);
}

static struct tiering_policy policy_thermostat = {
	.name		= "thermostat",
	.needs		= TIERING_MOVES | TIERING_VISITS,
	.attrs		= &policy_thermostat_attr_group,
	.init_node	= policy_thermostat_init_node,
	.exit_node	= policy_thermostat_exit_node,
	.period		= policy_thermostat_period,
	.fill_demote	= policy_thermostat_fill_demote,
	.fill_promote	= policy_thermostat_fill_promote,
	.waits		= policy_thermostat_waits,
};

static int __init policy_thermostat_init(void)
{
	return tiering_register(&policy_thermostat);
}
late_initcall(policy_thermostat_init);
