/* SPDX-License-Identifier: GPL-2.0 */
/*
 * A fake guest of 4 MiB. Its first frames hold its memmap, its kmem_caches and its
 * inodes, which are all that the model reads to tell the kinds of pages.
 */
#ifndef FAKE_GUEST_H
#define FAKE_GUEST_H

#include "pages.h"

#define GUEST_FRAMES		1024ULL
#define GUEST_FAST_FRAMES	512ULL
#define GUEST_CACHES		32ULL	/* frame of the kmem_caches */
#define GUEST_INODES		33ULL	/* frame of the inodes */
#define GUEST_MEMMAP_BASE	0xffffea0000000000ULL
#define GUEST_PAGE_OFFSET	0xffff888000000000ULL

/* struct page of the fake guest. In a slab page, head is the address of its cache. */
struct guest_page {
	uint64_t flags;
	uint64_t head;
	uint64_t unused;
	uint64_t mapping;
	uint64_t index;
	uint64_t private_data;
	uint32_t page_type;
	uint32_t references;
	uint64_t memcg;
};

struct guest_cache {
	uint64_t unused[3];
	uint64_t name;
	char letters[96];
};

/* An inode, and at the same address its address_space. */
struct guest_inode {
	uint64_t host;
	uint16_t unused;
	uint16_t mode;
};

struct guest {
	unsigned char *memory;
	struct ram ram;
	struct pages pages;
	struct kloc_machine_layout layout;
};

extern struct guest guest;

/* Set up the guest; all frames are in use, of kind "other". */
void guest_init(void);
void guest_free(void);

struct guest_page *guest_page(uint64_t frame);
uint64_t guest_page_address(uint64_t frame);

/* Name a kmem_cache; make a frame a slab of that cache. */
void guest_cache(unsigned int number, const char *name);
void guest_slab(uint64_t frame, unsigned int number);

/* Set the i_mode of an inode, and return the address of its address_space. */
uint64_t guest_mapping(unsigned int number, uint16_t mode);

#endif /* FAKE_GUEST_H */
