/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Contexts of files: tests of the lists of knodes.
 */
#ifndef _MM_KLOC_LISTS_KUNIT_H
#define _MM_KLOC_LISTS_KUNIT_H

#include <kunit/test.h>

#define LISTS_TEST_KNODES	100

struct lists_test {
	struct inode *inodes[LISTS_TEST_KNODES];
	struct knode *knodes[LISTS_TEST_KNODES];
};

/* Active knodes with pages in fast memory. */
static int lists_test_init(struct kunit *test)
{
	struct lists_test *lists = kunit_kzalloc(test, sizeof(*lists), GFP_KERNEL);
	unsigned int i;

	KUNIT_ASSERT_NOT_NULL(test, lists);
	test->priv = lists;
	for (i = 0; i < LISTS_TEST_KNODES; i++) {
		struct inode *inode = kunit_kzalloc(test, sizeof(*inode),
						    GFP_KERNEL);

		KUNIT_ASSERT_NOT_NULL(test, inode);
		inode->i_mode = S_IFREG;
		guard(rcu)();
		lists->inodes[i] = inode;
		lists->knodes[i] = knode_make(inode, GFP_NOWAIT, NUMA_NO_NODE);
		KUNIT_ASSERT_NOT_NULL(test, lists->knodes[i]);
		knode_set_fast(lists->knodes[i], 0, true);
		knode_touch(lists->knodes[i]);
	}
	return 0;
}

static void lists_test_exit(struct kunit *test)
{
	struct lists_test *lists = test->priv;
	unsigned int i;

	for (i = 0; i < LISTS_TEST_KNODES; i++)
		knode_kill(lists->inodes[i]);
}

static void lists_test_deactivate(struct knode *knode)
{
	guard(rcu)();
	knode_deactivate(knode);
}

static void lists_test_touch(struct knode *knode)
{
	guard(rcu)();
	knode_touch(knode);
}

static void lists_test_note_pages(struct knode *knode, unsigned int index)
{
	guard(rcu)();
	knode_set_fast(knode, index, true);
}

/* Age all knodes by a scan. */
static void lists_test_age(u8 inactive_age, u8 cold_age)
{
	struct knode_pass pass = { };

	while (knode_pass_age(&pass, inactive_age, cold_age))
		;
}

static void lists_test_collect(u8 age)
{
	struct knode_pass pass = { };

	while (knode_pass_collect(&pass, age))
		;
}

/* Take the coldest knode of a node, and drop the reference to it. */
static struct knode *lists_test_coldest_on(unsigned int index)
{
	struct knode *knode = NULL;

	if (get_LRU_knodes(index, &knode, 1))
		knode_put(knode);
	return knode;
}

static struct knode *lists_test_coldest(void)
{
	return lists_test_coldest_on(0);
}

static unsigned int lists_test_count_age(const struct lists_test *lists, u8 age)
{
	unsigned int i, count = 0;

	for (i = 0; i < LISTS_TEST_KNODES; i++)
		count += lists->knodes[i]->age == age;
	return count;
}

static void lists_test_use_makes_young(struct kunit *test)
{
	struct lists_test *lists = test->priv;
	struct knode *used = lists->knodes[0], *other = lists->knodes[1];

	lists_test_age(U8_MAX, U8_MAX);
	lists_test_age(U8_MAX, U8_MAX);
	KUNIT_EXPECT_EQ(test, used->age, 2);
	lists_test_touch(used);
	KUNIT_EXPECT_EQ(test, used->age, 0);
	lists_test_age(U8_MAX, U8_MAX);
	KUNIT_EXPECT_EQ(test, used->age, 1);
	KUNIT_EXPECT_EQ(test, other->age, 3);
}

static void lists_test_age_makes_inactive(struct kunit *test)
{
	struct lists_test *lists = test->priv;
	struct knode *used = lists->knodes[0], *other = lists->knodes[1];

	lists_test_age(2, 2);
	lists_test_touch(used);
	lists_test_age(2, 2);
	KUNIT_EXPECT_TRUE(test, knode_inuse(used));
	KUNIT_EXPECT_FALSE(test, knode_inuse(other));
}

/* A knode becomes cold once it is inactive and was unused for some scans. */
static void lists_test_cold_after_some_scans(struct kunit *test)
{
	struct lists_test *lists = test->priv;
	unsigned int i, scan;

	lists_test_deactivate(lists->knodes[7]);
	for (scan = 0; scan < 4; scan++) {
		KUNIT_EXPECT_NULL(test, lists_test_coldest());
		for (i = 0; i < LISTS_TEST_KNODES; i++)
			if (i != 7)
				lists_test_touch(lists->knodes[i]);
		lists_test_age(3, 3);
	}
	KUNIT_EXPECT_PTR_EQ(test, lists_test_coldest(), lists->knodes[7]);
	KUNIT_EXPECT_NULL(test, lists_test_coldest());
}

