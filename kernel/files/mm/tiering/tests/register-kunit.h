/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Policies of memory tiers: tests that registration refuses contradictions.
 */
#ifndef _MM_TIERING_REGISTER_KUNIT_H
#define _MM_TIERING_REGISTER_KUNIT_H

#include <kunit/test.h>

static enum tiering_place register_test_place(struct tiering_node *tn,
					      const struct tiering_alloc *alloc)
{
	return TIERING_LOCAL;
}

static void register_test_period(struct tiering_node *tn)
{
}

static bool register_test_used(struct tiering_node *tn, struct folio *folio,
			       unsigned int history)
{
	return false;
}

static void register_test_count(struct folio *folio)
{
}

static int register_test_hint_fault(struct tiering_node *tn, struct folio *folio,
				    unsigned int history, int cpu_nid)
{
	return NUMA_NO_NODE;
}

static long register_test_hint_room(struct tiering_node *tn, struct tiering_batch *b,
				    unsigned int order)
{
	return 0;
}

static bool register_test_slab(struct tiering_node *tn, unsigned int history)
{
	return false;
}

static bool register_test_slab_new(struct tiering_node *tn,
				   const struct tiering_alloc *alloc)
{
	return false;
}

static void register_test_needs_have_operations(struct kunit *test)
{
	struct tiering_policy policy = { .needs = TIERING_PLACES };

	KUNIT_EXPECT_FALSE(test, tiering_is_consistent(&policy));
	policy.place = register_test_place;
	KUNIT_EXPECT_TRUE(test, tiering_is_consistent(&policy));
	policy.needs |= TIERING_MOVES;
	KUNIT_EXPECT_FALSE(test, tiering_is_consistent(&policy));
	policy.period = register_test_period;
	KUNIT_EXPECT_TRUE(test, tiering_is_consistent(&policy));
	policy.needs |= TIERING_USES;
	KUNIT_EXPECT_FALSE(test, tiering_is_consistent(&policy));
}

static void register_test_operations_have_needs(struct kunit *test)
{
	struct tiering_policy policy = { .place = register_test_place };

	KUNIT_EXPECT_FALSE(test, tiering_is_consistent(&policy));
	policy.needs = TIERING_FILES;
	KUNIT_EXPECT_TRUE(test, tiering_is_consistent(&policy));
	policy.period = register_test_period;
	KUNIT_EXPECT_FALSE(test, tiering_is_consistent(&policy));
}

/* TIERING_SLABS needs the daemon and all three operations of slabs. */
static void register_test_slabs_need_moves(struct kunit *test)
{
	struct tiering_policy policy = {
		.needs = TIERING_SLABS | TIERING_MOVES,
		.period = register_test_period,
		.slab_cold = register_test_slab,
		.slab_hot = register_test_slab,
	};

	KUNIT_EXPECT_FALSE(test, tiering_is_consistent(&policy));
	policy.slab_new_cold = register_test_slab_new;
	KUNIT_EXPECT_TRUE(test, tiering_is_consistent(&policy));
	policy.needs = TIERING_SLABS;
	policy.period = NULL;
	KUNIT_EXPECT_FALSE(test, tiering_is_consistent(&policy));
}

/* TIERING_COUNTS needs its operation, and uses to count. */
static void register_test_counts_need_uses(struct kunit *test)
{
	struct tiering_policy policy = {
		.needs = TIERING_USES | TIERING_COUNTS,
		.used = register_test_used,
	};

	KUNIT_EXPECT_FALSE(test, tiering_is_consistent(&policy));
	policy.count_use = register_test_count;
	KUNIT_EXPECT_TRUE(test, tiering_is_consistent(&policy));
	policy.needs = TIERING_USES;
	KUNIT_EXPECT_FALSE(test, tiering_is_consistent(&policy));
	policy.needs = TIERING_COUNTS;
	policy.used = NULL;
	KUNIT_EXPECT_FALSE(test, tiering_is_consistent(&policy));
}

/* TIERING_HINTS needs its operation, and the history of a record for itself. */
static void register_test_hints_have_the_history(struct kunit *test)
{
	struct tiering_policy policy = { .needs = TIERING_HINTS };

	KUNIT_EXPECT_FALSE(test, tiering_is_consistent(&policy));
	policy.hint_fault = register_test_hint_fault;
	KUNIT_EXPECT_TRUE(test, tiering_is_consistent(&policy));
	policy.used = register_test_used;
	policy.needs |= TIERING_USES;
	KUNIT_EXPECT_FALSE(test, tiering_is_consistent(&policy));
	policy.needs = TIERING_USES;
	KUNIT_EXPECT_FALSE(test, tiering_is_consistent(&policy));
	policy.hint_fault = NULL;
	KUNIT_EXPECT_TRUE(test, tiering_is_consistent(&policy));
	policy.hint_room = register_test_hint_room;
	KUNIT_EXPECT_FALSE(test, tiering_is_consistent(&policy));
}

static void register_test_nothing_is_consistent(struct kunit *test)
{
	struct tiering_policy policy = { };

	KUNIT_EXPECT_TRUE(test, tiering_is_consistent(&policy));
}

static struct kunit_case register_test_cases[] = {
	KUNIT_CASE(register_test_needs_have_operations),
	KUNIT_CASE(register_test_operations_have_needs),
	KUNIT_CASE(register_test_slabs_need_moves),
	KUNIT_CASE(register_test_counts_need_uses),
	KUNIT_CASE(register_test_hints_have_the_history),
	KUNIT_CASE(register_test_nothing_is_consistent),
	{}
};

static struct kunit_suite register_test_suite = {
	.name = "tiering-register",
	.test_cases = register_test_cases,
};

kunit_test_suite(register_test_suite);

#endif /* _MM_TIERING_REGISTER_KUNIT_H */
