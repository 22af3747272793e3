// SPDX-License-Identifier: GPL-2.0
/*
 * The TLB and the paging-structure cache of one core, and the walk of a page table.
 */
#include <stdlib.h>
#include <string.h>

#include "tlb.h"

#define NO_KEY		(~0ULL)
#define KEY_HUGE	(1ULL << 63)
#define SPACE_SHIFT	36	/* number of a page within 48 bits of address */
#define PAGE_MASK	((1ULL << SPACE_SHIFT) - 1)
#define SPACES		(1U << 26)	/* numbers of spaces that a key can hold */

#define ENTRY_PRESENT	(1ULL << 0)
#define ENTRY_ACCESSED	(1ULL << 5)
#define ENTRY_HUGE	(1ULL << 7)
#define ENTRY_ADDRESS	0x000ffffffffff000ULL
#define INDEX_BITS	9

/* The paging-structure cache, the top directory first. */
static const struct tlb_shape directory_shapes[TLB_DIRECTORIES] = {
	{ .entries = 4, .ways = 4 }, { .entries = 4, .ways = 4 }, { .entries = 32, .ways = 4 },
};

/* Return the number of a space in keys. 0 is the kernel's part of all spaces. */
static uint64_t space_number(uint32_t space)
{
	return (space + 1ULL) % SPACES;
}

/* Return the key of the entry for address, of entries that cover 2^shift bytes. */
static uint64_t make_key(uint64_t address, uint32_t space, unsigned int shift)
{
	uint64_t number = address >> 63 ? 0 : space_number(space);

	return (address >> shift & PAGE_MASK >> (shift - FRAME_SHIFT)) | number << SPACE_SHIFT;
}

static uint64_t small_key(uint64_t address, uint32_t space)
{
	return make_key(address, space, FRAME_SHIFT);
}

static uint64_t huge_key(uint64_t address, uint32_t space)
{
	return make_key(address, space, TLB_HUGE_SHIFT) | KEY_HUGE;
}

static bool array_init(struct tlb_array *array, const struct tlb_shape *shape)
{
	array->ways = shape->ways;
	array->set_mask = shape->entries / shape->ways - 1;
	array->keys = malloc(shape->entries * sizeof(*array->keys));
	array->frames = malloc(shape->entries * sizeof(*array->frames));
	return array->keys && array->frames;
}

static void array_clear(struct tlb_array *array)
{
	memset(array->keys, 0xff, (array->set_mask + 1) * array->ways * sizeof(*array->keys));
}

static void array_free(struct tlb_array *array)
{
	free(array->keys);
	free(array->frames);
	*array = (struct tlb_array){ 0 };
}

static size_t array_set(const struct tlb_array *array, uint64_t key)
{
	return (key & array->set_mask) * array->ways;
}

/* Put a key at the front of its set, and drop the entry at way. */
static void put_first(struct tlb_array *array, size_t set, unsigned int way, uint64_t key,
		      uint64_t frame)
{
	uint64_t *keys = array->keys + set;
	uint64_t *frames = array->frames + set;

	for (; way; way--) {
		keys[way] = keys[way - 1];
		frames[way] = frames[way - 1];
	}
	keys[0] = key;
	frames[0] = frame;
}

/* Return the way that holds the key, or ways if none does. */
static unsigned int find_way(const struct tlb_array *array, size_t set, uint64_t key)
{
	unsigned int way = 0;

	while (way < array->ways && array->keys[set + way] != key)
		way++;
	return way;
}

/* Empty a way of a set: the entries behind it move up. */
static void drop_way(struct tlb_array *array, size_t set, unsigned int way)
{
	for (; way + 1 < array->ways; way++) {
		array->keys[set + way] = array->keys[set + way + 1];
		array->frames[set + way] = array->frames[set + way + 1];
	}
	array->keys[set + way] = NO_KEY;
}

/* Find a key, and make it the most recently used. A stale entry is dropped instead. */
static bool array_find(struct tlb_array *array, uint64_t key, uint64_t frame)
{
	size_t set = array_set(array, key);
	unsigned int way = find_way(array, set, key);

	if (way == array->ways)
		return false;
	if (unlikely(array->frames[set + way] != frame)) {
		drop_way(array, set, way);
		return false;
	}
	if (way)
		put_first(array, set, way, key, frame);
	return true;
}

/* Insert a key that array_find() has not found, in place of the least recently used one. */
static void array_insert(struct tlb_array *array, uint64_t key, uint64_t frame)
{
	put_first(array, array_set(array, key), array->ways - 1, key, frame);
}

static void array_drop(struct tlb_array *array, uint64_t key)
{
	size_t set = array_set(array, key);
	unsigned int way = find_way(array, set, key);

	if (way < array->ways)
		drop_way(array, set, way);
}

static bool is_of_space(uint64_t key, uint64_t number)
{
	return key != NO_KEY && (key & ~KEY_HUGE) >> SPACE_SHIFT == number;
}

static void array_drop_space(struct tlb_array *array, uint64_t number)
{
	for (size_t set = 0; set <= array->set_mask * array->ways; set += array->ways)
		for (unsigned int way = array->ways; way--;)
			if (is_of_space(array->keys[set + way], number))
				drop_way(array, set, way);
}

