// SPDX-License-Identifier: GPL-2.0
/*
 * A fake guest: lays out struct pages, kmem_caches and inodes as a kernel would.
 */
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "fake_guest.h"

struct guest guest;

static void describe_layout(struct kloc_machine_layout *layout)
{
	*layout = (struct kloc_machine_layout){
		.page_offset = GUEST_PAGE_OFFSET,
		.kernel_map = 0xffffffff80000000,
		.page_size = sizeof(struct guest_page),
		.slab_cache = offsetof(struct guest_page, head),
		.cache_name = offsetof(struct guest_cache, name),
		.page_type = offsetof(struct guest_page, page_type),
		.page_mapping = offsetof(struct guest_page, mapping),
		.page_private = offsetof(struct guest_page, private_data),
		.page_index = offsetof(struct guest_page, index),
		.page_head = offsetof(struct guest_page, head),
		.mapping_host = offsetof(struct guest_inode, host),
		.inode_mode = offsetof(struct guest_inode, mode),
		.type_buddy = 0xf0,
		.type_table = 0xf2,
		.type_slab = 0xf5,
		.flag_reserved = 14,
		.flag_swapbacked = 17,
		.flag_head = 6,
		.memmap_base = GUEST_MEMMAP_BASE,
	};
}

static void add_range(unsigned int tier, uint64_t frame, uint64_t frames)
{
	struct range_config range = {
		.tier = tier,
		.start = frame << FRAME_SHIFT,
		.bytes = frames << FRAME_SHIFT,
	};

	ram_add(&guest.ram, &range, -1, guest.memory + range.start);
}

void guest_init(void)
{
	memset(&guest, 0, sizeof(guest));
	guest.memory = calloc(GUEST_FRAMES, FRAME_BYTES);
	add_range(0, 0, GUEST_FAST_FRAMES);
	add_range(1, GUEST_FAST_FRAMES, GUEST_FRAMES - GUEST_FAST_FRAMES);
	for (uint64_t frame = 0; frame < GUEST_FRAMES; frame++) {
		guest_page(frame)->page_type = 0xffffffff;
		guest_page(frame)->references = 1;
	}
	pages_init(&guest.pages, &guest.ram);
	describe_layout(&guest.layout);
	/* Not frame 0: the address 0 means that a section has no memmap. */
	guest.layout.memmap[0] = FRAME_BYTES;
	pages_set_layout(&guest.pages, &guest.layout);
}

void guest_free(void)
{
	pages_free(&guest.pages);
	free(guest.memory);
}

struct guest_page *guest_page(uint64_t frame)
{
	return (struct guest_page *)(guest.memory + FRAME_BYTES) + frame;
}

uint64_t guest_page_address(uint64_t frame)
{
	return GUEST_MEMMAP_BASE + frame * sizeof(struct guest_page);
}

static uint64_t cache_physical(unsigned int number)
{
	return GUEST_CACHES * FRAME_BYTES + number * sizeof(struct guest_cache);
}

void guest_cache(unsigned int number, const char *name)
{
	uint64_t physical = cache_physical(number);
	struct guest_cache *cache = (struct guest_cache *)(guest.memory + physical);

	strcpy(cache->letters, name);
	cache->name = GUEST_PAGE_OFFSET + physical + offsetof(struct guest_cache, letters);
}

uint64_t guest_mapping(unsigned int number, uint16_t mode)
{
	uint64_t physical = GUEST_INODES * FRAME_BYTES + number * sizeof(struct guest_inode);
	struct guest_inode *inode = (struct guest_inode *)(guest.memory + physical);

	inode->mode = mode;
	inode->host = GUEST_PAGE_OFFSET + physical;
	return inode->host;
}

void guest_slab(uint64_t frame, unsigned int number)
{
	guest_page(frame)->page_type = 0xf5000000;
	guest_page(frame)->head = GUEST_PAGE_OFFSET + cache_physical(number);
}
