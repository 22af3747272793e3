// SPDX-License-Identifier: GPL-2.0
/*
 * The policies autotiering-*: memory moves by the hint faults of NUMA balancing, to the
 * best tier first, and then to the nearest node in it (AutoTiering, USENIX ATC 2021).
 *
 * autotiering-cpm: a page that faults moves to the best node with free memory (slide
 *	"Exploiting access tier first and then locality").
 * autotiering-opm: if fast memory is full, the least accessed page (LAP) is demoted to
 *	make room: page cache that was unused first, then anonymous memory that was used
 *	in the fewest scans (slide "Enforcing page promotion and migration").
 * autotiering-opm-bd: the daemon demotes in the background, and keeps a reserve of free
 *	pages for promotions (slide "Hiding latency of page eviction").
 * autotiering-opm-x: the page that is demoted takes the place of the promoted one (slide
 *	"Is page exchange actually needed?"). The contents move one after the other
 *	through a free page, not in place.
 * autotiering-random: a control. As autotiering-opm, but any page may be demoted.
 *
 * The level of a folio is the number of scans of the last eight in which it was used.
 */
#include <linux/bitops.h>
#include <linux/cpumask.h>
#include <linux/init.h>
#include <linux/minmax.h>
#include <linux/mm.h>
#include <linux/numa.h>
#include <linux/printk.h>
#include <linux/random.h>
#include <linux/sched/sysctl.h>
#include <linux/slab.h>
#include <linux/topology.h>

#include "policy_lru.h"

/* Folios that are checked to learn the lowest level of a node. */
#define POLICY_AUTOTIERING_WINDOW	64

/* Checks of 32 folios of each kind for a batch of the daemon. */
#define POLICY_AUTOTIERING_BATCH_LOOKS	8

/* One in this many parts of the reserve is left when a fault wakes the daemon. */
#define POLICY_AUTOTIERING_WAKE		4

/* The highest level of a victim. A folio that was used in all scans is none. */
#define POLICY_AUTOTIERING_MOST		7

/**
 * struct policy_autotiering_levels - the levels of the oldest folios of a node
 * @lowest: the lowest level, by the last folios that were checked; no higher than
 *	POLICY_AUTOTIERING_MOST. Folios up to this level are victims
 * @seen: the lowest level of the folios that were checked since then
 * @looks: number of folios that were checked since then
 * @waiting: the largest order of the folios that wait for the daemon
 * @order: the least order of a victim
 * @is_exact: victims have exactly this order
 *
 * Stands for the lists of folios by level that AutoTiering has: a sample of the old end
 * of the LRU lists needs no link in each page. One task at a time chooses victims. Hint
 * faults read @lowest meanwhile, and the daemon changes it.
 */
struct policy_autotiering_levels {
	unsigned int lowest;
	unsigned int seen;
	unsigned int looks;
	unsigned int waiting;
	unsigned int order;
	bool is_exact;
};

/* Free pages for each CPU that autotiering-opm-bd keeps for promotions. */
static unsigned long policy_autotiering_reserve = 16;

static enum tiering_place
policy_autotiering_place(struct tiering_node *tn, const struct tiering_alloc *alloc)
{
	return TIERING_TOP_FIRST;
}

/* Warn if pages would have no history. The mode is the administrator's. */
static int policy_autotiering_start(void)
{
	if (sysctl_numa_balancing_mode != NUMA_BALANCING_NORMAL)
		pr_warn("tiering: AutoTiering needs kernel.numa_balancing=1, not %d\n",
			sysctl_numa_balancing_mode);
	return 0;
}

static int policy_autotiering_init_node(struct tiering_node *tn)
{
	struct policy_autotiering_levels *levels;

	levels = kzalloc_node(sizeof(*levels), GFP_KERNEL, tn->nid);
	if (!levels)
		return -ENOMEM;
	levels->seen = POLICY_AUTOTIERING_MOST;
	tn->priv = levels;
	return 0;
}

