// SPDX-License-Identifier: GPL-2.0
/*
 * Kinds of pages, read from struct page. The first rule that applies decides:
 * 1. A tail of a compound page has the kind of its head.
 * 2. The top byte of page_type is a type: buddy, slab, page table.
 * 3. mapping is set. Its low bits tell anonymous memory from an address_space.
 *    With PG_swapbacked it is shmem. Otherwise the inode that hosts the mapping
 *    tells a block device from a file.
 * 4. PG_reserved is set: the kernel itself.
 * 5. The page has no reference and is not locked: it is free. (The references of a
 *    locked page can be frozen at 0 for a moment; it is not free.)
 * 6. index has a tag of the guest's kernel: a new page, or one that never gets another
 *    owner, such as a stack. Root page tables have their tag in private.
 * 7. Other.
 */
#include <stdlib.h>
#include <string.h>

#include "pages.h"

#define TYPE_SHIFT	24		/* of page_type: its top byte is the type */
#define UNTYPED		0xff		/* the byte in a page without a type */
#define TYPE_MIN	0xf0
#define MAPPING_FLAGS	3ULL
#define MAPPING_ANON	1ULL		/* also set in KSM pages */
#define MODE_TYPE	0170000		/* S_IFMT, in an inode's i_mode */
#define MODE_BLOCK	0060000		/* S_IFBLK */
#define LOCKED		1ULL		/* PG_locked, in flags */
#define TAIL		1ULL		/* in compound_head */
#define ORDER_MAX	16		/* above the order of any free block */
#define NAME_MAX_BYTES	64
#define PAGE_STRUCT_MAX	128
/* x86-64 maps all memory here with nokaslr: assumed of kernels without a description. */
#define PAGE_OFFSET	0xffff888000000000ULL

static const char *const fixed_names[KIND_SLAB] = {
	[KIND_UNKNOWN] = "unknown",
	[KIND_FREE] = "free",
	[KIND_ANON] = "anon",
	[KIND_FILE] = "file",
	[KIND_BLOCKDEV] = "blockdev",
	[KIND_SHMEM] = "shmem",
	[KIND_PAGETABLE] = "pagetable",
	[KIND_STACK] = "stack",
	[KIND_SOCKET] = "socket",
	[KIND_KERNEL] = "kernel",
	[KIND_OTHER] = "other",
	[KIND_SLAB_OTHER] = "slab:other",
};

void pages_init(struct pages *pages, const struct ram *ram)
{
	memset(pages, 0, sizeof(*pages));
	pages->ram = ram;
	pages->layout.page_offset = PAGE_OFFSET;
	pages->kind_count = KIND_SLAB;
}

void pages_free(struct pages *pages)
{
	for (unsigned int kind = KIND_SLAB; kind < pages->kind_count; kind++)
		free(pages->names[kind]);
	pages->kind_count = KIND_SLAB;
}

const char *pages_fixed_name(unsigned int kind)
{
	return fixed_names[kind];
}

const char *pages_kind_name(const struct pages *pages, unsigned int kind)
{
	return kind < KIND_SLAB ? fixed_names[kind] : pages->names[kind];
}

static bool fits(const struct kloc_machine_layout *layout, uint64_t offset)
{
	return offset + sizeof(uint64_t) <= layout->page_size && offset % 4 == 0;
}

bool pages_set_layout(struct pages *pages, const struct kloc_machine_layout *layout)
{
	pages->known = false;
	if (layout->page_size < 32 || layout->page_size > PAGE_STRUCT_MAX ||
	    !fits(layout, layout->slab_cache) || !fits(layout, layout->page_type) ||
	    !fits(layout, layout->page_mapping) || !fits(layout, layout->page_private) ||
	    !fits(layout, layout->page_index) ||
	    !fits(layout, layout->page_head) || layout->flag_reserved > 63 ||
	    layout->flag_swapbacked > 63 || layout->cache_name > FRAME_BYTES ||
	    layout->mapping_host > FRAME_BYTES || layout->inode_mode > FRAME_BYTES)
		return false;
	pages->layout = *layout;
	pages->known = true;
	pages_forget_caches(pages);
	return true;
}