static void lists_test_history_shifts(struct kunit *test)
{
	struct lists_test *lists = test->priv;
	struct knode *used = lists->knodes[0], *other = lists->knodes[1];

	lists_test_age(U8_MAX, U8_MAX);
	lists_test_touch(used);
	KUNIT_EXPECT_EQ(test, used->history, 0x3);
	KUNIT_EXPECT_EQ(test, other->history, 0x2);
	lists_test_age(U8_MAX, U8_MAX);
	KUNIT_EXPECT_EQ(test, used->history, 0x6);
}

static void lists_test_collecting_does_not_wait(struct kunit *test)
{
	struct lists_test *lists = test->priv;

	lists_test_deactivate(lists->knodes[7]);
	lists_test_collect(1);
	KUNIT_EXPECT_NULL(test, lists_test_coldest());
	lists_test_collect(0);
	KUNIT_EXPECT_PTR_EQ(test, lists_test_coldest(), lists->knodes[7]);
	/* The pass ages no knode. */
	KUNIT_EXPECT_EQ(test, lists->knodes[0]->age, 0);
}

static void lists_test_longest_inactive_comes_first(struct kunit *test)
{
	struct lists_test *lists = test->priv;
	static const unsigned int order[] = { 41, 3, 99, 0 };
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(order); i++) {
		lists_test_deactivate(lists->knodes[order[i]]);
		lists_test_collect(0);
	}
	for (i = 0; i < ARRAY_SIZE(order); i++)
		KUNIT_EXPECT_PTR_EQ(test, lists_test_coldest(),
				    lists->knodes[order[i]]);
}

static void lists_test_used_again_is_not_cold(struct kunit *test)
{
	struct lists_test *lists = test->priv;

	lists_test_deactivate(lists->knodes[7]);
	lists_test_collect(0);
	lists_test_touch(lists->knodes[7]);
	KUNIT_EXPECT_TRUE(test, knode_is_listed(lists->knodes[7]));
	KUNIT_EXPECT_NULL(test, lists_test_coldest());
}

/* Knodes without pages in fast memory are on no cold list. */
static void lists_test_slow_is_on_no_list(struct kunit *test)
{
	struct lists_test *lists = test->priv;

	rcu_read_lock();
	knode_set_fast(lists->knodes[7], 0, false);
	rcu_read_unlock();
	lists_test_deactivate(lists->knodes[7]);
	lists_test_collect(0);
	KUNIT_EXPECT_EQ(test, lists->knodes[7]->list, KNODE_NO_LIST);
	KUNIT_EXPECT_NULL(test, lists_test_coldest());

	/* A page in fast memory lists the knode again. */
	rcu_read_lock();
	knode_set_fast(lists->knodes[7], 0, true);
	rcu_read_unlock();
	lists_test_collect(0);
	KUNIT_EXPECT_PTR_EQ(test, lists_test_coldest(), lists->knodes[7]);
}

/* A pass has bounded steps. */
static void lists_test_steps_are_bounded(struct kunit *test)
{
	struct lists_test *lists = test->priv;
	struct knode_pass pass = { };
	unsigned int i, cold = 0;

	KUNIT_EXPECT_TRUE(test, knode_pass_is_over(&pass));
	KUNIT_EXPECT_TRUE(test, knode_pass_age(&pass, U8_MAX, U8_MAX));
	KUNIT_EXPECT_FALSE(test, knode_pass_is_over(&pass));
	KUNIT_EXPECT_LE(test, lists_test_count_age(lists, 1), KNODE_LIST_LOOK);
	while (knode_pass_age(&pass, U8_MAX, U8_MAX))
		;
	KUNIT_EXPECT_TRUE(test, knode_pass_is_over(&pass));
	KUNIT_EXPECT_EQ(test, lists_test_count_age(lists, 1), LISTS_TEST_KNODES);

	for (i = 0; i < LISTS_TEST_KNODES; i++)
		lists_test_deactivate(lists->knodes[i]);
	KUNIT_EXPECT_TRUE(test, knode_pass_collect(&pass, 1));
	while (lists_test_coldest())
		cold++;
	KUNIT_EXPECT_LE(test, cold, KNODE_LIST_LOOK);
	while (knode_pass_collect(&pass, 1))
		;
	while (lists_test_coldest())
		cold++;
	KUNIT_EXPECT_EQ(test, cold, LISTS_TEST_KNODES);
}

