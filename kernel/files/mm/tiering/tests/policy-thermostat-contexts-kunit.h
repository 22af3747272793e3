/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Policies of memory tiers: tests of which contexts leave and come back within the bound of
 * Thermostat.
 */
#ifndef _MM_TIERING_POLICY_THERMOSTAT_CONTEXTS_KUNIT_H
#define _MM_TIERING_POLICY_THERMOSTAT_CONTEXTS_KUNIT_H

#include <kunit/test.h>

#define CONTEXTS_TEST_COUNT	4

/*
 * Contexts of 100 pages with rates of 0, 10, 20 and 40, and a use that costs 10 ns. A copy of
 * a context costs 10 ns a second in a period of 100 s.
 */
struct contexts_test {
	struct policy_thermostat_settings settings;
	struct policy_thermostat_contexts contexts;
	struct knode knodes[CONTEXTS_TEST_COUNT];
};

static int contexts_test_init(struct kunit *test)
{
	static const unsigned long rates[CONTEXTS_TEST_COUNT] = { 0, 10, 20, 40 };
	struct contexts_test *data;
	int i;

	data = kvzalloc(sizeof(*data), GFP_KERNEL);
	if (!data)
		return -ENOMEM;
	for (i = 0; i < CONTEXTS_TEST_COUNT; i++) {
		set_bit(KNODE_FAST, &data->knodes[i].flags);
		data->contexts.looked[i] = (struct thermostat_context) {
			.knode = &data->knodes[i],
			.pages = 100,
			.rate = rates[i],
		};
	}
	data->contexts.count = CONTEXTS_TEST_COUNT;
	data->contexts.elapsed = 100 * NSEC_PER_SEC;
	data->settings = policy_thermostat_settings;
	policy_thermostat_settings.use_ns = 10;
	test->priv = data;
	return 0;
}

static void contexts_test_exit(struct kunit *test)
{
	struct contexts_test *data = test->priv;

	if (!data)
		return;
	policy_thermostat_settings = data->settings;
	kvfree(data);
}

/* Contexts leave up to the density of a region, as many as the budget allows. */
static void contexts_test_leave(struct kunit *test)
{
	struct contexts_test *data = test->priv;
	unsigned int next = 0;
	u64 left = 350;

	policy_thermostat_contexts_leave(&data->contexts, &next,
					 policy_thermostat_density(110, 100), &left);
	KUNIT_EXPECT_EQ(test, data->contexts.leave.count, 2);
	KUNIT_EXPECT_EQ(test, left, 230);
	/* They cost that from now on. */
	KUNIT_EXPECT_EQ(test, data->contexts.cost, 100);
	KUNIT_EXPECT_EQ(test, next, 2);
	/* The fourth does not fit. */
	policy_thermostat_contexts_leave(&data->contexts, &next, U64_MAX, &left);
	KUNIT_EXPECT_EQ(test, data->contexts.leave.count, 3);
	KUNIT_EXPECT_EQ(test, left, 20);
	KUNIT_EXPECT_PTR_EQ(test, thermostat_queue_next(&data->contexts.leave),
			    &data->knodes[0]);
	KUNIT_EXPECT_NOT_NULL(test, data->contexts.looked[3].knode);
}

/* A context without pages in fast memory does not leave. */
static void contexts_test_has_left(struct kunit *test)
{
	struct contexts_test *data = test->priv;
	unsigned int next = 0;
	u64 left = 1000;

	clear_bit(KNODE_FAST, &data->knodes[0].flags);
	policy_thermostat_contexts_leave(&data->contexts, &next, U64_MAX, &left);
	KUNIT_EXPECT_EQ(test, data->contexts.leave.count, CONTEXTS_TEST_COUNT - 1);
}

/*
 * The unused pages of a large file cost what they are used, and their copy nothing; they leave
 * until slow memory costs too much.
 */
