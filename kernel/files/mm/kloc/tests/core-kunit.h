/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Contexts of files: tests of knodes, kmap, lists and decisions.
 */
#ifndef _MM_KLOC_CORE_KUNIT_H
#define _MM_KLOC_CORE_KUNIT_H

#include <kunit/test.h>
#include <linux/sizes.h>

struct core_test {
	struct kmap kmap;
	struct inode *inodes[100];
};

static int core_init(struct kunit *test)
{
	struct core_test *core = kunit_kzalloc(test, sizeof(*core), GFP_KERNEL);
	unsigned int i;

	KUNIT_ASSERT_NOT_NULL(test, core);
	xa_init(&core->kmap.knodes);
	INIT_LIST_HEAD(&core->kmap.cold);
	for (i = 0; i < ARRAY_SIZE(core->inodes); i++) {
		core->inodes[i] = kunit_kzalloc(test, sizeof(struct inode),
						GFP_KERNEL);
		KUNIT_ASSERT_NOT_NULL(test, core->inodes[i]);
		core->inodes[i]->i_mode = S_IFREG;
	}
	test->priv = core;
	return 0;
}

static void core_exit(struct kunit *test)
{
	struct core_test *core = test->priv;

	knode_kill_all(&core->kmap);
	knode_lists_flush(&core->kmap);
	xa_destroy(&core->kmap.knodes);
}

/* The knode of an inode, with the age and time that a table says. */
static struct knode *make(struct kunit *test, unsigned int number)
{
	struct core_test *core = test->priv;
	struct knode *knode;

	rcu_read_lock();
	knode = knode_make(&core->kmap, core->inodes[number], GFP_NOWAIT,
			   NUMA_NO_NODE);
	rcu_read_unlock();
	KUNIT_ASSERT_NOT_NULL(test, knode);
	return knode;
}

/* What is called under RCU. */
static bool touch(struct kmap *kmap, struct knode *knode)
{
	guard(rcu)();
	return knode_touch(kmap, knode);
}

static bool open(struct kmap *kmap, struct knode *knode)
{
	guard(rcu)();
	return knode_open(kmap, knode);
}

static bool close(struct kmap *kmap, struct knode *knode)
{
	guard(rcu)();
	return knode_close(kmap, knode);
}

static void deactivate(struct kmap *kmap, struct knode *knode)
{
	guard(rcu)();
	knode_deactivate(kmap, knode);
}

static bool has_mark(struct kmap *kmap, struct knode *knode, xa_mark_t mark)
{
	return xa_get_mark(&kmap->knodes, knode->id, mark);
}

static void knode_lives_with_its_inode(struct kunit *test)
{
	struct core_test *core = test->priv;
	struct knode *knode = make(test, 0);

	KUNIT_EXPECT_PTR_EQ(test, make(test, 0), knode);
	KUNIT_EXPECT_PTR_EQ(test, rcu_access_pointer(knode->inode),
			    core->inodes[0]);
	KUNIT_EXPECT_EQ(test, core->kmap.count, 1);

	KUNIT_ASSERT_TRUE(test, knode_tryget(knode));
	knode_kill(&core->kmap, core->inodes[0]);
	KUNIT_EXPECT_NULL(test, rcu_access_pointer(core->inodes[0]->i_knode));
	KUNIT_EXPECT_NULL(test, rcu_access_pointer(knode->inode));
	KUNIT_EXPECT_TRUE(test, knode->dead);
	KUNIT_EXPECT_TRUE(test, xa_empty(&core->kmap.knodes));
	KUNIT_EXPECT_EQ(test, core->kmap.count, 0);

	/* The inode has gone: the second call finds nothing. */
	knode_kill(&core->kmap, core->inodes[0]);
	knode_put(knode);
}

static void knode_of_an_inode_that_has_one(struct kunit *test)
{
	struct core_test *core = test->priv;
	struct knode *knode = make(test, 0);
	struct knode *second = knode_alloc(GFP_KERNEL, NUMA_NO_NODE);

	KUNIT_ASSERT_NOT_NULL(test, second);
	KUNIT_EXPECT_EQ(test, map_knode(second, core->inodes[0]), -EEXIST);
	KUNIT_EXPECT_PTR_EQ(test,
			    rcu_access_pointer(core->inodes[0]->i_knode), knode);
	knode_put(second);
}

