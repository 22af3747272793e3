// SPDX-License-Identifier: GPL-2.0
/*
 * The policy thermostat-kloc: the contexts that leave and come back within the bound.
 *
 * Each period looks at contexts, one after the other, and compares them with the regions of
 * its sample by what a page of them costs in slow memory. A use of page cache is a call that
 * reads or writes a folio.
 *
 * A file that has more pages than a region leaves page by page: those that were not used in
 * the last eight scans. They come back page by page, if slow memory costs too much. Its rate
 * is that of the uses of such pages.
 */
#include <linux/atomic.h>
#include <linux/bitops.h>
#include <linux/hash.h>
#include <linux/jiffies.h>
#include <linux/kloc.h>
#include <linux/math64.h>
#include <linux/minmax.h>
#include <linux/mm.h>
#include <linux/pagemap.h>
#include <linux/percpu.h>
#include <linux/rcupdate.h>
#include <linux/sched.h>
#include <linux/slab.h>
#include <linux/sort.h>
#include <linux/timekeeping.h>

#include "../kloc/kloc.h"
#include "policy_kloc.h"
#include "policy_thermostat.h"

/* The largest number of contexts that a period looks at. */
#define THERMOSTAT_CONTEXTS	4096

/* The rate of a context that was looked at once. */
#define THERMOSTAT_UNKNOWN	U32_MAX

/* Of the last eight scans, those in which a page is used that comes back first. */
#define THERMOSTAT_USES		4

/* The number of parts that an excess is measured in, as a power of two. */
#define THERMOSTAT_PART_BITS	10

/* Contexts to try for a batch: some may have no pages by now. */
#define THERMOSTAT_TRIES	64

/**
 * struct thermostat_context - a context that a period looks at
 * @knode: the context, held; NULL once it leaves or comes back
 * @pages: its pages
 * @rate: uses a second, averaged over some looks; of a large file, those of unused pages and
 *	of pages in slow memory
 * @slow: uses a second since the last look, of those in slow memory
 */
struct thermostat_context {
	struct knode *knode;
	unsigned long pages;
	unsigned long rate;
	unsigned long slow;
};

/**
 * struct thermostat_queue - contexts that are to move
 * @walk: walk over the pages of the current one
 * @first: index of the next one
 * @count: number of contexts
 * @knodes: the contexts, held
 */
struct thermostat_queue {
	struct tiering_walk walk;
	unsigned int first;
	unsigned int count;
	struct knode *knodes[THERMOSTAT_CONTEXTS];
};

/**
 * struct policy_thermostat_contexts - the contexts
 * @index: index of the node of fast memory that they leave
 * @next: id of the next context to look at
 * @rests: programs did nothing in this period
 * @rested: when the last such period ended, in jiffies
 * @counted: uses of slow memory that were counted when the last period ended
 * @ended: time when it ended, ns
 * @elapsed: time that it took, ns
 * @leaving: what is to be added for contexts that leave, ns a second
 * @returning: what is saved by those that come back, ns a second
 * @cost: what page cache in slow memory costs with these, ns a second
 * @movable: the part of it that contexts of this period have that may come back
 * @count: number of contexts that this period looks at
 * @looked: these contexts, those that cost least first
 * @leave: contexts that are to go to slow memory
 * @back: contexts that are to come back
 */
struct policy_thermostat_contexts {
	unsigned int index;
	unsigned long next;
	bool rests;
	u32 rested;
	unsigned long counted;
	u64 ended;
	u64 elapsed;
	u64 leaving;
	u64 returning;
	u64 cost;
	u64 movable;
	unsigned int count;
	struct thermostat_context looked[THERMOSTAT_CONTEXTS];
	struct thermostat_queue leave;
	struct thermostat_queue back;
};

/* What page cache in slow memory costs too much, of 1024 parts of its cost. */
static unsigned int thermostat_excess;

/* Changes in each period, so that other page frames come back. */
static unsigned long thermostat_turn;

/* The counted uses of slow memory, also of files that are no more. */
static DEFINE_PER_CPU(unsigned long, thermostat_slow_uses);

static unsigned long thermostat_counted(void)
{
	unsigned long sum = 0;
	int cpu;

	for_each_possible_cpu(cpu)
		sum += READ_ONCE(*per_cpu_ptr(&thermostat_slow_uses, cpu));
	return sum;
}

static bool thermostat_is_large_mapping(const struct address_space *mapping)
{
	return READ_ONCE(mapping->nrpages) > TIERING_REGION_PAGES;
}

/**
 * policy_thermostat_contexts_count_use() - count a use of page cache, the operation count_use
 * @folio: the folio
 */
