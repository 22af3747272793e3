/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Policies of memory tiers: tests of the budget of Thermostat, and of what leaves and
 * comes back.
 */
#ifndef _MM_TIERING_POLICY_THERMOSTAT_KUNIT_H
#define _MM_TIERING_POLICY_THERMOSTAT_KUNIT_H

#include <kunit/test.h>

#define THERMOSTAT_TEST_REGIONS	5

/*
 * Settings that the test changes, a node with a budget beside that of all memory, and regions
 * with rates of 1, 2, 4, 8 and 16.
 */
struct thermostat_test {
	struct policy_thermostat_settings settings;
	struct policy_thermostat node;
	struct policy_thermostat_group group;
	struct tiering_region regions[THERMOSTAT_TEST_REGIONS];
	struct list_head from;
	struct list_head to;
};

static int thermostat_test_init(struct kunit *test)
{
	/* In this order, so that sorting is needed. */
	static const unsigned long rates[THERMOSTAT_TEST_REGIONS] = { 4, 1, 16, 2, 8 };
	struct thermostat_test *data = kunit_kzalloc(test, sizeof(*data), GFP_KERNEL);
	int i;

	if (!data)
		return -ENOMEM;
	INIT_LIST_HEAD(&data->from);
	INIT_LIST_HEAD(&data->to);
	INIT_LIST_HEAD(&data->node.groups);
	spin_lock_init(&data->node.shown_lock);
	list_add(&data->node.others.list, &data->node.groups);
	list_add_tail(&data->group.list, &data->node.groups);
	for (i = 0; i < THERMOSTAT_TEST_REGIONS; i++) {
		data->regions[i].rate = rates[i];
		data->regions[i].group = &data->node.others;
		list_add_tail(&data->regions[i].list, &data->from);
	}
	data->settings = policy_thermostat_settings;
	policy_thermostat_settings.visit_ns = 10;
	policy_thermostat_settings.fault_ns = 5;
	test->priv = data;
	return 0;
}

static void thermostat_test_exit(struct kunit *test)
{
	struct thermostat_test *data = test->priv;

	if (data)
		policy_thermostat_settings = data->settings;
}

/* The bound is a share of the processor time; faults spend it, too. */
static void thermostat_test_budget(struct kunit *test)
{
	/* Two processors for a second, and half a second: 3 % are 60 ms a second. */
	KUNIT_EXPECT_EQ(test,
			policy_thermostat_budget(300, 2 * NSEC_PER_SEC, 0, NSEC_PER_SEC),
			60 * NSEC_PER_MSEC);
	KUNIT_EXPECT_EQ(test,
			policy_thermostat_budget(300, NSEC_PER_SEC, 0, NSEC_PER_SEC / 2),
			60 * NSEC_PER_MSEC);
	/* 2 million faults of 5 ns are 10 ms. */
	KUNIT_EXPECT_EQ(test,
			policy_thermostat_budget(300, 2 * NSEC_PER_SEC, 2000000,
						 NSEC_PER_SEC),
			50 * NSEC_PER_MSEC);
	KUNIT_EXPECT_EQ(test,
			policy_thermostat_budget(300, 2 * NSEC_PER_SEC, 20000000,
						 NSEC_PER_SEC),
			0);
	KUNIT_EXPECT_EQ(test, policy_thermostat_budget(300, 1, 0, 0), 0);
	/* Less time than before. */
	KUNIT_EXPECT_EQ(test, policy_thermostat_budget(300, -1ULL, 0, 1000), 0);
}

/* Choose what leaves of all regions, with a budget for all memory. */
static void thermostat_test_classify(struct thermostat_test *data, u64 budget)
{
	data->node.others.budget = budget;
	policy_thermostat_classify(&data->node, &data->from, &data->to,
				   THERMOSTAT_TEST_REGIONS, THERMOSTAT_TEST_REGIONS);
}

/* The coldest leave, as many as the budget allows. */
static void thermostat_test_coldest_leave(struct kunit *test)
{
	struct thermostat_test *data = test->priv;
	struct tiering_region *region;
	unsigned long rate = 1;

	/* 1 + 2 + 4 at 10 ns each. */
	thermostat_test_classify(data, 79);
	KUNIT_EXPECT_EQ(test, list_count_nodes(&data->to), 3);
	KUNIT_EXPECT_EQ(test, list_count_nodes(&data->from), 2);
	list_for_each_entry(region, &data->to, list) {
		KUNIT_EXPECT_EQ(test, region->rate, rate);
		rate *= 2;
	}
}

static void thermostat_test_no_budget(struct kunit *test)
{
	struct thermostat_test *data = test->priv;

	thermostat_test_classify(data, 0);
	KUNIT_EXPECT_TRUE(test, list_empty(&data->to));
	/* Memory that nobody uses needs no budget. */
	data->regions[0].rate = 0;
	thermostat_test_classify(data, 0);
	KUNIT_EXPECT_EQ(test, list_count_nodes(&data->to), 1);
}

/* A sample has the part of the budget that it is of memory. */
static void thermostat_test_part_of_budget(struct kunit *test)
{
	struct thermostat_test *data = test->priv;

	data->node.others.budget = 79 * 4;
	policy_thermostat_classify(&data->node, &data->from, &data->to,
				   THERMOSTAT_TEST_REGIONS, 4 * THERMOSTAT_TEST_REGIONS);
	KUNIT_EXPECT_EQ(test, list_count_nodes(&data->to), 3);
}

