/* SPDX-License-Identifier: GPL-2.0 WITH Linux-syscall-note */
/*
 * Interface between the guest of the two-tier machine and its timing model, a
 * QEMU plugin. Both include this file; both are little-endian, 64-bit.
 *
 * Calls: the guest executes a long NOP, 0f 1f 80 CALL 'K' 'L' 'C' (nopl
 * disp32(%rax)), with an argument in RAX. Any other machine, or this one without
 * the model, ignores the NOP. LAYOUT is the kernel's; the others are made by a
 * program, so that they work on a kernel without this driver, too.
 *
 * Page: struct kloc_machine_page, in the kernel's own memory. The kernel writes
 * it, and the model reads it.
 */
#ifndef _UAPI_LINUX_KLOC_MACHINE_H
#define _UAPI_LINUX_KLOC_MACHINE_H

#include <linux/types.h>

#define KLOC_MACHINE_MAGIC	0x45434f4c4b4d3231ULL
#define KLOC_MACHINE_VERSION	4

/* Bytes that follow 0f 1f 80 CALL */
#define KLOC_MACHINE_NOP_1	'K'
#define KLOC_MACHINE_NOP_2	'L'
#define KLOC_MACHINE_NOP_3	'C'

/* CALL, and its argument in RAX */
enum kloc_machine_call {
	/* The kernel is up: guest-physical address of kloc_machine_page. */
	KLOC_MACHINE_LAYOUT = 1,
	/*
	 * The load phase begins. The model notes which memory is free.
	 * CLOCK_MONOTONIC in ns, as in the calls below.
	 */
	KLOC_MACHINE_START = 2,
	/* The warm-up begins: the model computes time, its caches are empty. */
	KLOC_MACHINE_WARM = 3,
	/* The measured region begins, and the warm-up ends. */
	KLOC_MACHINE_BEGIN = 4,
	/* The measured region ends. */
	KLOC_MACHINE_END = 5,
};

/* Threads that migrated pages, by name. The last slot is all further ones. */
#define KLOC_MACHINE_SLOTS	32
#define KLOC_MACHINE_COMM	16

/*
 * Tags: what a page was allocated for, as its allocator's caller says. The tag is
 * in page->index from before the page is zeroed until its owner writes its own
 * index there; many kernel pages keep it. Pages of a PGD have theirs in
 * page->private, since the kernel uses their index.
 *
 * While a page has KLOC_MACHINE_TAG_SLAB and no type yet, it has the address of
 * its kmem_cache where struct slab has it.
 *
 * The lowest two bits of a tag are 0.
 */
#define KLOC_MACHINE_TAGS		0x4741544b434f4c00ULL
#define KLOC_MACHINE_TAG_ANON		(KLOC_MACHINE_TAGS + 0x04)
#define KLOC_MACHINE_TAG_FILE		(KLOC_MACHINE_TAGS + 0x08)
#define KLOC_MACHINE_TAG_BLOCKDEV	(KLOC_MACHINE_TAGS + 0x0c)
#define KLOC_MACHINE_TAG_SHMEM		(KLOC_MACHINE_TAGS + 0x10)
#define KLOC_MACHINE_TAG_PAGETABLE	(KLOC_MACHINE_TAGS + 0x14)
#define KLOC_MACHINE_TAG_STACK		(KLOC_MACHINE_TAGS + 0x18)
#define KLOC_MACHINE_TAG_SOCKET		(KLOC_MACHINE_TAGS + 0x1c)
#define KLOC_MACHINE_TAG_SLAB		(KLOC_MACHINE_TAGS + 0x20)

enum kloc_machine_kind {
	KLOC_MACHINE_ANON,
	KLOC_MACHINE_FILE,
	KLOC_MACHINE_SHMEM,
	KLOC_MACHINE_OTHER,
	KLOC_MACHINE_KINDS,
};

/* Why a page moved to another tier */
enum kloc_machine_reason {
	KLOC_MACHINE_HINT_FAULT,	/* NUMA balancing: a hint fault */
	KLOC_MACHINE_DEMOTION,		/* reclaim */
	KLOC_MACHINE_COMPACTION,
	KLOC_MACHINE_MEMPOLICY,		/* mbind, move_pages, cpusets */
	KLOC_MACHINE_DAMON,
	KLOC_MACHINE_CONTEXT,		/* KLOC */
	KLOC_MACHINE_OTHER_REASON,
	KLOC_MACHINE_REASONS,
};

/* Sections of 128 MiB of physical memory, with 2 MiB of struct pages each */
#define KLOC_MACHINE_SECTIONS	512
#define KLOC_MACHINE_SECTION_SHIFT	27

struct kloc_machine_slot {
	char comm[KLOC_MACHINE_COMM];	/* empty if the slot is not used */
	__u64 migrated;			/* pages that the thread migrated */
};

/* What the model needs to find out what a page is used for */
struct kloc_machine_layout {
	__u64 page_offset;		/* virtual address of physical 0 */
	__u64 kernel_map;		/* __START_KERNEL_map */
	__u64 kernel_phys;		/* physical address of kernel_map */
	__u64 page_size;		/* sizeof(struct page) */
	__u64 slab_cache;		/* offsetof(struct slab, slab_cache) */
	__u64 cache_name;		/* offsetof(struct kmem_cache, name) */
	__u64 page_type;		/* offsetof(struct page, page_type) */
	__u64 page_mapping;
	__u64 page_private;
	__u64 page_index;
	__u64 page_head;		/* offsetof(struct page, compound_head) */
	__u64 mapping_host;		/* offsetof(struct address_space, host) */
	__u64 inode_mode;		/* offsetof(struct inode, i_mode) */
	__u64 type_buddy;		/* PGTY_*: top byte of page_type */
	__u64 type_table;
	__u64 type_slab;
	__u64 flag_reserved;		/* PG_*: bit numbers in flags */
	__u64 flag_swapbacked;
	__u64 flag_head;
	__u64 memmap_base;		/* virtual address of pfn 0's struct page */
	/* Physical address of each section's struct pages, 0 if not present */
	__u64 memmap[KLOC_MACHINE_SECTIONS];
};

struct kloc_machine_page {
	__u64 magic;
	__u64 version;

	/* Pages moved since boot, by enum kloc_machine_kind */
	__u64 promoted[KLOC_MACHINE_KINDS];
	__u64 demoted[KLOC_MACHINE_KINDS];
	/* The same pages by enum kloc_machine_reason */
	__u64 promoted_by[KLOC_MACHINE_REASONS];
	__u64 demoted_by[KLOC_MACHINE_REASONS];

	struct kloc_machine_slot slots[KLOC_MACHINE_SLOTS];
	struct kloc_machine_layout layout;
};

#endif /* _UAPI_LINUX_KLOC_MACHINE_H */