static void dead_knode_stays_dead(struct kunit *test)
{
	struct core_test *core = test->priv;
	struct knode *knode = make(test, 0), *other;

	KUNIT_ASSERT_TRUE(test, knode_tryget(knode));
	knode_kill(&core->kmap, core->inodes[0]);
	other = make(test, 1);

	/* Whoever still has it does not touch the knode that has its number. */
	knode->id = other->id;
	touch(&core->kmap, knode);
	knode_lists_flush(&core->kmap);
	KUNIT_EXPECT_TRUE(test, list_empty(&knode->cold));
	kmap_set_fast(&core->kmap, knode, true);
	KUNIT_EXPECT_FALSE(test, has_mark(&core->kmap, other, KMAP_FAST));
	KUNIT_EXPECT_FALSE(test, has_mark(&core->kmap, other, KMAP_ACTIVE));
	knode_put(knode);
}

static void kill_all_leaves_nothing(struct kunit *test)
{
	struct core_test *core = test->priv;
	unsigned int i;

	for (i = 0; i < 40; i++)
		touch(&core->kmap, make(test, i));
	knode_kill_all(&core->kmap);
	KUNIT_EXPECT_TRUE(test, xa_empty(&core->kmap.knodes));
	for (i = 0; i < 40; i++)
		KUNIT_EXPECT_NULL(test,
				  rcu_access_pointer(core->inodes[i]->i_knode));
}

static void what_no_file_owns_is_in_use_for_good(struct kunit *test)
{
	struct core_test *core = test->priv;
	struct knode *knode;

	/* Mounted and unmounted, or looked at by a scan of all devices. */
	core->inodes[0]->i_mode = S_IFBLK;
	knode = make(test, 0);
	open(&core->kmap, knode);
	kmap_set_fast(&core->kmap, knode, true);
	close(&core->kmap, knode);
	knode_lists_flush(&core->kmap);
	KUNIT_EXPECT_TRUE(test, knode_inuse(knode));
	KUNIT_EXPECT_TRUE(test, list_empty(&core->kmap.cold));
}

static void openers_are_counted(struct kunit *test)
{
	struct core_test *core = test->priv;
	struct knode *knode = make(test, 0);

	KUNIT_EXPECT_FALSE(test, knode_inuse(knode));
	KUNIT_EXPECT_TRUE(test, open(&core->kmap, knode));
	KUNIT_EXPECT_FALSE(test, open(&core->kmap, knode));
	KUNIT_EXPECT_TRUE(test, knode_inuse(knode));
	KUNIT_EXPECT_FALSE(test, close(&core->kmap, knode));
	KUNIT_EXPECT_TRUE(test, knode_inuse(knode));

	KUNIT_EXPECT_TRUE(test, close(&core->kmap, knode));
	KUNIT_EXPECT_FALSE(test, knode_inuse(knode));

	/* A file that was not counted when it was opened. */
	KUNIT_EXPECT_FALSE(test, close(&core->kmap, knode));
	KUNIT_EXPECT_EQ(test, atomic_read(&knode->openers), 0);
}

static void marks_follow_inuse(struct kunit *test)
{
	struct core_test *core = test->priv;
	struct kmap *kmap = &core->kmap;
	struct knode *knode = make(test, 0);

	KUNIT_EXPECT_FALSE(test, has_mark(kmap, knode, KMAP_ACTIVE));
	touch(kmap, knode);
	knode_lists_flush(kmap);
	KUNIT_EXPECT_TRUE(test, has_mark(kmap, knode, KMAP_ACTIVE));
	deactivate(kmap, knode);
	kmap_age(kmap, 2);
	KUNIT_EXPECT_FALSE(test, has_mark(kmap, knode, KMAP_ACTIVE));
	touch(kmap, knode);
	knode_lists_flush(kmap);
	KUNIT_EXPECT_TRUE(test, has_mark(kmap, knode, KMAP_ACTIVE));
}

static void age_rises_until_inactive(struct kunit *test)
{
	struct core_test *core = test->priv;
	struct knode *idle = make(test, 0), *used = make(test, 1);

	touch(&core->kmap, idle);
	touch(&core->kmap, used);
	KUNIT_EXPECT_EQ(test, kmap_age(&core->kmap, 3), 0);
	KUNIT_EXPECT_EQ(test, kmap_age(&core->kmap, 3), 0);
	KUNIT_EXPECT_EQ(test, idle->age, 2);
	touch(&core->kmap, used);
	KUNIT_EXPECT_EQ(test, used->age, 0);

	KUNIT_EXPECT_EQ(test, kmap_age(&core->kmap, 3), 1);
	KUNIT_EXPECT_FALSE(test, knode_inuse(idle));
	KUNIT_EXPECT_TRUE(test, knode_inuse(used));
	KUNIT_EXPECT_TRUE(test, touch(&core->kmap, idle));
	KUNIT_EXPECT_EQ(test, idle->age, 0);
}