void pages_forget_caches(struct pages *pages)
{
	memset(pages->caches, 0, sizeof(pages->caches));
}

/* Translate a kernel-virtual address of the direct map or the kernel image to physical. */
static uint64_t kernel_to_physical(const struct kloc_machine_layout *layout,
				   uint64_t address)
{
	if (address >= layout->kernel_map)
		return address - layout->kernel_map + layout->kernel_phys;
	return address - layout->page_offset;
}

/* Return the struct page of a frame, or NULL if the guest has none. */
static const unsigned char *page_struct(const struct pages *pages, uint64_t frame)
{
	const struct kloc_machine_layout *layout = &pages->layout;
	unsigned int shift = KLOC_MACHINE_SECTION_SHIFT - FRAME_SHIFT;
	uint64_t section = frame >> shift;
	uint64_t within = frame & ((1ULL << shift) - 1);

	if (section >= KLOC_MACHINE_SECTIONS || !layout->memmap[section])
		return NULL;
	return ram_at(pages->ram, layout->memmap[section] + within * layout->page_size,
		      layout->page_size);
}

static uint64_t word(const unsigned char *page, uint64_t offset)
{
	uint64_t value;

	memcpy(&value, page + offset, sizeof(value));
	return value;
}

static uint32_t half(const unsigned char *page, uint64_t offset)
{
	uint32_t value;

	memcpy(&value, page + offset, sizeof(value));
	return value;
}

/* Return the head of the compound page of a tail; any other page is its own head. */
static const unsigned char *compound_head(const struct pages *pages,
					  const unsigned char *page)
{
	const struct kloc_machine_layout *layout = &pages->layout;
	uint64_t head = word(page, layout->page_head);

	if (!(head & TAIL))
		return page;
	return page_struct(pages, (head - TAIL - layout->memmap_base) / layout->page_size);
}

static unsigned int page_type(const struct pages *pages, const unsigned char *page)
{
	return half(page, pages->layout.page_type) >> TYPE_SHIFT;
}

/* In struct page, _refcount follows page_type. */
static bool is_referenced(const struct pages *pages, const unsigned char *page)
{
	return half(page, pages->layout.page_type + 4) != 0;
}

/* Return "slab:" and the name of the kmem_cache at this address, allocated, or NULL. */
static char *read_cache_name(const struct pages *pages, uint64_t cache)
{
	const struct kloc_machine_layout *layout = &pages->layout;
	const char prefix[] = "slab:";
	char name[sizeof(prefix) + NAME_MAX_BYTES];
	const unsigned char *pointer;
	size_t length = sizeof(prefix) - 1;
	uint64_t from;

	pointer = ram_at(pages->ram, kernel_to_physical(layout, cache) + layout->cache_name,
			 sizeof(uint64_t));
	if (!pointer)
		return NULL;
	from = kernel_to_physical(layout, word(pointer, 0));
	memcpy(name, prefix, length);
	for (; length < sizeof(name) - 1; length++, from++) {
		const char *letter = ram_at(pages->ram, from, 1);

		if (!letter)
			return NULL;
		if (!*letter)
			break;
		name[length] = *letter;
	}
	name[length] = '\0';
	return strdup(name);
}

/* Return the kind of this name, and add it if it is new. Takes ownership of name. */
static unsigned int kind_of_name(struct pages *pages, char *name)
{
	unsigned int kind = KIND_SLAB;

	while (kind < pages->kind_count && strcmp(pages->names[kind], name))
		kind++;
	if (kind < pages->kind_count || kind == KINDS_MAX) {
		free(name);
		return kind < KINDS_MAX ? kind : KIND_SLAB_OTHER;
	}
	pages->names[pages->kind_count++] = name;
	return kind;
}