void policy_thermostat_contexts_count_use(struct folio *folio)
{
	const struct address_space *mapping = tiering_mapping_of(folio);
	struct knode *knode = kloc_knode_in(mapping);
	bool is_slow = tiering_is_slow(folio_nid(folio));

	if (is_slow)
		this_cpu_inc(thermostat_slow_uses);
	if (!knode)
		return;
	/*
	 * Of a large file, the unused pages leave: only theirs would be uses of slow memory. The
	 * first of some at a time counts there, and all do once the page has left.
	 */
	if (is_slow || !thermostat_is_large_mapping(mapping) || !tiering_page_history(folio))
		atomic_inc(&knode->uses);
	if (is_slow)
		atomic_inc(&knode->slow_uses);
}

/* Test whether slow memory cost more than it may when the last period ended. */
static bool thermostat_is_over(void)
{
	return READ_ONCE(thermostat_excess);
}

/**
 * policy_thermostat_contexts_used() - test whether a page should come back, the operation used
 * @tn: the node of fast memory
 * @folio: the page, which is used in slow memory
 * @history: its uses
 *
 * While slow memory costs too much, pages that are used in most scans do, and so many of the
 * others that what is left costs what it may: which, the page frames decide.
 *
 * Return: true if it should.
 */
bool policy_thermostat_contexts_used(struct tiering_node *tn, struct folio *folio,
				     unsigned int history)
{
	return thermostat_is_over() && (hweight_long(history) >= THERMOSTAT_USES ||
					hash_long(folio_pfn(folio) ^ READ_ONCE(thermostat_turn),
						  THERMOSTAT_PART_BITS) <
					READ_ONCE(thermostat_excess));
}

static unsigned long thermostat_per_second(u64 counted, u64 ns)
{
	return mul_u64_u64_div_u64(counted * TIERING_USES_EACH, NSEC_PER_SEC, max(ns, 1ULL));
}

static unsigned long thermostat_rate(atomic_t *uses, u64 ns)
{
	return thermostat_per_second((u32)atomic_xchg(uses, 0), ns);
}

/* Convert a rate of uses to what they cost in slow memory, ns a second. */
static u64 thermostat_cost(unsigned long rate)
{
	return (u64)rate * READ_ONCE(policy_thermostat_settings.use_ns);
}

/**
 * policy_thermostat_density() - convert a cost, to compare memory of different sizes
 * @cost: ns a second
 * @pages: pages that have it
 *
 * Return: the cost of 1024 pages, ns a second.
 */
u64 policy_thermostat_density(u64 cost, unsigned long pages)
{
	return mul_u64_u64_div_u64(cost, 1024, max(pages, 1UL));
}

static u64 thermostat_density(const struct thermostat_context *context)
{
	return policy_thermostat_density(thermostat_cost(context->rate), context->pages);
}

static int thermostat_by_density(const void *a, const void *b)
{
	u64 left = thermostat_density(a), right = thermostat_density(b);

	return left < right ? -1 : left > right;
}

/* Average the rate of a context, as few uses are counted of one that is used seldom. */
static u32 thermostat_mean(u32 mean, unsigned long rate)
{
	rate = min(rate, THERMOSTAT_UNKNOWN - 1UL);
	return mean == THERMOSTAT_UNKNOWN ? rate : ((u64)mean + rate) / 2;
}

static bool thermostat_is_large(const struct thermostat_context *context)
{
	return context->pages > TIERING_REGION_PAGES;
}

/* Test whether a queue takes a context that is in none, of this period or of an earlier one. */
static bool thermostat_takes(const struct thermostat_queue *queue,
			     const struct thermostat_context *context)
{
	return queue->count < THERMOSTAT_CONTEXTS && context->knode &&
	       !test_bit(KNODE_BOUND, &context->knode->flags);
}

/* Get what a context costs in slow memory. Few uses are counted: the average says more. */
static u64 thermostat_slow_cost(const struct thermostat_context *context)
{
	return thermostat_cost(min(context->slow, context->rate));
}

static bool thermostat_may_return(const struct policy_thermostat_contexts *c,
				  const struct thermostat_context *context)
{
	return thermostat_slow_cost(context) && thermostat_takes(&c->back, context) &&
	       !thermostat_is_large(context);
}

/*
 * Look at a context. What it was used before it is looked at for the first time says little: it
 * may be new; and so does what it was used since a look before programs rested.
 * Return: true if what is known of it is its use since the last look.
 */