static void all_active_knodes_are_found(struct kunit *test)
{
	struct core_test *core = test->priv;
	unsigned int i;

	for (i = 0; i < 40; i++)
		touch(&core->kmap, make(test, i));
	/* Every third goes, every third of the others is closed. */
	for (i = 0; i < 39; i += 3) {
		knode_kill(&core->kmap, core->inodes[i]);
		deactivate(&core->kmap, make(test, i + 1));
	}
	KUNIT_EXPECT_EQ(test, kmap_age(&core->kmap, 1), 14);
	KUNIT_EXPECT_EQ(test, kmap_age(&core->kmap, 1), 0);
	KUNIT_EXPECT_EQ(test, core->kmap.count, 27);
}

static bool is_listed(const struct knode *knode)
{
	return test_bit(KNODE_LISTED, &knode->flags);
}

static void lists_save_lookups(struct kunit *test)
{
	struct core_test *core = test->priv;
	struct knode *knode = make(test, 0);
	unsigned long saved = knode_list_saved(), missed = knode_list_missed();
	unsigned int i;

	for (i = 0; i < 3; i++) {
		touch(&core->kmap, knode);
		deactivate(&core->kmap, knode);
	}
	knode_lists_flush(&core->kmap);
	/* The first change brought it to the list, and there was none to mark. */
	KUNIT_EXPECT_EQ(test, knode_list_saved(), saved + 6);
	KUNIT_EXPECT_EQ(test, knode_list_missed(), missed);

	touch(&core->kmap, knode);
	knode_lists_flush(&core->kmap);
	KUNIT_EXPECT_EQ(test, knode_list_missed(), missed + 1);
}

static void lists_are_bounded(struct kunit *test)
{
	struct core_test *core = test->priv;
	unsigned int i, listed = 0;

	migrate_disable();
	for (i = 0; i < 40; i++)
		touch(&core->kmap, make(test, i));
	migrate_enable();
	for (i = 0; i < 40; i++) {
		struct knode *knode = make(test, i);

		listed += is_listed(knode);
		/* The kmap knows those that had to make room. */
		KUNIT_EXPECT_NE(test, is_listed(knode),
				has_mark(&core->kmap, knode, KMAP_ACTIVE));
	}
	KUNIT_EXPECT_LE(test, listed, KNODE_LIST_SIZE);
	KUNIT_EXPECT_GT(test, listed, 0);

	knode_lists_flush(&core->kmap);
	for (i = 0; i < 40; i++)
		KUNIT_EXPECT_FALSE(test, is_listed(make(test, i)));
}

/* One that changes while it is on a list, whichever CPU's. */
static void lists_have_it_once(struct kunit *test)
{
	struct core_test *core = test->priv;
	struct knode *knode = make(test, 0);

	touch(&core->kmap, knode);
	KUNIT_EXPECT_EQ(test, refcount_read(&knode->refs), 2);
	deactivate(&core->kmap, knode);
	touch(&core->kmap, knode);
	KUNIT_EXPECT_EQ(test, refcount_read(&knode->refs), 2);
	knode_lists_flush(&core->kmap);
	KUNIT_EXPECT_EQ(test, refcount_read(&knode->refs), 1);
	KUNIT_EXPECT_TRUE(test, has_mark(&core->kmap, knode, KMAP_ACTIVE));

	/* And one that goes meanwhile. */
	deactivate(&core->kmap, knode);
	KUNIT_ASSERT_TRUE(test, knode_tryget(knode));
	knode_kill(&core->kmap, core->inodes[0]);
	knode_lists_flush(&core->kmap);
	KUNIT_EXPECT_EQ(test, refcount_read(&knode->refs), 1);
	KUNIT_EXPECT_TRUE(test, list_empty(&knode->cold));
	knode_put(knode);
}

/* What a file's knode must not have to be opened and closed the short way. */
static const enum knode_flag not_plain[] = {
	KNODE_DIRECTORY, KNODE_SYSTEM, KNODE_SLOW, KNODE_STREAM, KNODE_JUDGED,
	KNODE_AGED, KNODE_NOTED,
};