static unsigned int look_up_cache(struct pages *pages, uint64_t cache)
{
	char *name = read_cache_name(pages, cache);

	return name ? kind_of_name(pages, name) : KIND_SLAB_OTHER;
}

/*
 * Return the kind of the kmem_cache at this address. Kinds are kept in a hash table in
 * which two caches with the same slot replace each other.
 */
static unsigned int slab_kind(struct pages *pages, uint64_t cache)
{
	uint64_t slot = (cache >> 6 ^ cache >> 17) % CACHE_SLOTS;

	if (!cache)
		return KIND_SLAB_OTHER;
	if (unlikely(pages->caches[slot].cache != cache)) {
		pages->caches[slot].cache = cache;
		pages->caches[slot].kind = look_up_cache(pages, cache);
	}
	return pages->caches[slot].kind;
}

static unsigned int typed_kind(struct pages *pages, const unsigned char *page,
			       unsigned int type)
{
	const struct kloc_machine_layout *layout = &pages->layout;

	if (type == layout->type_slab)
		return slab_kind(pages, word(page, layout->slab_cache));
	if (type == layout->type_table)
		return KIND_PAGETABLE;
	if (type == layout->type_buddy)
		return KIND_FREE;
	return KIND_OTHER;
}

/* Return whether this address_space belongs to a block device. */
static bool is_block_device(const struct pages *pages, uint64_t mapping)
{
	const struct kloc_machine_layout *layout = &pages->layout;
	uint64_t host = kernel_to_physical(layout, mapping) + layout->mapping_host;
	const unsigned char *pointer = ram_at(pages->ram, host, sizeof(uint64_t));
	const unsigned char *mode;
	uint16_t value;

	if (!pointer)
		return false;
	mode = ram_at(pages->ram,
		      kernel_to_physical(layout, word(pointer, 0)) + layout->inode_mode,
		      sizeof(value));
	if (!mode)
		return false;
	memcpy(&value, mode, sizeof(value));
	return (value & MODE_TYPE) == MODE_BLOCK;
}

static unsigned int mapped_kind(const struct pages *pages, const unsigned char *page,
				uint64_t mapping)
{
	if (mapping & MAPPING_ANON)
		return KIND_ANON;
	if (mapping & MAPPING_FLAGS)
		return KIND_OTHER;
	if (word(page, 0) >> pages->layout.flag_swapbacked & 1)
		return KIND_SHMEM;
	return is_block_device(pages, mapping) ? KIND_BLOCKDEV : KIND_FILE;
}

/* A freed page keeps the tag but not the cache, whose word links the list of free pages. */
static unsigned int tagged_slab_kind(struct pages *pages, uint64_t cache)
{
	unsigned int kind = slab_kind(pages, cache);

	return kind == KIND_SLAB_OTHER ? KIND_OTHER : kind;
}

/* Return the kind that a page without a type or mapping was requested for. */
static unsigned int tagged_kind(struct pages *pages, const unsigned char *page)
{
	if (word(page, pages->layout.page_private) == KLOC_MACHINE_TAG_PAGETABLE)
		return KIND_PAGETABLE;
	switch (word(page, pages->layout.page_index)) {
	case KLOC_MACHINE_TAG_ANON:
		return KIND_ANON;
	case KLOC_MACHINE_TAG_FILE:
		return KIND_FILE;
	case KLOC_MACHINE_TAG_BLOCKDEV:
		return KIND_BLOCKDEV;
	case KLOC_MACHINE_TAG_SHMEM:
		return KIND_SHMEM;
	case KLOC_MACHINE_TAG_PAGETABLE:
		return KIND_PAGETABLE;
	case KLOC_MACHINE_TAG_STACK:
		return KIND_STACK;
	case KLOC_MACHINE_TAG_SOCKET:
		return KIND_SOCKET;
	case KLOC_MACHINE_TAG_SLAB:
		return tagged_slab_kind(pages, word(page, pages->layout.slab_cache));
	}
	return KIND_OTHER;
}