static void policy_autotiering_exit_node(struct tiering_node *tn)
{
	kfree(tn->priv);
}

/* Note the level of a folio that was checked. */
static void policy_autotiering_note(struct policy_autotiering_levels *levels,
				    unsigned int level)
{
	levels->seen = min(levels->seen, level);
	if (++levels->looks < POLICY_AUTOTIERING_WINDOW)
		return;
	WRITE_ONCE(levels->lowest, levels->seen);
	levels->seen = POLICY_AUTOTIERING_MOST;
	levels->looks = 0;
}

/*
 * Lower the level once a scan. Otherwise promotion, which needs a higher level, could
 * end for good after all folios were hot: victims are checked when there is a promotion.
 */
static void policy_autotiering_period(struct tiering_node *tn)
{
	struct policy_autotiering_levels *levels = tn->priv;
	unsigned int lowest = READ_ONCE(levels->lowest);

	if (lowest)
		WRITE_ONCE(levels->lowest, lowest - 1);
}

/* A promotion needs a level above that of the victims. */
static bool policy_autotiering_is_hot(struct tiering_node *tn, unsigned int history)
{
	const struct policy_autotiering_levels *levels = tn->priv;

	return hweight8(history) > READ_ONCE(levels->lowest);
}

static bool policy_autotiering_fits(const struct policy_autotiering_levels *levels,
				    struct folio *folio)
{
	return levels->is_exact ? folio_order(folio) == levels->order :
				  folio_order(folio) >= levels->order;
}

/* Choose page cache that was not used since the last check and needs no writeback. */
static bool policy_autotiering_choose_file(struct tiering_node *tn, struct folio *folio)
{
	const struct policy_autotiering_levels *levels = tn->priv;

	if (!policy_autotiering_fits(levels, folio) || folio_test_dirty(folio))
		return false;
	if (folio_mapped(folio))
		return !tiering_was_referenced(folio);
	return !folio_test_clear_referenced(folio);
}

/* Choose anonymous memory of the lowest level. */
static bool policy_autotiering_choose_anon(struct tiering_node *tn, struct folio *folio)
{
	struct policy_autotiering_levels *levels = tn->priv;
	unsigned int level;
	bool is_lowest;

	tiering_page_age(folio);
	level = tiering_page_level(folio);
	is_lowest = level <= READ_ONCE(levels->lowest);
	policy_autotiering_note(levels, level);
	return is_lowest && policy_autotiering_fits(levels, folio);
}

/*
 * Leave out a cgroup in one of two calls. Cgroups take turns in all calls, and with an
 * even number of them each kind would always meet the same ones.
 */
static void policy_autotiering_skip(struct tiering_node *tn)
{
	if (get_random_u32_below(2))
		policy_lru_skip(tn);
}

/* Take the least accessed folios. Checks @looks times 32 folios of each kind. */
static long policy_autotiering_take(struct tiering_node *tn, struct tiering_batch *b,
				    unsigned int order, unsigned int looks)
{
	struct policy_autotiering_levels *levels = tn->priv;

	levels->order = order;
	levels->is_exact = b->why == TIERING_DEMOTED_PAIR;
	if (policy_lru_take_few(tn, b, NULL, TIERING_FILE,
				policy_autotiering_choose_file, looks))
		return b->pages;
	policy_autotiering_skip(tn);
	return policy_lru_take_few(tn, b, NULL, TIERING_ANON,
				   policy_autotiering_choose_anon, looks);
}

static int policy_autotiering_cpm_hint(struct tiering_node *tn, struct folio *folio,
				       unsigned int history, int cpu_nid)
{
	return tiering_better_node(folio, cpu_nid);
}

/*
 * Test whether a folio should be in fast memory, which has no room for it: @nid is the
 * best node that has. Free fast memory needs no victim, so that the level does not
 * matter there.
 */
static bool policy_autotiering_waits(struct tiering_node *tn, struct folio *folio,
				     unsigned int history, int nid)
{
	return tiering_is_slow(folio_nid(folio)) &&
	       (nid == NUMA_NO_NODE || tiering_is_slow(nid)) &&
	       policy_autotiering_is_hot(tn, history);
}