static void short_way_is_for_what_is_plain(struct kunit *test)
{
	struct core_test *core = test->priv;
	struct knode *knode = make(test, 0);
	unsigned int i;
	u8 heat;

	/* The kmap would not be told. */
	KUNIT_EXPECT_FALSE(test, knode_open_again(knode));
	open(&core->kmap, knode);
	heat = knode->heat;
	KUNIT_EXPECT_TRUE(test, knode_close_again(knode));
	KUNIT_EXPECT_FALSE(test, knode_inuse(knode));
	KUNIT_EXPECT_EQ(test, atomic_read(&knode->openers), 0);

	KUNIT_EXPECT_TRUE(test, knode_open_again(knode));
	KUNIT_EXPECT_TRUE(test, knode_inuse(knode));
	KUNIT_EXPECT_EQ(test, knode->heat, heat + 1);
	/* In use already: that does not make it hotter. */
	KUNIT_EXPECT_TRUE(test, knode_open_again(knode));
	KUNIT_EXPECT_EQ(test, knode->heat, heat + 1);
	KUNIT_EXPECT_EQ(test, atomic_read(&knode->openers), 2);
	/* It is not the last one. */
	KUNIT_EXPECT_FALSE(test, knode_close_again(knode));
	KUNIT_EXPECT_FALSE(test, close(&core->kmap, knode));

	for (i = 0; i < ARRAY_SIZE(not_plain); i++) {
		set_bit(not_plain[i], &knode->flags);
		KUNIT_EXPECT_FALSE(test, knode_open_again(knode));
		KUNIT_EXPECT_FALSE(test, knode_close_again(knode));
		clear_bit(not_plain[i], &knode->flags);
	}
	KUNIT_EXPECT_EQ(test, atomic_read(&knode->openers), 1);
	KUNIT_EXPECT_TRUE(test, knode_close_again(knode));
	/* Its heat has faded by now. */
	knode->used -= 2 * kloc_half_life_us / TICK_USEC;
	KUNIT_EXPECT_FALSE(test, knode_open_again(knode));
}

static void cpu_is_found(struct kunit *test)
{
	struct core_test *core = test->priv;
	struct knode *knode = make(test, 0);

	migrate_disable();
	touch(&core->kmap, knode);
	KUNIT_EXPECT_EQ(test, find_cpu(knode), smp_processor_id());
	migrate_enable();
}

static const struct {
	bool inuse;
	u8 age;
	u64 used;
} lru_knodes[] = {
	/* in the order in which they should come; what is not in use, in which it
	 * became so
	 */
	{ false, 0, 20 }, { false, 7, 10 }, { false, 0, 15 },
	{ true, 3, 50 }, { true, 2, 60 }, { true, 0, 30 }, { true, 0, 40 },
};

static void coldest_knodes_come_first(struct kunit *test)
{
	struct core_test *core = test->priv;
	unsigned int i, found, all = ARRAY_SIZE(lru_knodes);
	struct knode *coldest[ARRAY_SIZE(lru_knodes)];

	for (i = 0; i < all; i++) {
		struct knode *knode = make(test, i);

		if (lru_knodes[i].inuse)
			touch(&core->kmap, knode);
		knode->age = lru_knodes[i].age;
		knode->used = lru_knodes[i].used;
		kmap_set_fast(&core->kmap, knode, true);
	}
	/* This one has nothing in fast memory. */
	make(test, all);

	found = get_LRU_knodes(&core->kmap, coldest, all);
	KUNIT_ASSERT_EQ(test, found, all);
	for (i = 0; i < all; i++) {
		KUNIT_EXPECT_PTR_EQ(test, coldest[i], make(test, i));
		knode_put(coldest[i]);
	}

	/* What is used again goes to the end of those that are not in use. */
	touch(&core->kmap, make(test, 0));
	deactivate(&core->kmap, make(test, 0));
	found = get_LRU_knodes(&core->kmap, coldest, 1);
	KUNIT_ASSERT_EQ(test, found, 1);
	KUNIT_EXPECT_PTR_EQ(test, coldest[0], make(test, 1));
	knode_put(coldest[0]);

	/* But for one of which only a part has left. */
	kmap_set_coldest(&core->kmap, make(test, 0));
	found = get_LRU_knodes(&core->kmap, coldest, 1);
	KUNIT_ASSERT_EQ(test, found, 1);
	KUNIT_EXPECT_PTR_EQ(test, coldest[0], make(test, 0));
	knode_put(coldest[0]);
}