bool tlb_init(struct tlb *tlb, const struct tlb_config *config)
{
	bool done;

	*tlb = (struct tlb){ 0 };
	done = array_init(&tlb->small, &config->small) &&
	       array_init(&tlb->huge, &config->huge) &&
	       array_init(&tlb->second, &config->second);
	for (int level = 0; done && level < TLB_DIRECTORIES; level++)
		done = array_init(&tlb->directories[level], &directory_shapes[level]);
	if (done)
		tlb_flush_all(tlb);
	else
		tlb_free(tlb);
	return done;
}

void tlb_free(struct tlb *tlb)
{
	array_free(&tlb->small);
	array_free(&tlb->huge);
	array_free(&tlb->second);
	for (int level = 0; level < TLB_DIRECTORIES; level++)
		array_free(&tlb->directories[level]);
}

void tlb_flush_all(struct tlb *tlb)
{
	array_clear(&tlb->small);
	array_clear(&tlb->huge);
	array_clear(&tlb->second);
	for (int level = 0; level < TLB_DIRECTORIES; level++)
		array_clear(&tlb->directories[level]);
}

enum tlb_result tlb_find(struct tlb *tlb, uint64_t address, uint32_t space, uint64_t physical)
{
	uint64_t small = small_key(address, space), small_frame = physical >> FRAME_SHIFT;
	uint64_t huge = huge_key(address, space), huge_frame = physical >> TLB_HUGE_SHIFT;

	if (array_find(&tlb->small, small, small_frame) ||
	    array_find(&tlb->huge, huge, huge_frame))
		return TLB_FIRST;
	if (array_find(&tlb->second, small, small_frame)) {
		array_insert(&tlb->small, small, small_frame);
		return TLB_SECOND;
	}
	if (array_find(&tlb->second, huge, huge_frame)) {
		array_insert(&tlb->huge, huge, huge_frame);
		return TLB_SECOND;
	}
	return TLB_MISS;
}

void tlb_insert(struct tlb *tlb, uint64_t address, uint32_t space, uint64_t physical,
		unsigned int page_shift)
{
	bool is_huge = page_shift >= TLB_HUGE_SHIFT;
	uint64_t key = is_huge ? huge_key(address, space) : small_key(address, space);
	uint64_t frame = physical >> (is_huge ? TLB_HUGE_SHIFT : FRAME_SHIFT);

	array_insert(is_huge ? &tlb->huge : &tlb->small, key, frame);
	array_insert(&tlb->second, key, frame);
}

void tlb_flush_page(struct tlb *tlb, uint64_t address, uint32_t space)
{
	uint64_t small = small_key(address, space), huge = huge_key(address, space);

	array_drop(&tlb->small, small);
	array_drop(&tlb->huge, huge);
	array_drop(&tlb->second, small);
	array_drop(&tlb->second, huge);
	for (int level = 0; level < TLB_DIRECTORIES; level++)
		array_clear(&tlb->directories[level]);
}

void tlb_flush_space(struct tlb *tlb, uint32_t space)
{
	uint64_t number = space_number(space);

	array_drop_space(&tlb->small, number);
	array_drop_space(&tlb->huge, number);
	array_drop_space(&tlb->second, number);
	for (int level = 0; level < TLB_DIRECTORIES; level++)
		array_drop_space(&tlb->directories[level], number);
}

/* Return the physical address of the entry that translates address, level 0 being the top. */
static uint64_t entry_at(uint64_t table, uint64_t address, unsigned int level)
{
	unsigned int shift = FRAME_SHIFT + INDEX_BITS * (TLB_LEVELS - 1 - level);

	return table + (address >> shift & ((1U << INDEX_BITS) - 1)) * sizeof(uint64_t);
}

bool tlb_walk(struct tlb_walk *walk, uint64_t root, uint64_t address, tlb_memory *memory,
	      void *context)
{
	uint64_t table = root & ENTRY_ADDRESS;

	walk->first = 0;
	walk->page_shift = FRAME_SHIFT + INDEX_BITS * TLB_LEVELS;
	for (walk->levels = 0; walk->levels < TLB_LEVELS;) {
		uint64_t *entry;

		walk->entries[walk->levels] = entry_at(table, address, walk->levels);
		entry = memory(context, walk->entries[walk->levels]);
		walk->levels++;
		walk->page_shift -= INDEX_BITS;
		if (!entry || !(*entry & ENTRY_PRESENT))
			return false;
		if (!(*entry & ENTRY_ACCESSED))
			*entry |= ENTRY_ACCESSED;
		table = *entry & ENTRY_ADDRESS;
		if (*entry & ENTRY_HUGE)
			break;
	}
	walk->physical = (table & ~0ULL << walk->page_shift) |
			 (address & ~(~0ULL << walk->page_shift));
	return true;
}

void tlb_skip(struct tlb *tlb, struct tlb_walk *walk, uint64_t address, uint32_t space)
{
	walk->first = 0;
	for (unsigned int level = 0; level + 1 < walk->levels; level++) {
		unsigned int shift = FRAME_SHIFT + INDEX_BITS * (TLB_LEVELS - 1 - level);
		uint64_t key = make_key(address, space, shift);
		uint64_t table = walk->entries[level + 1] & ~(FRAME_BYTES - 1);

		if (array_find(&tlb->directories[level], key, table))
			walk->first = level + 1;
		else
			array_insert(&tlb->directories[level], key, table);
	}
}
