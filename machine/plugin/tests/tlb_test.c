// SPDX-License-Identifier: GPL-2.0
/*
 * TLBs keep, replace and drop entries as they should, and walks read the right tables.
 */
#include <string.h>

#include "check.h"
#include "tlb.h"

#define USER		0x7f0000000000ULL
#define KERNEL		0xffff888000000000ULL
#define HUGE_BYTES	(1ULL << TLB_HUGE_SHIFT)

static const struct tlb_config config = {
	.small = { .entries = 64, .ways = 4 },
	.huge = { .entries = 32, .ways = 4 },
	.second = { .entries = 1536, .ways = 12 },
};

static struct tlb tlb;

static void begin(void)
{
	tlb_free(&tlb);
	CHECK(tlb_init(&tlb, &config));
}

/* Access an address of space 1; pages lie in physical memory as they do in virtual. */
static enum tlb_result access_page(uint64_t address, unsigned int page_shift)
{
	uint64_t physical = address & 0xffffffffff;
	enum tlb_result result = tlb_find(&tlb, address, 1, physical);

	if (result == TLB_MISS)
		tlb_insert(&tlb, address, 1, physical, page_shift);
	return result;
}

/* Access pages in turn, ten times; return how many of the last accesses had this result. */
static unsigned int turn(unsigned int pages, unsigned int page_shift, enum tlb_result result)
{
	unsigned int count = 0;

	begin();
	for (int round = 0; round < 10; round++) {
		count = 0;
		for (uint64_t page = 0; page < pages; page++)
			count += access_page(USER + (page << page_shift) + page % 64 * 8,
					     page_shift) == result;
	}
	return count;
}

static void reach_of_each_level(void)
{
	CHECK(turn(64, FRAME_SHIFT, TLB_FIRST) == 64);
	CHECK(turn(128, FRAME_SHIFT, TLB_SECOND) == 128);
	CHECK(turn(1536, FRAME_SHIFT, TLB_SECOND) == 1536);
	CHECK(turn(3072, FRAME_SHIFT, TLB_MISS) == 3072);
	CHECK(turn(32, TLB_HUGE_SHIFT, TLB_FIRST) == 32);
	CHECK(turn(1536, TLB_HUGE_SHIFT, TLB_SECOND) == 1536);
	CHECK(turn(3072, TLB_HUGE_SHIFT, TLB_MISS) == 3072);
}

static void least_recently_used_page_goes(void)
{
	begin();
	/* Pages of one set of the first level: it has 16. */
	for (uint64_t page = 0; page < 4; page++)
		access_page(USER + page * 16 * FRAME_BYTES, FRAME_SHIFT);
	CHECK(access_page(USER, FRAME_SHIFT) == TLB_FIRST);
	CHECK(access_page(USER + 4 * 16 * FRAME_BYTES, FRAME_SHIFT) == TLB_MISS);
	CHECK(access_page(USER, FRAME_SHIFT) == TLB_FIRST);
	CHECK(access_page(USER + 16 * FRAME_BYTES, FRAME_SHIFT) == TLB_SECOND);
	CHECK(access_page(USER + 16 * FRAME_BYTES, FRAME_SHIFT) == TLB_FIRST);
}

static void huge_page_covers_two_mib(void)
{
	begin();
	CHECK(access_page(USER, TLB_HUGE_SHIFT) == TLB_MISS);
	CHECK(access_page(USER + HUGE_BYTES - 8, TLB_HUGE_SHIFT) == TLB_FIRST);
	CHECK(access_page(USER + HUGE_BYTES, TLB_HUGE_SHIFT) == TLB_MISS);
	/* So does each part of a page of 1 GiB. */
	CHECK(access_page(USER + (1ULL << 30), 30) == TLB_MISS);
	CHECK(access_page(USER + (1ULL << 30) + HUGE_BYTES - 8, 30) == TLB_FIRST);
	CHECK(access_page(USER + (1ULL << 30) + HUGE_BYTES, 30) == TLB_MISS);
}

static void spaces_share_the_kernel_only(void)
{
	begin();
	tlb_insert(&tlb, USER, 1, 0x1000, FRAME_SHIFT);
	tlb_insert(&tlb, KERNEL, 1, 0x2000, FRAME_SHIFT);
	CHECK(tlb_find(&tlb, USER, 1, 0x1008) == TLB_FIRST);
	CHECK(tlb_find(&tlb, USER, 2, 0x1008) == TLB_MISS);
	CHECK(tlb_find(&tlb, KERNEL, 2, 0x2008) == TLB_FIRST);
}

