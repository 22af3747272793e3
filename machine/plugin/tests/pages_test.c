// SPDX-License-Identifier: GPL-2.0
/*
 * The kind of a page is read correctly from each form of struct page.
 */
#include <stdlib.h>
#include <string.h>

#include "check.h"
#include "fake_guest.h"

static const char *kind_of(uint64_t frame)
{
	unsigned int kind = pages_kind(&guest.pages, frame << FRAME_SHIFT);

	return pages_kind_name(&guest.pages, kind);
}

static void tells_kinds_apart(void)
{
	guest_init();
	guest_page(100)->mapping = 0xffff888000123401;
	CHECK(!strcmp(kind_of(100), "anon"));
	guest_page(101)->mapping = 0xffff888000123403;			/* KSM */
	CHECK(!strcmp(kind_of(101), "anon"));
	guest_page(102)->mapping = 0xffff888000123400;
	CHECK(!strcmp(kind_of(102), "file"));
	guest_page(103)->mapping = 0xffff888000123400;
	guest_page(103)->flags = 1ULL << guest.layout.flag_swapbacked;
	CHECK(!strcmp(kind_of(103), "shmem"));
	guest_page(104)->page_type = 0xf2000000;
	CHECK(!strcmp(kind_of(104), "pagetable"));
	guest_page(105)->index = KLOC_MACHINE_TAG_STACK;
	CHECK(!strcmp(kind_of(105), "stack"));
	guest_page(106)->index = KLOC_MACHINE_TAG_SOCKET;
	CHECK(!strcmp(kind_of(106), "socket"));
	guest_page(107)->flags = 1ULL << guest.layout.flag_reserved;
	CHECK(!strcmp(kind_of(107), "kernel"));
	CHECK(!strcmp(kind_of(108), "other"));
	/* A page that is accessed is not free, even if it looks so. */
	guest_page(109)->references = 0;
	CHECK(!strcmp(kind_of(109), "other"));
	guest_page(110)->page_type = 0xf0000000;
	CHECK(!strcmp(kind_of(110), "other"));
	guest_free();
}

static void block_devices_have_pages_of_their_own(void)
{
	guest_init();
	guest_page(100)->mapping = guest_mapping(0, 0060600);
	CHECK(!strcmp(kind_of(100), "blockdev"));
	guest_page(101)->mapping = guest_mapping(1, 0100644);		/* a regular file */
	CHECK(!strcmp(kind_of(101), "file"));
	guest_page(102)->mapping = guest_mapping(2, 0120777);		/* symbolic link */
	CHECK(!strcmp(kind_of(102), "file"));
	guest_page(103)->mapping = 0xffffc90000000000;			/* not in memory */
	CHECK(!strcmp(kind_of(103), "file"));
	guest_page(104)->mapping = guest_mapping(3, 0060600);
	guest_page(104)->flags = 1ULL << guest.layout.flag_swapbacked;
	CHECK(!strcmp(kind_of(104), "shmem"));
	guest_free();
}

static void new_pages_are_what_they_were_asked_for(void)
{
	guest_init();
	guest_page(100)->references = 0;		/* being zeroed */
	guest_page(100)->index = KLOC_MACHINE_TAG_ANON;
	CHECK(!strcmp(kind_of(100), "anon"));
	guest_page(101)->index = KLOC_MACHINE_TAG_FILE;	/* being filled */
	CHECK(!strcmp(kind_of(101), "file"));
	guest_page(102)->index = KLOC_MACHINE_TAG_BLOCKDEV;
	CHECK(!strcmp(kind_of(102), "blockdev"));
	guest_page(104)->index = KLOC_MACHINE_TAG_SHMEM;
	CHECK(!strcmp(kind_of(104), "shmem"));
	guest_page(105)->private_data = KLOC_MACHINE_TAG_PAGETABLE;	/* a root table */
	CHECK(!strcmp(kind_of(105), "pagetable"));
	guest_cache(0, "dentry");
	guest_slab(106, 0);
	guest_page(106)->page_type = 0xffffffff;	/* not yet a slab page */
	guest_page(106)->index = KLOC_MACHINE_TAG_SLAB;
	CHECK(!strcmp(kind_of(106), "slab:dentry"));
	guest_page(107)->references = 0;		/* a slab's, freed since */
	guest_page(107)->index = KLOC_MACHINE_TAG_SLAB;
	CHECK(!strcmp(kind_of(107), "other"));
	/* An owner takes precedence. */
	guest_page(103)->index = KLOC_MACHINE_TAG_ANON;
	guest_page(103)->page_type = 0xf2000000;
	CHECK(!strcmp(kind_of(103), "pagetable"));
	guest_free();
}