/* Promote to the nearest fast node even if all are full: hint_room makes room. */
static int policy_autotiering_opm_hint(struct tiering_node *tn, struct folio *folio,
				       unsigned int history, int cpu_nid)
{
	int nid = tiering_better_node(folio, cpu_nid);

	if (policy_autotiering_waits(tn, folio, history, nid))
		return tn->nid;
	return nid;
}

static long policy_autotiering_opm_room(struct tiering_node *tn,
					struct tiering_batch *b, unsigned int order)
{
	b->why = TIERING_DEMOTED_OLD;
	return policy_autotiering_take(tn, b, order, 1);
}

static long policy_autotiering_x_room(struct tiering_node *tn, struct tiering_batch *b,
				      unsigned int order)
{
	b->why = TIERING_DEMOTED_PAIR;
	b->most = 1U << order;
	return policy_autotiering_take(tn, b, order, 1);
}

/* Choose one of two folios by luck, whether they were used or not. */
static bool policy_autotiering_choose_any(struct tiering_node *tn, struct folio *folio)
{
	struct policy_autotiering_levels *levels = tn->priv;

	policy_autotiering_note(levels, tiering_page_level(folio));
	return get_random_u32_below(2) && policy_autotiering_fits(levels, folio);
}

/* Take folios of one kind, which luck decides, or of the other if there are none. */
static long policy_autotiering_random_room(struct tiering_node *tn,
					   struct tiering_batch *b, unsigned int order)
{
	enum tiering_kind kind = get_random_u32_below(2) ? TIERING_FILE : TIERING_ANON;
	struct policy_autotiering_levels *levels = tn->priv;

	b->why = TIERING_DEMOTED_RANDOM;
	levels->order = order;
	levels->is_exact = false;
	if (policy_lru_take_few(tn, b, NULL, kind, policy_autotiering_choose_any, 1))
		return b->pages;
	policy_autotiering_skip(tn);
	kind = kind == TIERING_FILE ? TIERING_ANON : TIERING_FILE;
	return policy_lru_take_few(tn, b, NULL, kind, policy_autotiering_choose_any, 1);
}

/* Get the free pages that the daemon of a node keeps for promotions. */
static long policy_autotiering_pages(const struct tiering_node *tn)
{
	unsigned int cpus = cpumask_weight(cpumask_of_node(tn->nid));

	return READ_ONCE(policy_autotiering_reserve) * max(cpus, 1U);
}

/* Promote into the reserve. What finds none waits for the daemon. */
static int policy_autotiering_bd_hint(struct tiering_node *tn, struct folio *folio,
				      unsigned int history, int cpu_nid)
{
	struct policy_autotiering_levels *levels = tn->priv;
	int nid = tiering_better_node(folio, cpu_nid);

	if (policy_autotiering_waits(tn, folio, history, nid)) {
		if (!tiering_queue_hot(tn, folio))
			return nid;
		if (folio_order(folio) > READ_ONCE(levels->waiting))
			WRITE_ONCE(levels->waiting, folio_order(folio));
		/* The daemon looks after a while itself at what it has found no room for. */
		if (READ_ONCE(tn->hot_count) == 1)
			tiering_wake(tn);
	} else if (tiering_room(tn->nid) <
		   policy_autotiering_pages(tn) / POLICY_AUTOTIERING_WAKE) {
		tiering_wake(tn);
	}
	return nid;
}

/* Refill the reserve, and make room for what waits, one large folio at a time. */
static long policy_autotiering_bd_fill_demote(struct tiering_node *tn,
					      struct tiering_batch *b, long want)
{
	const struct policy_autotiering_levels *levels = tn->priv;
	unsigned int order = READ_ONCE(levels->waiting);
	long missing = policy_autotiering_pages(tn) + READ_ONCE(tn->hot_count) +
		       (1L << order) - 1 - tiering_room(tn->nid);