static void no_active_knode_is_passed_over_for_long(struct kunit *test)
{
	struct core_test *core = test->priv;
	struct knode *coldest = NULL, *last = NULL;
	unsigned int i;

	/* So many in use that one call does not look at all of them. */
	for (i = 0; i < ARRAY_SIZE(core->inodes); i++) {
		last = make(test, i);
		touch(&core->kmap, last);
		kmap_set_fast(&core->kmap, last, true);
	}
	last->age = 1;

	for (i = 0; i < 2; i++) {
		KUNIT_ASSERT_EQ(test, get_LRU_knodes(&core->kmap, &coldest, 1),
				1);
		knode_put(coldest);
		if (coldest == last)
			break;
	}
	KUNIT_EXPECT_PTR_EQ(test, coldest, last);
	/* It was seen by a call that began after the first knode. */
	KUNIT_EXPECT_EQ(test, i, 1);
}

static void cold_knodes_are_gone_over(struct kunit *test)
{
	struct core_test *core = test->priv;
	struct knode *last = NULL, *knodes[2];
	unsigned int i, found;

	for (i = 0; i < 5; i++)
		kmap_set_fast(&core->kmap, make(test, i), true);
	/* This one is in use. */
	touch(&core->kmap, make(test, 5));
	kmap_set_fast(&core->kmap, make(test, 5), true);

	for (i = 0; i < 5; i += found) {
		found = kmap_get_cold(&core->kmap, last, knodes, 2);
		KUNIT_ASSERT_EQ(test, found, min(5 - i, 2));
		KUNIT_EXPECT_PTR_EQ(test, knodes[0], make(test, i));
		last = knodes[found - 1];
		KUNIT_EXPECT_PTR_EQ(test, last, make(test, i + found - 1));
		knode_put(knodes[0]);
		if (found == 2)
			knode_put(knodes[1]);
	}
	KUNIT_EXPECT_EQ(test, kmap_get_cold(&core->kmap, last, knodes, 2), 0);

	/* One that is used meanwhile does not tell where to go on. */
	touch(&core->kmap, make(test, 0));
	KUNIT_EXPECT_EQ(test, kmap_get_cold(&core->kmap, make(test, 0), knodes, 2),
			0);
}

static void no_knode_is_fast(struct kunit *test)
{
	struct core_test *core = test->priv;
	struct knode *coldest[4];

	KUNIT_EXPECT_EQ(test, get_LRU_knodes(&core->kmap, coldest, 4), 0);
	make(test, 0);
	KUNIT_EXPECT_EQ(test, get_LRU_knodes(&core->kmap, coldest, 4), 0);
}

static const struct {
	struct {
		bool write;
		u64 pos;
		u64 count;
	} access[3];
	bool stream;
} streams[] = {
	{ { { true, 0, 10 }, { true, 10, 10 }, { true, 20, 10 } }, true },
	{ { { false, 0, 10 }, { false, 10, 10 }, { false, 20, 10 } }, true },
	{ { { true, 0, 10 }, { true, 0, 10 }, { true, 10, 20 } }, false },
	{ { { true, 0, 20 }, { true, 30, 10 }, { true, 40, 10 } }, false },
	{ { { true, 0, 10 }, { true, 10, 20 }, { false, 0, 10 } }, false },
	{ { { true, 0, 10 }, { true, 10, 20 }, { false, 30, 10 } }, false },
	{ { { true, 0, 10 }, { true, 10, 10 }, { true, 20, 9 } }, false },
	{ { { false, 5, 10 }, { false, 15, 10 }, { false, 25, 10 } }, false },
};

static void streams_are_told(struct kunit *test)
{
	unsigned int i, j;

	for (i = 0; i < ARRAY_SIZE(streams); i++) {
		struct kloc_stream stream = {};

		KUNIT_EXPECT_FALSE(test, kloc_stream_is_one(&stream, 0));
		for (j = 0; j < ARRAY_SIZE(streams[i].access); j++)
			kloc_stream_access(&stream, streams[i].access[j].write,
					   streams[i].access[j].pos,
					   streams[i].access[j].count);
		KUNIT_EXPECT_EQ_MSG(test, kloc_stream_is_one(&stream, 30),
				    streams[i].stream, "row %u", i);
	}
}