static bool thermostat_look(const struct policy_thermostat_contexts *c, struct knode *knode,
			    struct thermostat_context *context)
{
	u32 now = max_t(u32, jiffies, 1), looked = READ_ONCE(knode->looked);
	u64 ns = jiffies64_to_nsecs((u32)(now - looked));
	unsigned long rate = thermostat_rate(&knode->uses, ns);
	bool known = looked && (!c->rested || (s32)(looked - c->rested) >= 0);
	u32 mean = looked ? READ_ONCE(knode->rate) : THERMOSTAT_UNKNOWN;

	if (known)
		mean = thermostat_mean(mean, rate);
	*context = (struct thermostat_context) {
		.knode = knode,
		.pages = kloc_pages(knode),
		.rate = mean,
		.slow = thermostat_rate(&knode->slow_uses, ns),
	};
	WRITE_ONCE(knode->rate, mean);
	WRITE_ONCE(knode->looked, now);
	return known;
}

static bool thermostat_queue_is_empty(const struct thermostat_queue *queue)
{
	return !queue->count && !queue->walk.knode;
}

/*
 * Measure what the uses of slow memory have cost since the last period ended. What is still on
 * its way costs nothing there yet, or does so still.
 */
static void thermostat_measure(struct policy_thermostat_contexts *c)
{
	unsigned long counted = thermostat_counted();
	u64 now = ktime_get_mono_fast_ns();

	c->elapsed = now - c->ended;
	if (thermostat_queue_is_empty(&c->leave))
		c->leaving = 0;
	if (thermostat_queue_is_empty(&c->back))
		c->returning = 0;
	c->cost = thermostat_cost(thermostat_per_second(counted - c->counted, c->elapsed));
	c->cost -= min(c->returning, c->cost);
	c->cost += c->leaving;
	c->counted = counted;
	c->ended = now;
}

/**
 * policy_thermostat_contexts_look() - find out how much contexts were used
 * @c: the contexts
 * @rests: programs did nothing in this period, which says nothing of what they use otherwise
 *
 * Those that policy_thermostat_contexts_done() has to forget. A period looks at each context
 * once, and at no more than 4096.
 */
void policy_thermostat_contexts_look(struct policy_thermostat_contexts *c, bool rests)
{
	unsigned long looks;
	struct knode *knode;

	c->count = 0;
	c->movable = 0;
	c->rests = rests;
	if (rests)
		c->rested = max_t(u32, jiffies, 1);
	thermostat_measure(c);
	for (looks = 0; !rests && looks < THERMOSTAT_CONTEXTS; looks++) {
		struct thermostat_context *context = &c->looked[c->count];

		knode = knode_get_from(&c->next);
		if (!knode) {
			c->next = 0;
			break;
		}
		c->next++;
		cond_resched();
		if (!thermostat_look(c, knode, context) || !context->pages ||
		    !kloc_takes_part(knode)) {
			knode_put(knode);
			continue;
		}
		if (thermostat_may_return(c, context))
			c->movable += thermostat_slow_cost(context);
		c->count++;
	}
	sort(c->looked, c->count, sizeof(c->looked[0]), thermostat_by_density, NULL);
}

/**
 * policy_thermostat_contexts_cost() - get what page cache in slow memory costs
 * @c: the contexts
 *
 * Return: ns a second.
 */
u64 policy_thermostat_contexts_cost(const struct policy_thermostat_contexts *c)
{
	return c->cost;
}

/**
 * policy_thermostat_contexts_fixed() - get what no context that comes back can save
 * @c: the contexts
 *
 * Large files come back by pages, and the contexts of another period in that period.
 *
 * Return: ns a second.
 */
u64 policy_thermostat_contexts_fixed(const struct policy_thermostat_contexts *c)
{
	return c->cost - min(c->movable, c->cost);
}

/* Queue a context, whose reference the queue takes. It stays where it is if there are many. */
static void thermostat_queue_add(struct thermostat_queue *queue,
				 struct thermostat_context *context)
{
	if (queue->count == THERMOSTAT_CONTEXTS)
		return;
	set_bit(KNODE_BOUND, &context->knode->flags);
	queue->knodes[(queue->first + queue->count++) % THERMOSTAT_CONTEXTS] = context->knode;
	context->knode = NULL;
}

static struct knode *thermostat_queue_next(struct thermostat_queue *queue)
{
	struct knode *knode;

	if (!queue->count)
		return NULL;
	knode = queue->knodes[queue->first];
	queue->first = (queue->first + 1) % THERMOSTAT_CONTEXTS;
	queue->count--;
	return knode;
}

/* Let go a context that was in a queue. */
static void thermostat_queue_put(struct knode *knode)
{
	clear_bit(KNODE_BOUND, &knode->flags);
	knode_put(knode);
}