	b->why = TIERING_DEMOTED_OLD;
	b->most = 1U << order;
	/* Few checks: a folio that is too small becomes one of the youngest. */
	if (order && !tiering_is_balanced(tn->nid, order) &&
	    policy_autotiering_take(tn, b, order, 1))
		return b->pages;
	if (missing <= 0)
		return 0;
	b->most = min(missing, TIERING_BATCH);
	return policy_autotiering_take(tn, b, 0, POLICY_AUTOTIERING_BATCH_LOOKS);
}

/* Promote what waits. A large folio that finds no room waits again at its next fault. */
static long policy_autotiering_bd_fill_promote(struct tiering_node *tn,
					       struct tiering_batch *b, long room)
{
	struct policy_autotiering_levels *levels = tn->priv;

	b->why = TIERING_PROMOTED_HINT;
	WRITE_ONCE(levels->waiting, 0);
	tiering_take_hot(tn, b);
	return b->pages;
}

TIERING_NUMBER(reserve, policy_autotiering_reserve, 1, 1, 4096);

static struct attribute *policy_autotiering_bd_attrs[] = {
	&reserve_number.attr.attr,
	NULL,
};

static const struct attribute_group policy_autotiering_bd_group = {
	.attrs = policy_autotiering_bd_attrs,
};

/* The needs and operations of all policies that compare levels. */
#define POLICY_AUTOTIERING_LEVELS					\
	.needs		= TIERING_PLACES | TIERING_HINTS | TIERING_MOVES, \
	.init		= policy_autotiering_start,			\
	.init_node	= policy_autotiering_init_node,			\
	.exit_node	= policy_autotiering_exit_node,			\
	.place		= policy_autotiering_place,			\
	.period		= policy_autotiering_period

static struct tiering_policy policy_autotiering_cpm = {
	.name		= "autotiering-cpm",
	.needs		= TIERING_PLACES | TIERING_HINTS,
	.init		= policy_autotiering_start,
	.place		= policy_autotiering_place,
	.hint_fault	= policy_autotiering_cpm_hint,
};

static struct tiering_policy policy_autotiering_opm = {
	.name		= "autotiering-opm",
	POLICY_AUTOTIERING_LEVELS,
	.hint_fault	= policy_autotiering_opm_hint,
	.hint_room	= policy_autotiering_opm_room,
};

static struct tiering_policy policy_autotiering_opm_bd = {
	.name		= "autotiering-opm-bd",
	POLICY_AUTOTIERING_LEVELS,
	.attrs		= &policy_autotiering_bd_group,
	.fill_demote	= policy_autotiering_bd_fill_demote,
	.fill_promote	= policy_autotiering_bd_fill_promote,
	.hint_fault	= policy_autotiering_bd_hint,
};

static struct tiering_policy policy_autotiering_opm_x = {
	.name		= "autotiering-opm-x",
	POLICY_AUTOTIERING_LEVELS,
	.hint_fault	= policy_autotiering_opm_hint,
	.hint_room	= policy_autotiering_x_room,
};

static struct tiering_policy policy_autotiering_random = {
	.name		= "autotiering-random",
	POLICY_AUTOTIERING_LEVELS,
	.hint_fault	= policy_autotiering_opm_hint,
	.hint_room	= policy_autotiering_random_room,
};

static int __init policy_autotiering_init(void)
{
	int error = tiering_register(&policy_autotiering_cpm) ?:
		    tiering_register(&policy_autotiering_opm) ?:
		    tiering_register(&policy_autotiering_opm_bd) ?:
		    tiering_register(&policy_autotiering_opm_x);

	if (!error && IS_ENABLED(CONFIG_TIERING_CONTROLS))
		error = tiering_register(&policy_autotiering_random);
	return error;
}
late_initcall(policy_autotiering_init);

#ifdef CONFIG_TIERING_KUNIT_TEST
#include "tests/policy-autotiering-kunit.h"
#endif