static void names_are_alike(struct kunit *test)
{
	u8 log = kloc_name_hash("000012.log", 10);

	KUNIT_EXPECT_EQ(test, kloc_name_hash("99.log", 6), log);
	KUNIT_EXPECT_NE(test, kloc_name_hash("000012.sst", 10), log);
	KUNIT_EXPECT_EQ(test, kloc_name_hash("seg-1", 5),
			kloc_name_hash("seg-2", 5));
	KUNIT_EXPECT_NE(test, kloc_name_hash("", 0), 0);
}

static void siblings_tell(struct kunit *test)
{
	struct kloc_history history = {};
	unsigned int i;

	KUNIT_EXPECT_FALSE(test, kloc_history_says_stream(&history, 7));
	kloc_history_add(&history, 7, true);
	KUNIT_EXPECT_FALSE(test, kloc_history_says_stream(&history, 7));
	kloc_history_add(&history, 7, true);
	KUNIT_EXPECT_TRUE(test, kloc_history_says_stream(&history, 7));
	KUNIT_EXPECT_FALSE(test, kloc_history_says_stream(&history, 8));

	for (i = 0; i < 9; i++)
		kloc_history_add(&history, 7, true);
	kloc_history_add(&history, 7, false);
	kloc_history_add(&history, 7, false);
	KUNIT_EXPECT_FALSE(test, kloc_history_says_stream(&history, 7));

	/* A ninth kind of name takes the place of another. */
	for (i = 1; i < 10; i++) {
		kloc_history_add(&history, i, true);
		kloc_history_add(&history, i, true);
	}
	KUNIT_EXPECT_TRUE(test, kloc_history_says_stream(&history, 9));
	KUNIT_EXPECT_FALSE(test, kloc_history_says_stream(&history, 1));
}

static const struct {
	unsigned long flags;
	bool inuse;
	u64 written;
	bool pressure;
	enum kloc_place place;
} places[] = {
	{ 0, true, 0, false, KLOC_FAST },
	{ 0, false, 0, false, KLOC_FAST },
	{ BIT(KNODE_STREAM), true, 0, false, KLOC_FAST },
	{ 0, true, 0, true, KLOC_FAST },
	{ 0, false, 0, true, KLOC_SLOW },
	{ BIT(KNODE_STREAM), true, 0, true, KLOC_SLOW },
	{ 0, true, 99, true, KLOC_FAST },
	{ 0, true, 100, true, KLOC_SLOW },
	{ BIT(KNODE_SYSTEM), false, 0, true, KLOC_FAST },
	{ BIT(KNODE_DIRECTORY), true, 0, true, KLOC_FAST },
};

static void pages_have_their_place(struct kunit *test)
{
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(places); i++) {
		struct knode knode = {
			.flags = places[i].flags |
				 (places[i].inuse ? BIT(KNODE_INUSE) : 0),
		};

		if (places[i].written)
			kloc_stream_access(&knode.stream, true, 0,
					   places[i].written);
		KUNIT_EXPECT_EQ_MSG(test,
				    kloc_place(&knode, places[i].pressure, 100),
				    places[i].place, "row %u", i);
	}
}

static const struct {
	u8 heat;
	unsigned int half_lives;
	u8 then;
} heats[] = {
	{ 0, 0, 1 }, { 1, 0, 2 }, { 4, 1, 3 }, { 4, 2, 2 }, { 4, 9, 1 },
	{ 255, 0, 255 },
};

static void heat_fades(struct kunit *test)
{
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(heats); i++)
		KUNIT_EXPECT_EQ_MSG(test,
				    kloc_heat(heats[i].heat,
					      (u64)kloc_half_life_us *
					      NSEC_PER_USEC *
					      heats[i].half_lives),
				    heats[i].then, "row %u", i);
}

static const struct {
	u8 heat;
	u16 ticks;
	u8 then;
} page_heats[] = {
	{ 0, 0, 0 }, { KLOC_USE, 0, KLOC_USE }, { KLOC_USE, 16, 15 },
	{ KLOC_USE, 128, 8 }, { 100, 64, 75 }, { 100, 256, 25 },
	{ 100, U16_MAX, 0 }, { U8_MAX, U16_MAX, 0 },
};

static void pages_cool_down(struct kunit *test)
{
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(page_heats); i++)
		KUNIT_EXPECT_EQ_MSG(test,
				    kloc_page_heat(page_heats[i].heat,
						   page_heats[i].ticks),
				    page_heats[i].then, "row %u", i);
}