/* Begin with the next context of a queue. Return: false if there is none. */
static bool thermostat_queue_begin(struct tiering_node *tn, struct thermostat_queue *queue,
				   int nid)
{
	struct tiering_walk *walk = &queue->walk;

	*walk = (struct tiering_walk) {
		.knode = thermostat_queue_next(queue),
		.nid = nid,
	};
	/* Clear the bit before the walk: pages added meanwhile set it again. */
	if (walk->knode && nid == tn->nid) {
		rcu_read_lock();
		knode_set_fast(walk->knode, tn->index, false);
		rcu_read_unlock();
	}
	return walk->knode;
}

static void thermostat_queue_end(struct tiering_node *tn, struct thermostat_queue *queue)
{
	struct tiering_walk *walk = &queue->walk;

	if (!walk->knode)
		return;
	rcu_read_lock();
	if (!walk->done || walk->left)
		knode_set_fast(walk->knode, tn->index, true);
	rcu_read_unlock();
	thermostat_queue_put(walk->knode);
	walk->knode = NULL;
}

static bool thermostat_may_leave(const struct policy_thermostat_contexts *c,
				 const struct thermostat_context *context)
{
	return thermostat_takes(&c->leave, context) && knode_fast(context->knode, c->index) &&
	       !(thermostat_is_large(context) && thermostat_is_over());
}

/*
 * Get what it costs to let a context leave, as if it did so in each period: files that live
 * briefly would be copied for nothing otherwise, as many as there are. Of a large file, few
 * pages may leave.
 */
static u64 thermostat_copy_cost(const struct policy_thermostat_contexts *c,
				const struct thermostat_context *context)
{
	if (thermostat_is_large(context))
		return 0;
	return mul_u64_u64_div_u64(thermostat_cost(context->pages), NSEC_PER_SEC,
				   max(c->elapsed, 1ULL));
}

/**
 * policy_thermostat_contexts_leave() - let contexts leave that are colder than a region
 * @c: the contexts
 * @next: index of the first context to check, updated
 * @density: what 1024 pages of the region cost, ns a second
 * @left: what is left of the budget, ns a second; updated
 */
void policy_thermostat_contexts_leave(struct policy_thermostat_contexts *c,
				      unsigned int *next, u64 density, u64 *left)
{
	for (; *next < c->count; ++*next) {
		struct thermostat_context *context = &c->looked[*next];
		u64 cost;

		if (thermostat_density(context) > density)
			return;
		/* What is in slow memory has its cost already. */
		cost = thermostat_cost(context->rate - min(context->slow, context->rate));
		if (!thermostat_may_leave(c, context) || cost > *left)
			continue;
		/* Nothing is left for a copy. With a bound of 0, what is unused leaves. */
		if (!*left && READ_ONCE(policy_thermostat_settings.slowdown_bp))
			continue;
		*left -= cost;
		*left -= min(thermostat_copy_cost(c, context), *left);
		/* Its uses there are counted once it has left. */
		c->leaving += cost;
		c->cost += cost;
		thermostat_queue_add(&c->leave, context);
	}
}

/**
 * policy_thermostat_contexts_return() - let contexts come back that are hotter than a region
 * @c: the contexts
 * @next: number of contexts that are left to check, the hottest last; updated
 * @density: what 1024 pages of the region cost, ns a second
 * @excess: what slow memory costs too much, ns a second; updated
 */
void policy_thermostat_contexts_return(struct policy_thermostat_contexts *c,
				       unsigned int *next, u64 density, u64 *excess)
{
	for (; *excess && *next; --*next) {
		struct thermostat_context *context = &c->looked[*next - 1];
		u64 cost;

		if (thermostat_density(context) < density)
			return;
		if (!thermostat_may_return(c, context))
			continue;
		cost = min(thermostat_slow_cost(context), *excess);
		*excess -= cost;
		c->returning += cost;
		c->cost -= min(cost, c->cost);
		thermostat_queue_add(&c->back, context);
	}
}

/**
 * policy_thermostat_contexts_done() - end a look at contexts
 * @c: the contexts
 * @cost: what slow memory costs, page cache and other memory, ns a second
 * @budget: what it may cost
 */
void policy_thermostat_contexts_done(struct policy_thermostat_contexts *c, u64 cost,
				     u64 budget)
{
	u64 excess = min(cost - min(cost, budget), c->cost);

	/* Above 0 if there is any. A rest says nothing of it. */
	if (!c->rests)
		WRITE_ONCE(thermostat_excess,
			   DIV64_U64_ROUND_UP(excess << THERMOSTAT_PART_BITS,
					      max(c->cost, 1ULL)));
	WRITE_ONCE(thermostat_turn, thermostat_turn + 1);
	while (c->count)
		if (c->looked[--c->count].knode)
			knode_put(c->looked[c->count].knode);
}

