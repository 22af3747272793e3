/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Policies of memory tiers: tests of the placement of new pages.
 */
#ifndef _MM_TIERING_PLACE_KUNIT_H
#define _MM_TIERING_PLACE_KUNIT_H

#include <kunit/test.h>
#include <linux/pagemap.h>

/* The first tries do not use reserves, and do not wake kswapd. */
static void place_test_tries_take_what_is_free(struct kunit *test)
{
	KUNIT_EXPECT_FALSE(test, tiering_free_only(GFP_ATOMIC) &
			   (__GFP_HIGH | __GFP_RECLAIM));
	KUNIT_EXPECT_FALSE(test, tiering_free_only(GFP_KERNEL | __GFP_NOFAIL) &
			   (__GFP_RECLAIM | __GFP_NOFAIL));
	KUNIT_EXPECT_TRUE(test, tiering_free_only(GFP_NOWAIT) & __GFP_NOMEMALLOC);
}

/* What an application says of a file counts more than how it reads. */
static void place_test_noreuse_has_a_class(struct kunit *test)
{
	struct file *file = kunit_kzalloc(test, sizeof(*file), GFP_KERNEL);
	DEFINE_READAHEAD(ractl, file, NULL, NULL, 0);

	KUNIT_ASSERT_NOT_NULL(test, file);
	KUNIT_EXPECT_EQ(test, readahead_class(&ractl), RA_CLASS_OTHER);
	file->f_mode = FMODE_NOREUSE;
	ractl._class = RA_CLASS_START;
	KUNIT_EXPECT_EQ(test, readahead_class(&ractl), RA_CLASS_ONCE);
	ractl._class = RA_CLASS_STREAM;
	KUNIT_EXPECT_EQ(test, readahead_class(&ractl), RA_CLASS_ONCE);
	file->f_mode = 0;
	KUNIT_EXPECT_EQ(test, readahead_class(&ractl), RA_CLASS_STREAM);
}

static bool place_test_places(const struct tiering_policy *policy,
			      const struct address_space *mapping)
{
	struct tiering_alloc alloc = { };

	return tiering_set_kind(policy, mapping, &alloc);
}

/* A policy without contexts places the page cache that would have a context. */
static void place_test_places_files(struct kunit *test)
{
	struct tiering_policy flat = { .needs = TIERING_FILES };
	struct tiering_policy kloc = { .needs = TIERING_FILES | TIERING_KNODES };
	struct super_block *sb = kunit_kzalloc(test, sizeof(*sb), GFP_KERNEL);
	struct inode *inode = kunit_kzalloc(test, sizeof(*inode), GFP_KERNEL);
	const struct address_space_operations ops = {
		.migrate_folio = filemap_migrate_folio,
	};

	KUNIT_ASSERT_NOT_NULL(test, sb);
	KUNIT_ASSERT_NOT_NULL(test, inode);
	inode->i_sb = sb;
	inode->i_mode = S_IFREG;
	inode->i_mapping = &inode->i_data;
	inode->i_data.host = inode;
	inode->i_data.a_ops = &ops;
	KUNIT_EXPECT_TRUE(test, place_test_places(&flat, inode->i_mapping));
	KUNIT_EXPECT_FALSE(test, place_test_places(&kloc, inode->i_mapping));
	/* The mount of shared anonymous memory, and others without files. */
	sb->s_flags = SB_KERNMOUNT;
	KUNIT_EXPECT_FALSE(test, place_test_places(&flat, inode->i_mapping));
}

static struct kunit_case place_test_cases[] = {
	KUNIT_CASE(place_test_tries_take_what_is_free),
	KUNIT_CASE(place_test_noreuse_has_a_class),
	KUNIT_CASE(place_test_places_files),
	{}
};

static struct kunit_suite place_test_suite = {
	.name = "tiering-place",
	.test_cases = place_test_cases,
};

kunit_test_suite(place_test_suite);

#endif /* _MM_TIERING_PLACE_KUNIT_H */