static const struct {
	u8 heat;
	unsigned int level;
} page_levels[] = {
	{ 0, 0 }, { KLOC_USE / 2 - 1, 0 }, { KLOC_USE / 2, 1 }, { KLOC_USE, 1 },
	{ 2 * KLOC_USE - 1, 2 }, { 3 * KLOC_USE, 2 }, { 4 * KLOC_USE, 3 },
	{ U8_MAX, 5 },
};

static void levels_are_powers_of_two(struct kunit *test)
{
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(page_levels); i++)
		KUNIT_EXPECT_EQ_MSG(test, kloc_page_level(page_levels[i].heat),
				    page_levels[i].level, "row %u", i);
}

static const struct {
	unsigned long fast[KLOC_LEVELS];
	unsigned int level;
} demotions[] = {
	{ { 0 }, 0 },
	{ { 10, 70 }, 0 },
	{ { 9, 71 }, 1 },
	{ { 0, 0, 5 }, 2 },
	/* what is hot stays, though too little leaves */
	{ { 0, 0, 0, 0, 9 }, 2 },
	{ { 1, 1, 1, 0, 99 }, 2 },
};

static void demotion_takes_what_it_needs(struct kunit *test)
{
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(demotions); i++)
		KUNIT_EXPECT_EQ_MSG(test, kloc_demotion_level(demotions[i].fast),
				    demotions[i].level, "row %u", i);
}

static const struct {
	int pages;
	int uses;
	bool pays;
	int pages_left;
} trials[] = {
	{ 200, 400, true, 100 },
	{ 200, 399, false, 100 },
	{ 200, 0, false, 100 },
	/* too few to know better */
	{ 64, 128, true, 64 },
	{ 0, 0, true, 0 },
};

static void promotion_has_to_pay(struct kunit *test)
{
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(trials); i++) {
		struct kloc_trial trial = {
			.pages = ATOMIC_INIT(trials[i].pages),
			.uses = ATOMIC_INIT(trials[i].uses),
		};

		KUNIT_EXPECT_EQ_MSG(test, kloc_trial_pays(&trial),
				    trials[i].pays, "row %u", i);
		kloc_trial_forget(&trial);
		KUNIT_EXPECT_EQ_MSG(test, atomic_read(&trial.pages),
				    trials[i].pages_left, "row %u", i);
	}
}

static void what_stays_for_long_is_not_believed_in_for_long(struct kunit *test)
{
	struct kloc_trial trial = { .pages = ATOMIC_INIT(100) };

	kloc_trial_use(&trial, 3);
	KUNIT_EXPECT_EQ(test, atomic_read(&trial.uses), 3);
	/* However often its pages are used, that is no negative number. */
	atomic_set(&trial.uses, INT_MAX - 100);
	kloc_trial_use(&trial, 512);
	KUNIT_EXPECT_TRUE(test, kloc_trial_pays(&trial));
	/* As many pages that nobody uses as have paid, some times over, and it is. */
	kloc_trial_forget(&trial);
	KUNIT_EXPECT_TRUE(test, kloc_trial_pays(&trial));
	atomic_add(1000, &trial.pages);
	KUNIT_EXPECT_FALSE(test, kloc_trial_pays(&trial));
}

static void what_is_not_known_is_tried(struct kunit *test)
{
	struct kloc_trial trial;

	kloc_trial_begin(&trial, true);
	KUNIT_EXPECT_TRUE(test, kloc_trial_pays(&trial));
	kloc_trial_begin(&trial, false);
	KUNIT_EXPECT_FALSE(test, kloc_trial_pays(&trial));
}

/* Bytes used in each of three scans; uses of a page to come, after the last. */
static const struct {
	size_t bytes[3];
	unsigned long pages;
	unsigned long uses;
} densities[] = {
	{ { 0, 0, 0 }, 10, 0 },
	{ { 0, 0, 40 * PAGE_SIZE }, 10, 64 },
	{ { 40 * PAGE_SIZE, 40 * PAGE_SIZE, 40 * PAGE_SIZE }, 10, 140 },
	{ { 40 * PAGE_SIZE, 0, 0 }, 10, 32 },
	{ { 40 * PAGE_SIZE, 0, 0 }, 1000, 0 },
	/* an empty file */
	{ { 0, 0, 4 * PAGE_SIZE }, 0, 64 },
	{ { SZ_1G, SZ_1G, SZ_1G }, 1, U16_MAX * 64UL },
};