/* A search for either of two nodes finds a knode with pages on both. */
static void lists_test_is_found_for_both_nodes(struct kunit *test)
{
	struct lists_test *lists = test->priv;
	struct knode *knode = lists->knodes[7];

	lists_test_note_pages(knode, 3);
	lists_test_deactivate(knode);
	lists_test_collect(0);
	KUNIT_EXPECT_PTR_EQ(test, lists_test_coldest_on(3), knode);
	KUNIT_EXPECT_NULL(test, lists_test_coldest_on(3));
	lists_test_touch(knode);
	lists_test_deactivate(knode);
	lists_test_collect(0);
	KUNIT_EXPECT_PTR_EQ(test, lists_test_coldest_on(0), knode);
	KUNIT_EXPECT_NULL(test, lists_test_coldest_on(3));
}

/* Taking cold knodes of one node keeps the order of another node's. */
static void lists_test_order_of_other_nodes(struct kunit *test)
{
	struct lists_test *lists = test->priv;
	unsigned int i;

	for (i = 0; i < 40; i++) {
		lists_test_deactivate(lists->knodes[i]);
		lists_test_collect(0);
	}
	KUNIT_EXPECT_NULL(test, lists_test_coldest_on(1));
	for (i = 0; i < 40; i++)
		KUNIT_EXPECT_PTR_EQ(test, lists_test_coldest(), lists->knodes[i]);
}

/* Knodes with pages on two nodes, and knodes with pages on one, take turns. */
static void lists_test_nodes_take_turns(struct kunit *test)
{
	struct lists_test *lists = test->priv;
	struct knode *knode;
	unsigned int i, both = 0;

	for (i = 0; i < 40; i++) {
		if (i % 2)
			lists_test_note_pages(lists->knodes[i], 1);
		lists_test_deactivate(lists->knodes[i]);
		lists_test_collect(0);
	}
	for (i = 0; i < 20; i++) {
		knode = lists_test_coldest();
		KUNIT_ASSERT_NOT_NULL(test, knode);
		both += knode_fast(knode, 1);
	}
	KUNIT_EXPECT_EQ(test, both, 10);
	/* A search for the other node finds the rest. */
	for (i = 0; lists_test_coldest_on(1); i++)
		;
	KUNIT_EXPECT_EQ(test, i, 10);
}

/* A search for a node finds a cold knode that gets a page there. */
static void lists_test_cold_gets_another_node(struct kunit *test)
{
	struct lists_test *lists = test->priv;

	lists_test_deactivate(lists->knodes[7]);
	lists_test_collect(0);
	lists_test_note_pages(lists->knodes[7], 1);
	lists_test_collect(0);
	KUNIT_EXPECT_PTR_EQ(test, lists_test_coldest_on(1), lists->knodes[7]);
}

static void lists_test_oldest_are_found(struct kunit *test)
{
	struct lists_test *lists = test->priv;
	struct knode *oldest[LISTS_TEST_KNODES];
	struct knode_pass pass = { };
	unsigned int i;

	lists->knodes[60]->age = 5;
	lists->knodes[61]->age = 9;
	lists->knodes[62]->age = 7;
	lists->knodes[63]->age = 3;
	KUNIT_ASSERT_EQ(test, knode_pass_find_aged(&pass, 0, 4, oldest,
						   LISTS_TEST_KNODES), 3);
	KUNIT_EXPECT_PTR_EQ(test, oldest[0], lists->knodes[61]);
	KUNIT_EXPECT_PTR_EQ(test, oldest[1], lists->knodes[62]);
	KUNIT_EXPECT_PTR_EQ(test, oldest[2], lists->knodes[60]);
	for (i = 0; i < 3; i++)
		knode_put(oldest[i]);
	pass = (struct knode_pass) { };
	KUNIT_EXPECT_EQ(test, knode_pass_find_aged(&pass, 0, 10, oldest,
						   LISTS_TEST_KNODES), 0);
	pass = (struct knode_pass) { };
	KUNIT_EXPECT_EQ(test, knode_pass_find_aged(&pass, 1, 4, oldest,
						   LISTS_TEST_KNODES), 0);
}

/* A pass finds each knode once, and checks a bounded number at a time. */
static void lists_test_each_is_found_once(struct kunit *test)
{
	struct lists_test *lists = test->priv;
	struct knode *found[40];
	struct knode_pass pass = { };
	unsigned int i, count, all = 0;

	do {
		count = knode_pass_find_aged(&pass, 0, 0, found, ARRAY_SIZE(found));
		KUNIT_ASSERT_LE(test, count, ARRAY_SIZE(found));
		for (i = 0; i < count; i++) {
			found[i]->history = U8_MAX;
			knode_put(found[i]);
		}
		all += count;
	} while (!knode_pass_is_over(&pass));
	KUNIT_EXPECT_EQ(test, all, LISTS_TEST_KNODES);
	for (i = 0; i < LISTS_TEST_KNODES; i++)
		KUNIT_EXPECT_EQ(test, lists->knodes[i]->history, U8_MAX);
}

