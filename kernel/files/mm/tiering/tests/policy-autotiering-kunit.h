/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Policies of memory tiers: tests of the levels of AutoTiering.
 */
#ifndef _MM_TIERING_POLICY_AUTOTIERING_KUNIT_H
#define _MM_TIERING_POLICY_AUTOTIERING_KUNIT_H

#include <kunit/test.h>

static void autotiering_test_note(struct policy_autotiering_levels *levels,
				  unsigned int level, unsigned int times)
{
	while (times--)
		policy_autotiering_note(levels, level);
}

/* The lowest level is that of the last window of folios. */
static void autotiering_test_lowest(struct kunit *test)
{
	struct policy_autotiering_levels levels = { .seen = POLICY_AUTOTIERING_MOST };

	autotiering_test_note(&levels, 5, POLICY_AUTOTIERING_WINDOW - 1);
	KUNIT_EXPECT_EQ(test, levels.lowest, 0);
	autotiering_test_note(&levels, 3, 1);
	KUNIT_EXPECT_EQ(test, levels.lowest, 3);
	autotiering_test_note(&levels, 6, POLICY_AUTOTIERING_WINDOW);
	KUNIT_EXPECT_EQ(test, levels.lowest, 6);
}

/* New folios, of level 8, are no victims. */
static void autotiering_test_new_folios_stay(struct kunit *test)
{
	struct policy_autotiering_levels levels = { .seen = POLICY_AUTOTIERING_MOST };

	autotiering_test_note(&levels, 8, POLICY_AUTOTIERING_WINDOW);
	KUNIT_EXPECT_EQ(test, levels.lowest, 7);
}

/* Only a folio that is hotter than the victims is promoted. */
static void autotiering_test_hot_is_above_lowest(struct kunit *test)
{
	struct policy_autotiering_levels levels = { .lowest = 2 };
	struct tiering_node tn = { .priv = &levels };

	KUNIT_EXPECT_FALSE(test, policy_autotiering_is_hot(&tn, 0x81));
	KUNIT_EXPECT_TRUE(test, policy_autotiering_is_hot(&tn, 0x83));
	policy_autotiering_period(&tn);
	KUNIT_EXPECT_TRUE(test, policy_autotiering_is_hot(&tn, 0x81));
	policy_autotiering_period(&tn);
	policy_autotiering_period(&tn);
	KUNIT_EXPECT_EQ(test, levels.lowest, 0);
}

static struct kunit_case autotiering_test_cases[] = {
	KUNIT_CASE(autotiering_test_lowest),
	KUNIT_CASE(autotiering_test_new_folios_stay),
	KUNIT_CASE(autotiering_test_hot_is_above_lowest),
	{}
};

static struct kunit_suite autotiering_test_suite = {
	.name = "tiering-autotiering",
	.test_cases = autotiering_test_cases,
};

kunit_test_suite(autotiering_test_suite);

#endif /* _MM_TIERING_POLICY_AUTOTIERING_KUNIT_H */
