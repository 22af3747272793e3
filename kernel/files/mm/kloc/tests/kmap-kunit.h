/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Contexts of files: tests of the kmap.
 */
#ifndef _MM_KLOC_KMAP_KUNIT_H
#define _MM_KLOC_KMAP_KUNIT_H

#include <kunit/test.h>

static struct inode *kmap_test_inode(struct kunit *test)
{
	struct inode *inode = kunit_kzalloc(test, sizeof(*inode), GFP_KERNEL);

	KUNIT_ASSERT_NOT_NULL(test, inode);
	inode->i_mode = S_IFREG;
	guard(rcu)();
	KUNIT_ASSERT_NOT_NULL(test, knode_make(inode, GFP_NOWAIT, NUMA_NO_NODE));
	return inode;
}

static u32 kmap_test_id(const struct inode *inode)
{
	return ((__force struct knode *)inode->i_knode)->id;
}

/* The kmap stays compact beside a long-lived knode. */
static void kmap_test_ids_are_used_again(struct kunit *test)
{
	struct inode *kept = kmap_test_inode(test);
	u32 highest = 0;
	unsigned int i;

	for (i = 0; i < 1000; i++) {
		struct inode *inode = kmap_test_inode(test);

		highest = max(highest, kmap_test_id(inode));
		knode_kill(inode);
	}
	KUNIT_EXPECT_LE(test, highest, kmap_test_id(kept) + 1);
	knode_kill(kept);
}

static void kmap_test_iterates(struct kunit *test)
{
	struct inode *inodes[5];
	unsigned long id = 0;
	unsigned int i, count = 0;
	struct knode *knode;

	for (i = 0; i < ARRAY_SIZE(inodes); i++)
		inodes[i] = kmap_test_inode(test);
	while ((knode = knode_get_from(&id))) {
		count++;
		id++;
		knode_put(knode);
	}
	KUNIT_EXPECT_EQ(test, count, ARRAY_SIZE(inodes));
	for (i = 0; i < ARRAY_SIZE(inodes); i++)
		knode_kill(inodes[i]);
}

static void kmap_test_random_have_pages(struct kunit *test)
{
	struct inode *with = kmap_test_inode(test), *without = kmap_test_inode(test);
	struct knode *knodes[16];
	unsigned int i, count;

	rcu_read_lock();
	knode_set_fast((__force struct knode *)with->i_knode, 1, true);
	rcu_read_unlock();
	count = knode_get_random(1, knodes, ARRAY_SIZE(knodes));
	KUNIT_EXPECT_GT(test, count, 0);
	for (i = 0; i < count; i++) {
		KUNIT_EXPECT_EQ(test, knodes[i]->id, kmap_test_id(with));
		knode_put(knodes[i]);
	}
	KUNIT_EXPECT_EQ(test, knode_get_random(0, knodes, ARRAY_SIZE(knodes)), 0);
	knode_kill(with);
	knode_kill(without);
}

/* All knodes, listed or not, may have pages on a node that is added later. */
static void kmap_test_node_comes(struct kunit *test)
{
	struct inode *inodes[3];
	struct knode *knode;
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(inodes); i++) {
		inodes[i] = kmap_test_inode(test);
		knode_list_del((__force struct knode *)inodes[i]->i_knode);
	}
	knode_all_set_fast(2);
	for (i = 0; i < ARRAY_SIZE(inodes); i++) {
		knode = (__force struct knode *)inodes[i]->i_knode;
		KUNIT_EXPECT_EQ(test, knode_fast_nodes(knode), BIT(2));
		KUNIT_EXPECT_TRUE(test, knode_is_listed(knode));
		knode_kill(inodes[i]);
	}
}

static struct kunit_case kmap_test_cases[] = {
	KUNIT_CASE(kmap_test_ids_are_used_again),
	KUNIT_CASE(kmap_test_iterates),
	KUNIT_CASE(kmap_test_random_have_pages),
	KUNIT_CASE(kmap_test_node_comes),
	{}
};

static struct kunit_suite kmap_test_suite = {
	.name = "kloc-kmap",
	.test_cases = kmap_test_cases,
};

kunit_test_suite(kmap_test_suite);

#endif /* _MM_KLOC_KMAP_KUNIT_H */