static unsigned int unmapped_kind(struct pages *pages, const unsigned char *page)
{
	if (word(page, 0) >> pages->layout.flag_reserved & 1)
		return KIND_KERNEL;
	if (!is_referenced(pages, page) && !(word(page, 0) & LOCKED))
		return KIND_FREE;
	return tagged_kind(pages, page);
}

static unsigned int struct_kind(struct pages *pages, const unsigned char *page)
{
	unsigned int type;
	uint64_t mapping;

	page = compound_head(pages, page);
	if (!page)
		return KIND_OTHER;
	type = page_type(pages, page);
	if (type >= TYPE_MIN && type != UNTYPED)
		return typed_kind(pages, page, type);
	mapping = word(page, pages->layout.page_mapping);
	if (mapping)
		return mapped_kind(pages, page, mapping);
	return unmapped_kind(pages, page);
}

void pages_prefetch(const struct pages *pages, uint64_t physical)
{
	const unsigned char *page;

	if (!pages->known)
		return;
	page = page_struct(pages, physical >> FRAME_SHIFT);
	if (page)
		__builtin_prefetch(page);
}

unsigned int pages_kind(struct pages *pages, uint64_t physical)
{
	const unsigned char *page;
	unsigned int kind;

	if (!pages->known)
		return KIND_UNKNOWN;
	page = page_struct(pages, physical >> FRAME_SHIFT);
	kind = page ? struct_kind(pages, page) : KIND_OTHER;
	/* The allocator zeroes pages before anyone holds a reference. */
	return kind == KIND_FREE ? tagged_kind(pages, page) : kind;
}

unsigned int pages_state(struct pages *pages, uint64_t frame)
{
	const unsigned char *page;

	if (!pages->known)
		return KIND_UNKNOWN;
	page = page_struct(pages, frame);
	return page ? struct_kind(pages, page) : KIND_OTHER;
}

bool pages_is_tail_of(const struct pages *pages, uint64_t tail, uint64_t head)
{
	const struct kloc_machine_layout *layout = &pages->layout;
	const unsigned char *page = page_struct(pages, tail);

	return page && word(page, layout->page_head) ==
			       layout->memmap_base + head * layout->page_size + TAIL;
}

/*
 * Return the number of frames in the free block that begins with this page, 1 for
 * any other page. Only the first page of a free block has the buddy type, and the
 * block's order in private.
 */
static uint64_t block_frames(const struct pages *pages, const unsigned char *page)
{
	const struct kloc_machine_layout *layout = &pages->layout;
	uint64_t order;

	if (page_type(pages, page) != layout->type_buddy)
		return 1;
	order = word(page, layout->page_private);
	return order < ORDER_MAX ? 1ULL << order : 1;
}

static void walk_range(struct pages *pages, const struct ram_range *range,
		       pages_visit visit, void *data)
{
	uint64_t frame = range->start >> FRAME_SHIFT;
	uint64_t end = range->end >> FRAME_SHIFT;

	while (frame < end) {
		const unsigned char *page = page_struct(pages, frame);
		uint64_t count = page ? block_frames(pages, page) : 1;
		unsigned int kind = page ? struct_kind(pages, page) : KIND_OTHER;

		if (count > end - frame)
			count = end - frame;
		visit(data, range, frame << FRAME_SHIFT, count, kind);
		frame += count;
	}
}

void pages_walk(struct pages *pages, pages_visit visit, void *data)
{
	for (unsigned int i = 0; i < pages->ram->count; i++) {
		const struct ram_range *range = &pages->ram->ranges[i];

		if (pages->known)
			walk_range(pages, range, visit, data);
		else
			visit(data, range, range->start,
			      (range->end - range->start) >> FRAME_SHIFT, KIND_UNKNOWN);
	}
}
