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

/* Knodes in use, with pages in fast memory. */
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

/* Take the coldest knode, and give up the reference to it. */
static struct knode *lists_test_coldest(void)
{
	struct knode *knode = NULL;

	if (get_LRU_knodes(0, &knode, 1))
		knode_put(knode);
	return knode;
}

static void lists_test_use_makes_young(struct kunit *test)
{
	struct lists_test *lists = test->priv;
	struct knode *used = lists->knodes[0], *other = lists->knodes[1];

	knode_lists_age(U8_MAX, U8_MAX);
	knode_lists_age(U8_MAX, U8_MAX);
	KUNIT_EXPECT_EQ(test, used->age, 2);
	lists_test_touch(used);
	KUNIT_EXPECT_EQ(test, used->age, 0);
	knode_lists_age(U8_MAX, U8_MAX);
	KUNIT_EXPECT_EQ(test, used->age, 1);
	KUNIT_EXPECT_EQ(test, other->age, 3);
}

static void lists_test_age_makes_inactive(struct kunit *test)
{
	struct lists_test *lists = test->priv;
	struct knode *used = lists->knodes[0], *other = lists->knodes[1];

	knode_lists_age(2, 2);
	lists_test_touch(used);
	knode_lists_age(2, 2);
	KUNIT_EXPECT_TRUE(test, knode_inuse(used));
	KUNIT_EXPECT_FALSE(test, knode_inuse(other));
}

/* What is inactive, and was not used for some scans, is cold, and not before. */
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
		KUNIT_EXPECT_EQ(test, knode_lists_age(3, 3), scan == 3);
	}
	KUNIT_EXPECT_PTR_EQ(test, lists_test_coldest(), lists->knodes[7]);
	KUNIT_EXPECT_NULL(test, lists_test_coldest());
}

static void lists_test_history_shifts(struct kunit *test)
{
	struct lists_test *lists = test->priv;
	struct knode *used = lists->knodes[0], *other = lists->knodes[1];

	knode_lists_age(U8_MAX, U8_MAX);
	lists_test_touch(used);
	KUNIT_EXPECT_EQ(test, used->history, 0x3);
	KUNIT_EXPECT_EQ(test, other->history, 0x2);
	knode_lists_age(U8_MAX, U8_MAX);
	KUNIT_EXPECT_EQ(test, used->history, 0x6);
}

static void lists_test_settling_does_not_wait(struct kunit *test)
{
	struct lists_test *lists = test->priv;

	lists_test_deactivate(lists->knodes[7]);
	knode_lists_settle(1);
	KUNIT_EXPECT_NULL(test, lists_test_coldest());
	knode_lists_settle(0);
	KUNIT_EXPECT_PTR_EQ(test, lists_test_coldest(), lists->knodes[7]);
	/* Nobody gets older by it. */
	KUNIT_EXPECT_EQ(test, lists->knodes[0]->age, 0);
}

static void lists_test_longest_inactive_comes_first(struct kunit *test)
{
	struct lists_test *lists = test->priv;
	static const unsigned int order[] = { 41, 3, 99, 0 };
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(order); i++) {
		lists_test_deactivate(lists->knodes[order[i]]);
		knode_lists_settle(0);
	}
	for (i = 0; i < ARRAY_SIZE(order); i++)
		KUNIT_EXPECT_PTR_EQ(test, lists_test_coldest(),
				    lists->knodes[order[i]]);
}

static void lists_test_used_again_is_not_cold(struct kunit *test)
{
	struct lists_test *lists = test->priv;

	lists_test_deactivate(lists->knodes[7]);
	knode_lists_settle(0);
	lists_test_touch(lists->knodes[7]);
	KUNIT_EXPECT_TRUE(test, knode_is_listed(lists->knodes[7]));
	KUNIT_EXPECT_NULL(test, lists_test_coldest());
}

/* What has nothing in fast memory is not in the way of what has. */
static void lists_test_slow_is_on_no_list(struct kunit *test)
{
	struct lists_test *lists = test->priv;

	rcu_read_lock();
	knode_set_fast(lists->knodes[7], 0, false);
	rcu_read_unlock();
	lists_test_deactivate(lists->knodes[7]);
	knode_lists_settle(0);
	KUNIT_EXPECT_EQ(test, lists->knodes[7]->list, KNODE_NO_LIST);
	KUNIT_EXPECT_NULL(test, lists_test_coldest());

	/* Until it gets a page there. */
	rcu_read_lock();
	knode_set_fast(lists->knodes[7], 0, true);
	rcu_read_unlock();
	knode_lists_settle(0);
	KUNIT_EXPECT_PTR_EQ(test, lists_test_coldest(), lists->knodes[7]);
}

/* One that has pages on two nodes is found for both. */
static void lists_test_other_nodes_are_looked_at(struct kunit *test)
{
	struct lists_test *lists = test->priv;
	struct knode *knode;

	rcu_read_lock();
	knode_set_fast(lists->knodes[7], 3, true);
	rcu_read_unlock();
	lists_test_deactivate(lists->knodes[6]);
	lists_test_deactivate(lists->knodes[7]);
	knode_lists_settle(0);
	KUNIT_ASSERT_EQ(test, get_LRU_knodes(3, &knode, 1), 1);
	KUNIT_EXPECT_PTR_EQ(test, knode, lists->knodes[7]);
	knode_put(knode);
	/* The other one has been put back. */
	KUNIT_EXPECT_PTR_EQ(test, lists_test_coldest(), lists->knodes[6]);
}

static void lists_test_oldest_in_use_are_found(struct kunit *test)
{
	struct lists_test *lists = test->priv;
	struct knode *oldest[3];
	unsigned int i;

	lists->knodes[60]->age = 5;
	lists->knodes[61]->age = 9;
	lists->knodes[62]->age = 7;
	lists->knodes[63]->age = 4;
	KUNIT_ASSERT_EQ(test, knode_get_aged(0, 4, oldest, 3), 3);
	KUNIT_EXPECT_PTR_EQ(test, oldest[0], lists->knodes[61]);
	KUNIT_EXPECT_PTR_EQ(test, oldest[1], lists->knodes[62]);
	KUNIT_EXPECT_PTR_EQ(test, oldest[2], lists->knodes[60]);
	for (i = 0; i < 3; i++)
		knode_put(oldest[i]);
	KUNIT_EXPECT_EQ(test, knode_get_aged(0, 10, oldest, 3), 0);
	KUNIT_EXPECT_EQ(test, knode_get_aged(1, 4, oldest, 3), 0);
}

static struct kunit_case lists_test_cases[] = {
	KUNIT_CASE(lists_test_use_makes_young),
	KUNIT_CASE(lists_test_age_makes_inactive),
	KUNIT_CASE(lists_test_cold_after_some_scans),
	KUNIT_CASE(lists_test_history_shifts),
	KUNIT_CASE(lists_test_settling_does_not_wait),
	KUNIT_CASE(lists_test_longest_inactive_comes_first),
	KUNIT_CASE(lists_test_used_again_is_not_cold),
	KUNIT_CASE(lists_test_slow_is_on_no_list),
	KUNIT_CASE(lists_test_other_nodes_are_looked_at),
	KUNIT_CASE(lists_test_oldest_in_use_are_found),
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