static void contexts_test_large(struct kunit *test)
{
	struct contexts_test *data = test->priv;
	unsigned int next = 3;
	u64 left = 399;

	data->contexts.looked[3].pages = TIERING_REGION_PAGES + 1;
	policy_thermostat_contexts_leave(&data->contexts, &next, U64_MAX, &left);
	KUNIT_EXPECT_EQ(test, data->contexts.leave.count, 0);
	left = 401;
	thermostat_excess = 1;
	next = 3;
	policy_thermostat_contexts_leave(&data->contexts, &next, U64_MAX, &left);
	KUNIT_EXPECT_EQ(test, data->contexts.leave.count, 0);
	thermostat_excess = 0;
	next = 3;
	policy_thermostat_contexts_leave(&data->contexts, &next, U64_MAX, &left);
	KUNIT_EXPECT_EQ(test, data->contexts.leave.count, 1);
	KUNIT_EXPECT_EQ(test, left, 1);
}

/* As many pages come back as cost too much, and those that are used in most scans first. */
static void contexts_test_pages_return(struct kunit *test)
{
	struct contexts_test *data = test->priv;
	unsigned int pages = 0, i;

	data->contexts.count = 0;
	data->contexts.cost = 400;
	policy_thermostat_contexts_done(&data->contexts, 100, 100);
	for (i = 0; i < 1000; i++)
		pages += policy_thermostat_contexts_used(NULL, pfn_folio(i), 0xff);
	KUNIT_EXPECT_EQ(test, pages, 0);
	policy_thermostat_contexts_done(&data->contexts, 400, 300);
	for (i = 0; i < 1000; i++)
		pages += policy_thermostat_contexts_used(NULL, pfn_folio(i), BIT(0));
	KUNIT_EXPECT_GT(test, pages, 200);
	KUNIT_EXPECT_LT(test, pages, 300);
	pages = 0;
	for (i = 0; i < 1000; i++)
		pages += policy_thermostat_contexts_used(NULL, pfn_folio(i), 0xf);
	KUNIT_EXPECT_EQ(test, pages, 1000);
	policy_thermostat_contexts_done(&data->contexts, 0, 0);
}

/* The hottest in slow memory come back, until the cost is within the budget. */
static void contexts_test_return(struct kunit *test)
{
	struct contexts_test *data = test->priv;
	unsigned int next = CONTEXTS_TEST_COUNT;
	u64 excess = 500;
	int i;

	for (i = 0; i < CONTEXTS_TEST_COUNT; i++)
		data->contexts.looked[i].slow = data->contexts.looked[i].rate;
	data->contexts.cost = 700;
	/* A region in slow memory is hotter than all but the last. */
	policy_thermostat_contexts_return(&data->contexts, &next,
					  policy_thermostat_density(300, 100), &excess);
	KUNIT_EXPECT_EQ(test, data->contexts.back.count, 1);
	KUNIT_EXPECT_EQ(test, excess, 100);
	KUNIT_EXPECT_EQ(test, data->contexts.cost, 300);
	policy_thermostat_contexts_return(&data->contexts, &next, 0, &excess);
	KUNIT_EXPECT_EQ(test, data->contexts.back.count, 2);
	KUNIT_EXPECT_EQ(test, excess, 0);
	KUNIT_EXPECT_NOT_NULL(test, data->contexts.looked[1].knode);
}

/* A context that waits for a walk is not queued again. */
static void contexts_test_waiting(struct kunit *test)
{
	struct contexts_test *data = test->priv;
	unsigned int next = 0;
	u64 left = 1000;

	set_bit(KNODE_BOUND, &data->knodes[1].flags);
	policy_thermostat_contexts_leave(&data->contexts, &next, U64_MAX, &left);
	KUNIT_EXPECT_EQ(test, data->contexts.leave.count, CONTEXTS_TEST_COUNT - 1);
	KUNIT_EXPECT_EQ(test, left, 1000 - 10 * (20 + 40) - 3 * 10);
	KUNIT_EXPECT_TRUE(test, test_bit(KNODE_BOUND, &data->knodes[0].flags));
}

