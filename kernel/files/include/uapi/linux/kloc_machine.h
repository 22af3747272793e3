/* SPDX-License-Identifier: GPL-2.0 WITH Linux-syscall-note */
/*
 * Interface between the guest kernel of the two-tier machine and its timing
 * model, a QEMU plugin. Both include this file; both are little-endian, 64-bit.
 *
 * Time: simulated time T is instructions x CPI + stalls + idle. The model
 * computes it, and the guest reads it as TSC + offset. The TSC is QEMU's
 * instruction clock: 1 ns for each instruction, plus jumps while idle. The model
 * publishes the offset in the page below.
 *
 * Page: the memory of an ivshmem-plain PCI device. QEMU and the plugin map it
 * from one file.
 *
 * Calls: the guest fills in the page and executes a long NOP, 0f 1f 80 CALL 'K'
 * 'L' 'C' (nopl disp32(%rax)), to tell the model what only the guest knows. Any
 * other machine, or this one without the model, ignores the NOP.
 */
#ifndef _UAPI_LINUX_KLOC_MACHINE_H
#define _UAPI_LINUX_KLOC_MACHINE_H

#include <linux/types.h>

#define KLOC_MACHINE_MAGIC	0x45434f4c4b4d3231ULL
#define KLOC_MACHINE_VERSION	3

/* PCI device numbers (bus 0) of the ivshmem devices, function 0 */
#define KLOC_MACHINE_PCI_PAGE	4	/* this page */
#define KLOC_MACHINE_PCI_DISK	5	/* first disk; the others follow */
#define KLOC_MACHINE_PCI_DISKS	4

/* Bytes that follow 0f 1f 80 CALL */
#define KLOC_MACHINE_NOP_1	'K'
#define KLOC_MACHINE_NOP_2	'L'
#define KLOC_MACHINE_NOP_3	'C'

/* CALL: what the guest reports, with the fields that the call reads */
enum kloc_machine_call {
	/* The kernel is up: layout. */
	KLOC_MACHINE_LAYOUT = 1,
	/* The load phase begins. The model notes which memory is free. */
	KLOC_MACHINE_START = 2,
	/* The measured region begins: tsc, monotonic, page counts. */
	KLOC_MACHINE_BEGIN = 3,
	/* The measured region ends: tsc, monotonic, page counts. */
	KLOC_MACHINE_END = 4,
	/* Another task runs from now on: slot, mm. */
	KLOC_MACHINE_SWITCH = 6,
	/* Copies until DMA_END stand for a device's DMA: dma_bytes_per_us. */
	KLOC_MACHINE_DMA_BEGIN = 7,
	KLOC_MACHINE_DMA_END = 8,
	/* The core enters and leaves idle: tsc, storage_pending (on entry). */
	KLOC_MACHINE_IDLE_ENTER = 9,
	KLOC_MACHINE_IDLE_EXIT = 10,
};

/*
 * Reading the TSC, the offset and the TSC again takes fewer instructions than
 * this. If it took more, the reader was interrupted, and has to read again.
 */
#define KLOC_MACHINE_READ_INSTRUCTIONS	64

/* One slot for each background thread. Slot 0 is everything else. */
#define KLOC_MACHINE_SLOTS	32
#define KLOC_MACHINE_COMM	16

/* Tags in page->private of an untyped page: what the page is used for */
#define KLOC_MACHINE_TAG_SOCKET	0x4b434f534b4c4f43ULL
#define KLOC_MACHINE_TAG_STACK	0x4b4154534b4c4f43ULL

/*
 * Tags in page->index of a new page: what it was allocated for, as far as the
 * GFP flags tell. The owner overwrites the tag with its own index.
 */
#define KLOC_MACHINE_NEW_ANON		0x4e4f4e414b4c4f43ULL
#define KLOC_MACHINE_NEW_FILE		0x454c49464b4c4f43ULL
#define KLOC_MACHINE_NEW_BLOCKDEV	0x44564b424b4c4f43ULL

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
	char comm[KLOC_MACHINE_COMM];
	__u64 migrated;			/* pages that the thread migrated */
	__u64 reserved;
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
	/* Written by the model */
	__u64 magic;
	__u64 version;
	__s64 offset;			/* T = TSC + offset, ns */
	__u64 reserved;
	__u64 background;		/* background core is ahead of T by, ns */
	__u64 modelled;			/* 1 in the measured region, else 0 */
	__u64 instructions;		/* executed, as of the last update */
	__u64 time;			/* T, as of the last update, ns */
	__u64 own_core;			/* 1 if they run on their own core */
	__u64 to_guest[23];

	/* Written by the guest */
	__u64 tsc;			/* TSC at the call */
	__u64 monotonic;		/* CLOCK_MONOTONIC at the call, ns */
	__u64 slot;			/* slot of the running task */
	__u64 mm;			/* address space of the running task */
	__u64 dma_bytes_per_us;
	__u64 storage_pending;		/* requests that the disks are serving */
	__u64 runnable;			/* not used */
	__u64 to_model[25];

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