static void stale_entry_is_not_found(void)
{
	begin();
	tlb_insert(&tlb, USER, 1, 0x1000, FRAME_SHIFT);
	CHECK(tlb_find(&tlb, USER, 1, 0x5000) == TLB_MISS);
	tlb_insert(&tlb, USER, 1, 0x5000, FRAME_SHIFT);
	CHECK(tlb_find(&tlb, USER, 1, 0x5000) == TLB_FIRST);
	/* It has replaced the old entry, and did not push out another. */
	for (uint64_t page = 1; page < 4; page++)
		tlb_insert(&tlb, USER + page * 16 * FRAME_BYTES, 1, 0, FRAME_SHIFT);
	CHECK(tlb_find(&tlb, USER, 1, 0x5000) == TLB_FIRST);
}

static void flush_of_a_page_leaves_others(void)
{
	begin();
	for (uint64_t page = 0; page < 5; page++)
		access_page(USER + page * 16 * FRAME_BYTES, FRAME_SHIFT);
	access_page(USER + HUGE_BYTES, TLB_HUGE_SHIFT);
	tlb_flush_page(&tlb, USER, 1);
	tlb_flush_page(&tlb, USER + 4 * 16 * FRAME_BYTES + 8, 1);
	tlb_flush_page(&tlb, USER + HUGE_BYTES + 12345, 1);
	CHECK(access_page(USER, FRAME_SHIFT) == TLB_MISS);
	for (uint64_t page = 1; page < 4; page++)
		CHECK(access_page(USER + page * 16 * FRAME_BYTES, FRAME_SHIFT) == TLB_FIRST);
	CHECK(access_page(USER + 4 * 16 * FRAME_BYTES, FRAME_SHIFT) == TLB_MISS);
	CHECK(access_page(USER + HUGE_BYTES, TLB_HUGE_SHIFT) == TLB_MISS);
}

static void flush_of_a_space_leaves_others_and_the_kernel(void)
{
	begin();
	for (uint64_t page = 0; page < 400; page++) {
		tlb_insert(&tlb, USER + page * FRAME_BYTES, 1, 0, FRAME_SHIFT);
		tlb_insert(&tlb, USER + page * HUGE_BYTES, 1, 0, TLB_HUGE_SHIFT);
		tlb_insert(&tlb, USER + page * FRAME_BYTES, 2, 0, FRAME_SHIFT);
	}
	tlb_insert(&tlb, KERNEL, 1, 0, TLB_HUGE_SHIFT);
	tlb_flush_space(&tlb, 1);
	for (uint64_t page = 0; page < 400; page++) {
		CHECK(tlb_find(&tlb, USER + page * FRAME_BYTES, 1, 0) == TLB_MISS);
		CHECK(tlb_find(&tlb, USER + page * HUGE_BYTES, 1, 0) == TLB_MISS);
	}
	CHECK(tlb_find(&tlb, USER + 399 * FRAME_BYTES, 2, 0) == TLB_FIRST);
	CHECK(tlb_find(&tlb, KERNEL, 1, 0) == TLB_FIRST);
	tlb_flush_all(&tlb);
	CHECK(tlb_find(&tlb, USER + 399 * FRAME_BYTES, 2, 0) == TLB_MISS);
	CHECK(tlb_find(&tlb, KERNEL, 1, 0) == TLB_MISS);
}

/* Physical memory of the page tables: 16 frames. */
#define TABLES	16
static uint64_t memory[TABLES][512];

static uint64_t *at(void *context, uint64_t physical)
{
	CHECK(context == memory);
	if (physical >= sizeof(memory))
		return NULL;
	return &memory[physical / FRAME_BYTES][physical % FRAME_BYTES / 8];
}

/*
 * Map, below a root in frame 1:
 *	USER			frame 0x123, by tables in frames 2, 3, 4
 *	USER + 2 MiB		a page of 2 MiB at 0x40000000, by 2, 3
 *	USER + 1 GiB		a page of 1 GiB at 0x80000000, by 2
 *	USER + 2 GiB		a table that is not in memory
 */
static void build_tables(void)
{
	memset(memory, 0, sizeof(memory));
	memory[1][USER >> 39] = 0x2007;
	memory[2][0] = 0x3007;
	memory[2][1] = 0x80000087;
	memory[2][2] = 0x7000000000007;
	memory[3][0] = 0x4007;
	memory[3][1] = 0x40000087;
	memory[4][5] = 0x8000000000123027;
}