/**
 * policy_thermostat_contexts_count() - get the number of contexts that this period looks at
 * @c: the contexts
 *
 * Return: those that may move.
 */
unsigned int policy_thermostat_contexts_count(const struct policy_thermostat_contexts *c)
{
	return c->count;
}

static bool thermostat_is_of_large(struct folio *folio)
{
	const struct address_space *mapping;
	bool is_large;

	rcu_read_lock();
	mapping = tiering_mapping_of(folio);
	is_large = mapping && thermostat_is_large_mapping(mapping);
	rcu_read_unlock();
	return is_large;
}

/* What is used through mappings has no visits that are counted: a program, for example. */
static bool thermostat_choose_leaving(struct tiering_node *tn, struct folio *folio)
{
	if (thermostat_is_of_large(folio))
		return policy_kloc_choose_unused(tn, folio);
	return policy_kloc_choose_clean(tn, folio) &&
	       !(folio_mapped(folio) && tiering_was_referenced(folio));
}

/* Take pages of the contexts of a queue, on a node, or in slow memory if it is NUMA_NO_NODE. */
static void thermostat_queue_take(struct tiering_node *tn, struct tiering_batch *b,
				  struct thermostat_queue *queue, int nid,
				  tiering_choose_t choose)
{
	unsigned int tries;

	for (tries = THERMOSTAT_TRIES; tries && !tiering_batch_full(b); tries--) {
		struct tiering_walk *walk = &queue->walk;

		if (!walk->knode && !thermostat_queue_begin(tn, queue, nid))
			break;
		if (b->pages && b->kind != kloc_kind(walk->knode))
			break;
		tiering_take_knode(tn, b, walk, choose);
		if (!walk->done)
			break;
		thermostat_queue_end(tn, queue);
	}
	b->more |= !tries;
}

static void thermostat_queue_free(struct tiering_node *tn, struct thermostat_queue *queue)
{
	struct knode *knode;

	thermostat_queue_end(tn, queue);
	while ((knode = thermostat_queue_next(queue)))
		thermostat_queue_put(knode);
}

/**
 * policy_thermostat_contexts_make() - begin to count contexts
 * @tn: the node that they leave
 *
 * Return: the contexts; NULL if memory is short.
 */
struct policy_thermostat_contexts *policy_thermostat_contexts_make(struct tiering_node *tn)
{
	struct policy_thermostat_contexts *c = kvzalloc_node(sizeof(*c), GFP_KERNEL, tn->nid);

	if (!c)
		return NULL;
	c->index = tn->index;
	c->counted = thermostat_counted();
	c->ended = ktime_get_mono_fast_ns();
	return c;
}

/**
 * policy_thermostat_contexts_free() - end the count of contexts
 * @tn: the node that they leave
 * @c: the contexts
 */
void policy_thermostat_contexts_free(struct tiering_node *tn,
				     struct policy_thermostat_contexts *c)
{
	thermostat_queue_free(tn, &c->leave);
	thermostat_queue_free(tn, &c->back);
	kvfree(c);
	/* The next selection begins without. */
	WRITE_ONCE(thermostat_excess, 0);
}

/**
 * policy_thermostat_contexts_demote() - take pages of contexts that leave
 * @tn: the node
 * @b: the batch
 * @c: the contexts
 */
void policy_thermostat_contexts_demote(struct tiering_node *tn, struct tiering_batch *b,
				       struct policy_thermostat_contexts *c)
{
	thermostat_queue_take(tn, b, &c->leave, tn->nid, thermostat_choose_leaving);
}

/**
 * policy_thermostat_contexts_promote() - take pages of contexts that come back
 * @tn: the node
 * @b: the batch
 * @c: the contexts
 */
void policy_thermostat_contexts_promote(struct tiering_node *tn, struct tiering_batch *b,
					struct policy_thermostat_contexts *c)
{
	thermostat_queue_take(tn, b, &c->back, NUMA_NO_NODE, NULL);
}

/**
 * policy_thermostat_contexts_wait() - test whether contexts wait for room
 * @c: the contexts
 *
 * Return: true if one does.
 */
bool policy_thermostat_contexts_wait(const struct policy_thermostat_contexts *c)
{
	return READ_ONCE(c->back.count) || READ_ONCE(c->back.walk.knode);
}

#ifdef CONFIG_TIERING_KUNIT_TEST
#include "tests/policy-thermostat-contexts-kunit.h"
#endif
