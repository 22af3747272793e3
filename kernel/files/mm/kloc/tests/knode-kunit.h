/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Contexts of files: tests of the life of a knode.
 */
#ifndef _MM_KLOC_KNODE_KUNIT_H
#define _MM_KLOC_KNODE_KUNIT_H

#include <kunit/test.h>

/* An inode with @pages pages, and its knode. */
static struct inode *knode_test_inode(struct kunit *test, unsigned long pages)
{
	struct inode *inode = kunit_kzalloc(test, sizeof(*inode), GFP_KERNEL);

	KUNIT_ASSERT_NOT_NULL(test, inode);
	inode->i_mode = S_IFREG;
	inode->i_mapping = &inode->i_data;
	inode->i_data.nrpages = pages;
	guard(rcu)();
	KUNIT_ASSERT_NOT_NULL(test, knode_make(inode, GFP_NOWAIT, NUMA_NO_NODE));
	return inode;
}

static struct knode *knode_test_of(const struct inode *inode)
{
	return (__force struct knode *)inode->i_knode;
}

static void knode_test_lives_with_its_inode(struct kunit *test)
{
	struct inode *inode = knode_test_inode(test, 0);
	struct knode *knode = knode_test_of(inode);
	unsigned long count = knode_count();

	KUNIT_EXPECT_PTR_EQ(test, (__force struct inode *)knode->inode, inode);
	KUNIT_EXPECT_PTR_EQ(test, xa_load(&knode_kmap, knode->id), knode);
	KUNIT_ASSERT_TRUE(test, knode_tryget(knode));
	knode_kill(inode);
	KUNIT_EXPECT_NULL(test, knode_test_of(inode));
	KUNIT_EXPECT_NULL(test, (__force struct inode *)knode->inode);
	KUNIT_EXPECT_NULL(test, xa_load(&knode_kmap, knode->id));
	KUNIT_EXPECT_EQ(test, knode_count(), count - 1);

	/* The inode has no knode any more: knode_kill() does nothing. */
	knode_kill(inode);
	KUNIT_EXPECT_EQ(test, knode_count(), count - 1);
	knode_put(knode);
}

static void knode_test_is_made_once(struct kunit *test)
{
	struct inode *inode = knode_test_inode(test, 0);
	struct knode *knode = knode_test_of(inode);

	rcu_read_lock();
	KUNIT_EXPECT_PTR_EQ(test, knode_make(inode, GFP_NOWAIT, NUMA_NO_NODE),
			    knode);
	rcu_read_unlock();
	knode_kill(inode);
}

static void knode_test_dead_is_on_no_list(struct kunit *test)
{
	struct inode *inode = knode_test_inode(test, 0);
	struct knode *knode = knode_test_of(inode);

	KUNIT_ASSERT_TRUE(test, knode_tryget(knode));
	KUNIT_EXPECT_TRUE(test, knode_is_listed(knode));
	knode_kill(inode);
	KUNIT_EXPECT_EQ(test, knode->list, KNODE_NO_LIST);

	/* A holder of a reference may still use the knode. */
	rcu_read_lock();
	knode_set_fast(knode, 0, true);
	knode_touch(knode);
	knode_list_add_cold(knode);
	rcu_read_unlock();
	KUNIT_EXPECT_EQ(test, knode->list, KNODE_NO_LIST);
	knode_put(knode);
}

static void knode_test_active_and_inactive(struct kunit *test)
{
	struct inode *inode = knode_test_inode(test, 0);
	struct knode *knode = knode_test_of(inode);

	rcu_read_lock();
	KUNIT_EXPECT_FALSE(test, knode_inuse(knode));
	KUNIT_EXPECT_TRUE(test, knode_touch(knode));
	KUNIT_EXPECT_TRUE(test, knode_inuse(knode));
	KUNIT_EXPECT_FALSE(test, knode_touch(knode));
	knode_deactivate(knode);
	KUNIT_EXPECT_FALSE(test, knode_inuse(knode));
	KUNIT_EXPECT_TRUE(test, knode_touch(knode));
	rcu_read_unlock();
	knode_kill(inode);
}

/* A block device is active from the start: a file system may be mounted already. */
static void knode_test_block_device_is_active(struct kunit *test)
{
	struct inode *inode = kunit_kzalloc(test, sizeof(*inode), GFP_KERNEL);
	struct knode *knode;

	KUNIT_ASSERT_NOT_NULL(test, inode);
	inode->i_mode = S_IFBLK;
	rcu_read_lock();
	knode = knode_make(inode, GFP_NOWAIT, NUMA_NO_NODE);
	rcu_read_unlock();
	KUNIT_ASSERT_NOT_NULL(test, knode);
	KUNIT_EXPECT_TRUE(test, knode_inuse(knode));
	KUNIT_EXPECT_TRUE(test, test_bit(KNODE_BLOCKDEV, &knode->flags));
	KUNIT_EXPECT_TRUE(test, knode_is_listed(knode));
	knode_kill(inode);
}

/* Older pages of a file may be on any node. */
static void knode_test_adopts_pages(struct kunit *test)
{
	struct inode *with = knode_test_inode(test, 3);
	struct inode *without = knode_test_inode(test, 0);

	KUNIT_EXPECT_TRUE(test, knode_fast(knode_test_of(with), 0));
	KUNIT_EXPECT_TRUE(test, knode_fast(knode_test_of(with), 5));
	KUNIT_EXPECT_TRUE(test, test_bit(KNODE_SLOW, &knode_test_of(with)->flags));
	KUNIT_EXPECT_FALSE(test, knode_fast(knode_test_of(without), 0));
	KUNIT_EXPECT_FALSE(test, test_bit(KNODE_SLOW,
					  &knode_test_of(without)->flags));
	knode_kill(with);
	knode_kill(without);
}

static void knode_test_notes_nodes(struct kunit *test)
{
	struct inode *inode = knode_test_inode(test, 0);
	struct knode *knode = knode_test_of(inode);

	rcu_read_lock();
	knode_set_fast(knode, 2, true);
	KUNIT_EXPECT_TRUE(test, knode_fast(knode, 2));
	KUNIT_EXPECT_FALSE(test, knode_fast(knode, 1));
	KUNIT_EXPECT_EQ(test, knode_fast_nodes(knode), BIT(2));
	/* Nodes beyond KNODE_FAST_NODES share bits. */
	KUNIT_EXPECT_TRUE(test, knode_fast(knode, 2 + KNODE_FAST_NODES));
	knode_set_fast(knode, 2, false);
	KUNIT_EXPECT_EQ(test, knode_fast_nodes(knode), 0);
	rcu_read_unlock();
	knode_kill(inode);
}

static struct kunit_case knode_test_cases[] = {
	KUNIT_CASE(knode_test_lives_with_its_inode),
	KUNIT_CASE(knode_test_is_made_once),
	KUNIT_CASE(knode_test_dead_is_on_no_list),
	KUNIT_CASE(knode_test_active_and_inactive),
	KUNIT_CASE(knode_test_block_device_is_active),
	KUNIT_CASE(knode_test_adopts_pages),
	KUNIT_CASE(knode_test_notes_nodes),
	{}
};

static struct kunit_suite knode_test_suite = {
	.name = "kloc-knode",
	.test_cases = knode_test_cases,
};

kunit_test_suite(knode_test_suite);

#endif /* _MM_KLOC_KNODE_KUNIT_H */