static void walk_finds_the_entries_and_marks_them(void)
{
	struct tlb_walk walk;

	build_tables();
	CHECK(tlb_walk(&walk, 0x1018, USER + 0x5678, at, memory));
	CHECK(walk.levels == 4);
	CHECK(walk.page_shift == 12);
	CHECK(walk.physical == 0x123678);
	CHECK(walk.entries[0] == 0x1000 + (USER >> 39) * 8);
	CHECK(walk.entries[1] == 0x2000);
	CHECK(walk.entries[2] == 0x3000);
	CHECK(walk.entries[3] == 0x4028);
	CHECK(memory[1][USER >> 39] == 0x2027);
	CHECK(memory[3][0] == 0x4027);
	CHECK(memory[3][1] == 0x40000087);
	CHECK(memory[4][5] == 0x8000000000123027);
}

static void walk_ends_at_larger_pages(void)
{
	struct tlb_walk walk;

	build_tables();
	CHECK(tlb_walk(&walk, 0x1000, USER + HUGE_BYTES + 0x12345, at, memory));
	CHECK(walk.levels == 3);
	CHECK(walk.page_shift == 21);
	CHECK(walk.physical == 0x40012345);
	CHECK(memory[3][1] == 0x400000a7);
	CHECK(tlb_walk(&walk, 0x1000, USER + (1ULL << 30) + 0x1234567, at, memory));
	CHECK(walk.levels == 2);
	CHECK(walk.page_shift == 30);
	CHECK(walk.physical == 0x81234567);
}

static void walk_fails_where_nothing_is_mapped(void)
{
	struct tlb_walk walk;

	build_tables();
	CHECK(!tlb_walk(&walk, 0x1000, USER, at, memory));
	CHECK(!tlb_walk(&walk, 0x1000, 0x1000, at, memory));
	CHECK(!tlb_walk(&walk, 0x1000, USER + (2ULL << 30), at, memory));
}

/* Return the first entry that is read to translate address, in space 1. */
static unsigned int first_read(uint64_t address)
{
	struct tlb_walk walk;

	CHECK(tlb_walk(&walk, 0x1000, address, at, memory));
	tlb_skip(&tlb, &walk, address, 1);
	return walk.first;
}

static void directories_are_read_once(void)
{
	begin();
	build_tables();
	CHECK(first_read(USER + 0x5000) == 0);
	CHECK(first_read(USER + 0x5008) == 3);
	/* The huge page shares two of the three directories, the largest one. */
	CHECK(first_read(USER + HUGE_BYTES) == 2);
	CHECK(first_read(USER + (1ULL << 30)) == 1);
	tlb_flush_page(&tlb, KERNEL, 1);
	CHECK(first_read(USER + 0x5000) == 0);
	tlb_flush_space(&tlb, 2);
	CHECK(first_read(USER + 0x5000) == 3);
	tlb_flush_space(&tlb, 1);
	CHECK(first_read(USER + 0x5000) == 0);
}

static void stale_directory_is_read_again(void)
{
	begin();
	build_tables();
	first_read(USER + 0x5000);
	/* The page table has moved to frame 6. */
	memcpy(memory[6], memory[4], FRAME_BYTES);
	memory[3][0] = 0x6007;
	CHECK(first_read(USER + 0x5000) == 2);
	CHECK(first_read(USER + 0x5000) == 3);
}

static void directories_have_a_reach(void)
{
	begin();
	build_tables();
	/* One page table serves as the tables of 64 entries of its directory. */
	for (int i = 0; i < 64; i++)
		memory[3][i] = 0x4007;
	for (uint64_t round = 0; round < 3; round++)
		for (uint64_t i = 0; i < 32; i++)
			CHECK(first_read(USER + i * HUGE_BYTES + 0x5000) ==
			      (round ? 3 : i ? 2 : 0));
	for (uint64_t round = 0; round < 3; round++)
		for (uint64_t i = 0; i < 64; i++) {
			unsigned int first = first_read(USER + i * HUGE_BYTES + 0x5000);

			CHECK(!round || first == 2);
		}
}

void test_tlb(void)
{
	reach_of_each_level();
	least_recently_used_page_goes();
	huge_page_covers_two_mib();
	spaces_share_the_kernel_only();
	stale_entry_is_not_found();
	flush_of_a_page_leaves_others();
	flush_of_a_space_leaves_others_and_the_kernel();
	walk_finds_the_entries_and_marks_them();
	walk_ends_at_larger_pages();
	walk_fails_where_nothing_is_mapped();
	directories_are_read_once();
	stale_directory_is_read_again();
	directories_have_a_reach();
	tlb_free(&tlb);
}