static void what_is_frozen_is_not_free(void)
{
	guest_init();
	guest_page(100)->references = 0;
	CHECK(pages_state(&guest.pages, 100) == KIND_FREE);
	guest_page(100)->flags = 1;		/* locked: leaving the page cache */
	CHECK(pages_state(&guest.pages, 100) == KIND_OTHER);
	CHECK(pages_state(&guest.pages, 1ULL << 30) == KIND_OTHER);
	guest_free();
}

static void a_type_counts_before_what_else_the_words_hold(void)
{
	guest_init();
	guest_page(100)->page_type = 0xf2000001;
	guest_page(100)->mapping = 0xffff888000123401;
	CHECK(!strcmp(kind_of(100), "pagetable"));
	/* page_type shares its word with the map count, which is not a type. */
	guest_page(101)->page_type = 3;
	guest_page(101)->mapping = 0xffff888000123401;
	CHECK(!strcmp(kind_of(101), "anon"));
	guest_free();
}

static void slabs_have_their_caches_names(void)
{
	guest_init();
	guest_cache(0, "dentry");
	guest_cache(1, "kmalloc-64");
	guest_slab(100, 0);
	guest_slab(101, 1);
	CHECK(!strcmp(kind_of(100), "slab:dentry"));
	CHECK(!strcmp(kind_of(101), "slab:kmalloc-64"));
	CHECK(pages_kind(&guest.pages, 100 << FRAME_SHIFT) == KIND_SLAB);
	/* Another slab of the same cache has the same kind. */
	guest_slab(102, 0);
	CHECK(pages_kind(&guest.pages, 102 << FRAME_SHIFT) == KIND_SLAB);
	/* Another cache at the same address is found only after forgetting. */
	guest_cache(0, "inode_cache");
	CHECK(!strcmp(kind_of(100), "slab:dentry"));
	pages_forget_caches(&guest.pages);
	CHECK(!strcmp(kind_of(100), "slab:inode_cache"));
	guest_free();
}

static void tails_are_what_their_head_is(void)
{
	guest_init();
	guest_page(200)->mapping = 0xffff888000123401;
	guest_page(201)->head = guest_page_address(200) + 1;
	CHECK(!strcmp(kind_of(201), "anon"));
	guest_cache(0, "task_struct");
	guest_slab(204, 0);
	guest_page(207)->head = guest_page_address(204) + 1;
	CHECK(!strcmp(kind_of(207), "slab:task_struct"));
	guest_free();
}

static void nonsense_does_no_harm(void)
{
	guest_init();
	guest_page(100)->page_type = 0xf5000000;
	guest_page(100)->head = 0xdead000000000100;	/* no kmem_cache there */
	CHECK(!strcmp(kind_of(100), "slab:other"));
	guest_page(101)->head = 1;			/* a head outside the memmap */
	CHECK(!strcmp(kind_of(101), "other"));
	CHECK(!strcmp(kind_of(1ULL << 40), "other"));
	guest.layout.page_mapping = 1 << 20;
	CHECK(!pages_set_layout(&guest.pages, &guest.layout));
	CHECK(!strcmp(kind_of(100), "unknown"));
	guest_free();
}

struct totals {
	uint64_t frames[2][KINDS_MAX];
};

static void add(void *data, const struct ram_range *range, uint64_t physical,
		uint64_t count, unsigned int kind)
{
	struct totals *totals = data;

	(void)physical;
	totals->frames[range->tier][kind] += count;
}

static void walking_sees_every_frame_once(void)
{
	struct totals totals = { 0 };

	guest_init();
	guest_page(128)->page_type = 0xf0000000;
	guest_page(128)->private_data = 5;		/* a free block of 32 */
	guest_page(300)->references = 0;		/* on a per-CPU free list */
	guest_page(GUEST_FRAMES - 2)->page_type = 0xf0000000;
	guest_page(GUEST_FRAMES - 2)->private_data = 9;	/* a block beyond the range's end */
	pages_walk(&guest.pages, add, &totals);
	CHECK(totals.frames[0][KIND_FREE] == 33);
	CHECK(totals.frames[0][KIND_OTHER] == GUEST_FAST_FRAMES - 33);
	CHECK(totals.frames[1][KIND_FREE] == 2);
	CHECK(totals.frames[1][KIND_OTHER] == GUEST_FRAMES - GUEST_FAST_FRAMES - 2);
	guest_free();
}

void test_pages(void)
{
	tells_kinds_apart();
	block_devices_have_pages_of_their_own();
	new_pages_are_what_they_were_asked_for();
	what_is_frozen_is_not_free();
	a_type_counts_before_what_else_the_words_hold();
	slabs_have_their_caches_names();
	tails_are_what_their_head_is();
	nonsense_does_no_harm();
	walking_sees_every_frame_once();
}