static void small_files_are_dense(struct kunit *test)
{
	unsigned long uses;
	unsigned int i, j;

	for (i = 0; i < ARRAY_SIZE(densities); i++) {
		struct kloc_stream stream = { };

		for (j = 0; j < 3; j++) {
			kloc_stream_use(&stream, densities[i].bytes[j]);
			uses = kloc_stream_scan(&stream, densities[i].pages);
		}
		KUNIT_EXPECT_EQ_MSG(test, uses, densities[i].uses, "row %u", i);
	}
}

static const struct {
	long room;
	long taken;
	u64 since;
	u64 look;
} looks[] = {
	{ 100, 0, 10, 3200 },
	{ 100, -5, 10, 3200 },
	{ 100, 10, 100, 500 },
	{ 100, 1, 1000, 3200 },
	{ 100, 100, 10, 100 },
	{ 0, 10, 10, 100 },
	{ -10, 10, 10, 100 },
};

static void looks_before_there_is_no_room(struct kunit *test)
{
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(looks); i++)
		KUNIT_EXPECT_EQ_MSG(test,
				    kloc_next_look(looks[i].room, looks[i].taken,
						   looks[i].since, 3200),
				    looks[i].look, "row %u", i);
}

/* With a reserve of 64 pages: a limit, what is used of it, and the room then. */
static const struct {
	unsigned long max;
	unsigned long used;
	long room;
} limited[] = {
	{ 6400, 0, 6400 },
	{ 6400, 6336, 64 },
	{ 6400, 6400, 0 },
	{ 6400, 6500, -100 },
	/* Eight pages are its part of the reserve. */
	{ 256, 248, 64 },
	{ 256, 252, 32 },
	{ 256, 256, 0 },
	{ 256, 300, -44 },
	/* Nothing may be there. */
	{ 0, 0, 0 },
	{ 0, 10, -10 },
};

static void limits_are_like_small_nodes(struct kunit *test)
{
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(limited); i++)
		KUNIT_EXPECT_EQ_MSG(test,
				    kloc_limited_room(limited[i].max,
						      limited[i].used, 64),
				    limited[i].room, "row %u", i);
}

static struct kunit_case core_cases[] = {
	KUNIT_CASE(knode_lives_with_its_inode),
	KUNIT_CASE(knode_of_an_inode_that_has_one),
	KUNIT_CASE(dead_knode_stays_dead),
	KUNIT_CASE(kill_all_leaves_nothing),
	KUNIT_CASE(openers_are_counted),
	KUNIT_CASE(what_no_file_owns_is_in_use_for_good),
	KUNIT_CASE(marks_follow_inuse),
	KUNIT_CASE(age_rises_until_inactive),
	KUNIT_CASE(all_active_knodes_are_found),
	KUNIT_CASE(lists_save_lookups),
	KUNIT_CASE(lists_are_bounded),
	KUNIT_CASE(lists_have_it_once),
	KUNIT_CASE(short_way_is_for_what_is_plain),
	KUNIT_CASE(cpu_is_found),
	KUNIT_CASE(coldest_knodes_come_first),
	KUNIT_CASE(no_active_knode_is_passed_over_for_long),
	KUNIT_CASE(cold_knodes_are_gone_over),
	KUNIT_CASE(no_knode_is_fast),
	KUNIT_CASE(streams_are_told),
	KUNIT_CASE(names_are_alike),
	KUNIT_CASE(siblings_tell),
	KUNIT_CASE(pages_have_their_place),
	KUNIT_CASE(heat_fades),
	KUNIT_CASE(pages_cool_down),
	KUNIT_CASE(levels_are_powers_of_two),
	KUNIT_CASE(demotion_takes_what_it_needs),
	KUNIT_CASE(promotion_has_to_pay),
	KUNIT_CASE(what_stays_for_long_is_not_believed_in_for_long),
	KUNIT_CASE(what_is_not_known_is_tried),
	KUNIT_CASE(small_files_are_dense),
	KUNIT_CASE(looks_before_there_is_no_room),
	KUNIT_CASE(limits_are_like_small_nodes),
	{}
};

static struct kunit_suite core_suite = {
	.name = "kloc",
	.init = core_init,
	.exit = core_exit,
	.test_cases = core_cases,
};

kunit_test_suite(core_suite);

#endif /* _MM_KLOC_CORE_KUNIT_H */