static unsigned int lists_test_count_aged(unsigned int index)
{
	struct knode *found[LISTS_TEST_KNODES];
	struct knode_pass pass = { };
	unsigned int i, count;

	count = knode_pass_find_aged(&pass, index, 1, found, LISTS_TEST_KNODES);
	for (i = 0; i < count; i++)
		knode_put(found[i]);
	return count;
}

/* A stuck knode does not block others. */
static void lists_test_stuck_is_left_out(struct kunit *test)
{
	struct lists_test *lists = test->priv;
	unsigned int scan;

	lists_test_age(U8_MAX, U8_MAX);
	lists_test_note_pages(lists->knodes[7], 1);
	knode_set_stuck(lists->knodes[7], 0);
	KUNIT_EXPECT_EQ(test, lists_test_count_aged(0), LISTS_TEST_KNODES - 1);
	KUNIT_EXPECT_EQ(test, lists_test_count_aged(1), 1);
	/* Searches find it again after some scans, */
	for (scan = 0; scan < KNODE_STUCK_SCANS; scan++)
		lists_test_age(U8_MAX, U8_MAX);
	KUNIT_EXPECT_EQ(test, lists_test_count_aged(0), LISTS_TEST_KNODES);
	/* and after a use. */
	knode_set_stuck(lists->knodes[7], 0);
	lists_test_touch(lists->knodes[7]);
	KUNIT_EXPECT_FALSE(test, knode_is_stuck(lists->knodes[7], 0));
}

/* A stuck knode is not listed as cold. */
static void lists_test_stuck_is_not_cold(struct kunit *test)
{
	struct lists_test *lists = test->priv;
	unsigned int scan;

	lists_test_deactivate(lists->knodes[7]);
	knode_set_stuck(lists->knodes[7], 0);
	lists_test_collect(0);
	KUNIT_EXPECT_NULL(test, lists_test_coldest());
	/* Its pages on another node may be demoted. */
	lists_test_note_pages(lists->knodes[7], 1);
	lists_test_collect(0);
	KUNIT_EXPECT_PTR_EQ(test, lists_test_coldest_on(1), lists->knodes[7]);

	lists_test_deactivate(lists->knodes[8]);
	knode_set_stuck(lists->knodes[8], 0);
	for (scan = 0; scan < KNODE_STUCK_SCANS; scan++)
		lists_test_age(U8_MAX, U8_MAX);
	lists_test_collect(0);
	KUNIT_EXPECT_PTR_EQ(test, lists_test_coldest(), lists->knodes[8]);
}

/* A block device stays active and ages: no system call shows the uses of its pages. */
static void lists_test_block_devices_age(struct kunit *test)
{
	struct lists_test *lists = test->priv;
	struct knode *device = lists->knodes[5];

	set_bit(KNODE_BLOCKDEV, &device->flags);
	lists_test_age(2, 2);
	lists_test_age(2, 2);
	KUNIT_EXPECT_EQ(test, device->age, 2);
	KUNIT_EXPECT_TRUE(test, knode_inuse(device));
	KUNIT_EXPECT_FALSE(test, knode_inuse(lists->knodes[6]));
}

static struct kunit_case lists_test_cases[] = {
	KUNIT_CASE(lists_test_use_makes_young),
	KUNIT_CASE(lists_test_age_makes_inactive),
	KUNIT_CASE(lists_test_cold_after_some_scans),
	KUNIT_CASE(lists_test_history_shifts),
	KUNIT_CASE(lists_test_collecting_does_not_wait),
	KUNIT_CASE(lists_test_longest_inactive_comes_first),
	KUNIT_CASE(lists_test_used_again_is_not_cold),
	KUNIT_CASE(lists_test_slow_is_on_no_list),
	KUNIT_CASE(lists_test_steps_are_bounded),
	KUNIT_CASE(lists_test_is_found_for_both_nodes),
	KUNIT_CASE(lists_test_order_of_other_nodes),
	KUNIT_CASE(lists_test_nodes_take_turns),
	KUNIT_CASE(lists_test_cold_gets_another_node),
	KUNIT_CASE(lists_test_oldest_are_found),
	KUNIT_CASE(lists_test_each_is_found_once),
	KUNIT_CASE(lists_test_stuck_is_left_out),
	KUNIT_CASE(lists_test_stuck_is_not_cold),
	KUNIT_CASE(lists_test_block_devices_age),
	{}
};

static struct kunit_suite lists_test_suite = {
	.name = "kloc-lists",
	.init = lists_test_init,
	.exit = lists_test_exit,
	.test_cases = lists_test_cases,
};

kunit_test_suite(lists_test_suite);

#endif /* _MM_KLOC_LISTS_KUNIT_H */