/* A rate is that since the last look, and the first look knows none. */
static void contexts_test_look(struct kunit *test)
{
	struct contexts_test *data = test->priv;
	struct knode *knode = &data->knodes[0];
	struct thermostat_context context;

	atomic_set(&knode->uses, 1000);
	KUNIT_EXPECT_FALSE(test, thermostat_look(&data->contexts, knode, &context));
	KUNIT_EXPECT_EQ(test, atomic_read(&knode->uses), 0);
	/* Ten seconds ago. */
	knode->looked = max_t(u32, jiffies - 10 * HZ, 1);
	atomic_set(&knode->uses, 1000);
	atomic_set(&knode->slow_uses, 100);
	KUNIT_EXPECT_TRUE(test, thermostat_look(&data->contexts, knode, &context));
	KUNIT_EXPECT_GT(test, context.rate, 95 * TIERING_USES_EACH);
	KUNIT_EXPECT_LE(test, context.rate, 100 * TIERING_USES_EACH);
	KUNIT_EXPECT_GT(test, context.slow, 9 * TIERING_USES_EACH);
	KUNIT_EXPECT_LE(test, context.slow, 10 * TIERING_USES_EACH);
	/* No use since then: half of the rate. */
	knode->looked = max_t(u32, jiffies - 10 * HZ, 1);
	KUNIT_EXPECT_TRUE(test, thermostat_look(&data->contexts, knode, &context));
	KUNIT_EXPECT_LE(test, context.rate, 50 * TIERING_USES_EACH);
	KUNIT_EXPECT_GT(test, context.rate, 47 * TIERING_USES_EACH);
	KUNIT_EXPECT_EQ(test, context.slow, 0);
	/* Nor is a rate known of a time in which programs rested. */
	data->contexts.rested = knode->looked + 1;
	KUNIT_EXPECT_FALSE(test, thermostat_look(&data->contexts, knode, &context));
	KUNIT_EXPECT_GT(test, knode->rate, 0);
}

/* What is on its way is in the cost until it has arrived. */
static void contexts_test_on_its_way(struct kunit *test)
{
	struct contexts_test *data = test->priv;
	struct policy_thermostat_contexts *c = &data->contexts;
	unsigned int next = 0;
	u64 left = 1000;

	c->counted = thermostat_counted();
	policy_thermostat_contexts_leave(c, &next, U64_MAX, &left);
	KUNIT_EXPECT_EQ(test, c->cost, 10 * (10 + 20 + 40));
	thermostat_measure(c);
	KUNIT_EXPECT_EQ(test, c->cost, 10 * (10 + 20 + 40));
	c->leave.count = 0;
	thermostat_measure(c);
	KUNIT_EXPECT_EQ(test, c->cost, 0);
}

/* A queue keeps its order, and drops what it has no room for. */
static void contexts_test_queue(struct kunit *test)
{
	struct contexts_test *data = test->priv;
	struct thermostat_queue *queue = &data->contexts.leave;
	struct thermostat_context context;
	int i;

	queue->first = THERMOSTAT_CONTEXTS - 1;
	for (i = 0; i <= THERMOSTAT_CONTEXTS; i++) {
		context.knode = &data->knodes[i % CONTEXTS_TEST_COUNT];
		thermostat_queue_add(queue, &context);
	}
	KUNIT_EXPECT_NOT_NULL(test, context.knode);
	for (i = 0; i < THERMOSTAT_CONTEXTS; i++)
		if (thermostat_queue_next(queue) != &data->knodes[i % CONTEXTS_TEST_COUNT])
			break;
	KUNIT_EXPECT_EQ(test, i, THERMOSTAT_CONTEXTS);
	KUNIT_EXPECT_NULL(test, thermostat_queue_next(queue));
}

static struct kunit_case contexts_test_cases[] = {
	KUNIT_CASE(contexts_test_leave),
	KUNIT_CASE(contexts_test_has_left),
	KUNIT_CASE(contexts_test_large),
	KUNIT_CASE(contexts_test_return),
	KUNIT_CASE(contexts_test_pages_return),
	KUNIT_CASE(contexts_test_waiting),
	KUNIT_CASE(contexts_test_look),
	KUNIT_CASE(contexts_test_on_its_way),
	KUNIT_CASE(contexts_test_queue),
	{}
};

static struct kunit_suite contexts_test_suite = {
	.name = "tiering-thermostat-contexts",
	.init = contexts_test_init,
	.exit = contexts_test_exit,
	.test_cases = contexts_test_cases,
};

kunit_test_suite(contexts_test_suite);

#endif /* _MM_TIERING_POLICY_THERMOSTAT_CONTEXTS_KUNIT_H */