/* Each group has its own budget. */
static void thermostat_test_groups(struct kunit *test)
{
	struct thermostat_test *data = test->priv;

	/* Rates 16 and 2 belong to a group, and 1, 4 and 8 to the others. */
	data->regions[2].group = &data->group;
	data->regions[3].group = &data->group;
	data->group.budget = 180;
	thermostat_test_classify(data, 10);
	KUNIT_EXPECT_EQ(test, list_count_nodes(&data->to), 3);
	KUNIT_EXPECT_EQ(test, list_count_nodes(&data->from), 2);
	data->group.budget = 20;
	policy_thermostat_correct(&data->node, &data->to, &data->from);
	KUNIT_EXPECT_EQ(test, list_count_nodes(&data->to), 2);
	KUNIT_EXPECT_EQ(test, data->group.cost, 20);
	KUNIT_EXPECT_EQ(test, data->group.cold, 1);
	KUNIT_EXPECT_EQ(test, data->group.came_back, 1);
	KUNIT_EXPECT_EQ(test, data->node.others.cost, 10);
	KUNIT_EXPECT_EQ(test, data->node.others.came_back, 0);
}

static u64 thermostat_test_correct(struct thermostat_test *data, u64 budget)
{
	data->node.others.budget = budget;
	policy_thermostat_correct(&data->node, &data->from, &data->to);
	return data->node.others.cost;
}

/* What nobody visits stays in slow memory, whatever other memory costs there. */
static void thermostat_test_unused_stay(struct kunit *test)
{
	struct thermostat_test *data = test->priv;

	data->regions[0].rate = 0;
	KUNIT_EXPECT_EQ(test, thermostat_test_correct(data, 0), 0);
	KUNIT_EXPECT_EQ(test, list_count_nodes(&data->from), 1);
	data->node.others.cost = 1000;
	KUNIT_EXPECT_FALSE(test, policy_thermostat_comes_back(&data->node, &data->regions[0],
							      0));
	KUNIT_EXPECT_TRUE(test, policy_thermostat_comes_back(&data->node, &data->regions[1],
							     0));
	KUNIT_EXPECT_FALSE(test, policy_thermostat_comes_back(&data->node, &data->regions[1],
							      1000));
}

/* A group that rests has the budget of the time in which it was busy, by today's bound. */
static void thermostat_test_rest(struct kunit *test)
{
	struct thermostat_test *data = test->priv;
	struct policy_thermostat_group *group = &data->node.others;

	policy_thermostat_settings.slowdown_bp = 300;
	group->used = 2 * NSEC_PER_SEC;
	policy_thermostat_set_budget(group, NSEC_PER_SEC, 1);
	KUNIT_EXPECT_EQ(test, group->budget, 60 * NSEC_PER_MSEC);
	policy_thermostat_note_busy(group, NSEC_PER_SEC);
	group->used = 0;
	policy_thermostat_set_budget(group, NSEC_PER_SEC / 2, 1);
	KUNIT_EXPECT_EQ(test, group->budget, 60 * NSEC_PER_MSEC);
	policy_thermostat_settings.slowdown_bp = 100;
	policy_thermostat_set_budget(group, NSEC_PER_SEC, 2);
	KUNIT_EXPECT_EQ(test, group->budget, 10 * NSEC_PER_MSEC);
	policy_thermostat_note_busy(group, NSEC_PER_SEC);
	KUNIT_EXPECT_EQ(test, group->busy, 2 * NSEC_PER_SEC);
	/* It does a little. */
	group->used = NSEC_PER_SEC / 2000;
	policy_thermostat_set_budget(group, NSEC_PER_SEC, 1);
	policy_thermostat_note_busy(group, NSEC_PER_SEC);
	KUNIT_EXPECT_EQ(test, group->busy, 2 * NSEC_PER_SEC / 8 * 7);
	group->used = NSEC_PER_SEC;
	policy_thermostat_set_budget(group, NSEC_PER_SEC, 1);
	KUNIT_EXPECT_EQ(test, group->budget, 10 * NSEC_PER_MSEC);
}

/* The hottest come back, until the others are within the budget. */
static void thermostat_test_hottest_return(struct kunit *test)
{
	struct thermostat_test *data = test->priv;

	KUNIT_EXPECT_EQ(test, thermostat_test_correct(data, 310), 310);
	KUNIT_EXPECT_TRUE(test, list_empty(&data->to));
	KUNIT_EXPECT_EQ(test, thermostat_test_correct(data, 309), 150);
	KUNIT_EXPECT_EQ(test, list_count_nodes(&data->to), 1);
	KUNIT_EXPECT_EQ(test, thermostat_test_correct(data, 70), 70);
	KUNIT_EXPECT_EQ(test, list_count_nodes(&data->to), 2);
	KUNIT_EXPECT_EQ(test, thermostat_test_correct(data, 0), 0);
	KUNIT_EXPECT_TRUE(test, list_empty(&data->from));
}

static struct kunit_case thermostat_test_cases[] = {
	KUNIT_CASE(thermostat_test_budget),
	KUNIT_CASE(thermostat_test_coldest_leave),
	KUNIT_CASE(thermostat_test_no_budget),
	KUNIT_CASE(thermostat_test_part_of_budget),
	KUNIT_CASE(thermostat_test_groups),
	KUNIT_CASE(thermostat_test_hottest_return),
	KUNIT_CASE(thermostat_test_unused_stay),
	KUNIT_CASE(thermostat_test_rest),
	{}
};

static struct kunit_suite thermostat_test_suite = {
	.name = "tiering-thermostat",
	.init = thermostat_test_init,
	.exit = thermostat_test_exit,
	.test_cases = thermostat_test_cases,
};

kunit_test_suite(thermostat_test_suite);

#endif /* _MM_TIERING_POLICY_THERMOSTAT_KUNIT_H */
