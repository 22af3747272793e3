// SPDX-License-Identifier: GPL-2.0
#include <stdlib.h>
#include <string.h>

#include "tlb.h"

#define NO_KEY		(~0ULL)
#define KEY_HUGE	(1ULL << 63)
#define SPACE_SHIFT	36	/* number of a page within 48 bits of address */
#define PAGE_MASK	((1ULL << SPACE_SHIFT) - 1)
#define SPACES		(1U << 26)

#define ENTRY_PRESENT	(1ULL << 0)
#define ENTRY_ACCESSED	(1ULL << 5)
#define ENTRY_HUGE	(1ULL << 7)
#define ENTRY_ADDRESS	0x000ffffffffff000ULL
#define INDEX_BITS	9

/* Places for entries of each directory, the top first. */
static const unsigned int directory_ways[TLB_DIRECTORIES] = { 4, 4, TLB_DIRECTORY_WAYS };

/* Return the number of the address space of an address: 0 for the kernel's. */
static uint64_t space_of(uint64_t address, uint32_t space)
{
	return address >> 63 ? 0 : space % SPACES;
}

/* Return the key of whatever is at address, for entries that cover 2^shift bytes. */
static uint64_t make_key(uint64_t address, uint32_t space, unsigned int shift)
{
	return (address >> shift & PAGE_MASK >> (shift - FRAME_SHIFT)) |
	       space_of(address, space) << SPACE_SHIFT;
}

static uint64_t small_key(uint64_t address, uint32_t space)
{
	return make_key(address, space, FRAME_SHIFT);
}

static uint64_t huge_key(uint64_t address, uint32_t space)
{
	return make_key(address, space, TLB_HUGE_SHIFT) | KEY_HUGE;
}

static uint64_t key_space(uint64_t key)
{
	return (key & ~KEY_HUGE) >> SPACE_SHIFT;
}

/* Kernel pages have bit 47 of their address set, and are in no space. */
static bool is_kernel_key(uint64_t key)
{
	unsigned int top = key & KEY_HUGE ? 47 - TLB_HUGE_SHIFT : 47 - FRAME_SHIFT;

	return key >> top & 1;
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

/* Put a key at the front of its set, in place of what is at way. */
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

/* Find a key, and make it the most recently used. A stale entry is not found. */
static bool array_find(struct tlb_array *array, uint64_t key, uint64_t frame)
{
	size_t set = array_set(array, key);
	unsigned int way = find_way(array, set, key);

	if (way == array->ways || array->frames[set + way] != frame)
		return false;
	if (way)
		put_first(array, set, way, key, frame);
	return true;
}

/* Insert a key, in place of its stale entry or of the least recently used one. */
static void array_insert(struct tlb_array *array, uint64_t key, uint64_t frame)
{
	size_t set = array_set(array, key);
	unsigned int way = find_way(array, set, key);

	put_first(array, set, way < array->ways ? way : way - 1, key, frame);
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

static void array_drop(struct tlb_array *array, uint64_t key)
{
	size_t set = array_set(array, key);
	unsigned int way = find_way(array, set, key);

	if (way < array->ways)
		drop_way(array, set, way);
}

static bool is_of_space(uint64_t key, uint64_t space)
{
	return key != NO_KEY && !is_kernel_key(key) && key_space(key) == space;
}

static void array_drop_space(struct tlb_array *array, uint64_t space)
{
	for (size_t set = 0; set <= array->set_mask * array->ways; set += array->ways)
		for (unsigned int way = array->ways; way--;)
			if (is_of_space(array->keys[set + way], space))
				drop_way(array, set, way);
}

static void directory_clear(struct tlb_directory *directory)
{
	memset(directory->keys, 0xff, sizeof(directory->keys));
}

bool tlb_init(struct tlb *tlb, const struct tlb_config *config)
{
	*tlb = (struct tlb){ 0 };
	if (!array_init(&tlb->small, &config->small) || !array_init(&tlb->huge, &config->huge) ||
	    !array_init(&tlb->second, &config->second)) {
		tlb_free(tlb);
		return false;
	}
	tlb_flush_all(tlb);
	return true;
}

void tlb_free(struct tlb *tlb)
{
	array_free(&tlb->small);
	array_free(&tlb->huge);
	array_free(&tlb->second);
}

void tlb_flush_all(struct tlb *tlb)
{
	array_clear(&tlb->small);
	array_clear(&tlb->huge);
	array_clear(&tlb->second);
	for (int level = 0; level < TLB_DIRECTORIES; level++)
		directory_clear(&tlb->directories[level]);
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
		directory_clear(&tlb->directories[level]);
}

/* Forget the space's entries of a directory. Their keys are not those of arrays. */
static void directory_drop_space(struct tlb_directory *directory, uint64_t space)
{
	for (unsigned int way = 0; way < TLB_DIRECTORY_WAYS; way++)
		if (directory->keys[way] >> SPACE_SHIFT == space)
			directory->keys[way] = NO_KEY;
}

void tlb_flush_space(struct tlb *tlb, uint32_t space)
{
	uint64_t number = space % SPACES;

	array_drop_space(&tlb->small, number);
	array_drop_space(&tlb->huge, number);
	array_drop_space(&tlb->second, number);
	for (int level = 0; level < TLB_DIRECTORIES; level++)
		directory_drop_space(&tlb->directories[level], number);
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
		if (walk->levels > 1 && *entry & ENTRY_HUGE)
			break;
	}
	walk->physical = (table & ~0ULL << walk->page_shift) |
			 (address & ~(~0ULL << walk->page_shift));
	return true;
}

/* Find an entry of a directory, or insert it. Return whether it was there. */
static bool directory_use(struct tlb_directory *directory, unsigned int ways, uint64_t key,
			  uint64_t table)
{
	uint64_t *keys = directory->keys;
	uint64_t *tables = directory->tables;
	unsigned int way = 0;
	bool found;

	while (way < ways - 1 && keys[way] != key)
		way++;
	found = keys[way] == key && tables[way] == table;
	if (way) {
		memmove(keys + 1, keys, way * sizeof(*keys));
		memmove(tables + 1, tables, way * sizeof(*tables));
	}
	keys[0] = key;
	tables[0] = table;
	return found;
}

void tlb_skip(struct tlb *tlb, struct tlb_walk *walk, uint64_t address, uint32_t space)
{
	walk->first = 0;
	for (unsigned int level = 0; level + 1 < walk->levels; level++) {
		unsigned int shift = FRAME_SHIFT + INDEX_BITS * (TLB_LEVELS - 1 - level);
		uint64_t key = make_key(address, space, shift);
		uint64_t table = walk->entries[level + 1] & ~(FRAME_BYTES - 1);

		if (directory_use(&tlb->directories[level], directory_ways[level], key, table))
			walk->first = level + 1;
	}
}
