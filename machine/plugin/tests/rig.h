/* SPDX-License-Identifier: GPL-2.0 */
/*
 * A machine under test, without QEMU: cores that execute one instruction for each access,
 * and 16 MiB of fast and 64 MiB of slow memory. The rig's functions must run in a
 * directory of their own, where the memory's files are.
 */
#ifndef RIG_H
#define RIG_H

#include "access.h"
#include "calls.h"
#include "machine.h"
#include "paging.h"

#define MEGA		(1ULL << 20)
#define RIG_SLOW	(16 * MEGA)	/* physical address of the slow tier */
#define RIG_PAGE	(15 * MEGA)	/* where the guest's kloc_machine_page is */

extern struct machine rig;
extern uint64_t rig_now_ps[CORES_MAX];
extern struct counts rig_counts[CORES_MAX];
extern bool rig_skips;		/* leave out accesses by the cores' filters, as QEMU does */
extern uint64_t rig_skipped;	/* accesses that were left out */

/* Go to a new directory, and back; the second removes it. */
void rig_enter(void);
void rig_leave(void);

/*
 * Set up the machine, with more lines of configuration after those of tiers and memory.
 * Latencies are 80 and 240 ns, bandwidths 8 and 1 bytes/ns unless `more` says otherwise.
 */
void rig_start(const char *more);
void rig_stop(void);

/* Make a call of the guest at the latest time of any core. */
void rig_call(unsigned int call);

/* Let the guest's kernel describe itself: a memmap of 64 bytes a frame from frame 1 on. */
struct kloc_machine_page *rig_describe(void);

/* Write the struct page of a frame, as rig_describe() has it. */
void rig_write_page(uint64_t frame, uint64_t mapping, uint32_t references);

/* Return the word at a physical address. */
uint64_t *rig_word(uint64_t physical);

/* Map a virtual page by four tables in the frames from root on. Return its entry. */
uint64_t *rig_map(uint64_t root, uint64_t address, uint64_t physical);

/* One instruction of a core, in user mode, that accesses memory. */
void rig_access(unsigned int core, uint64_t address, uint64_t physical, bool store);

/* The same of core 0, where the virtual address is the physical one. */
void rig_touch(uint64_t physical, bool store);

/* Load lines in an order without streams; none depends on another. */
void rig_scatter(uint64_t from, uint64_t lines);

/* The same order as a linked list: each line has the address of the next one. */
void rig_chase(uint64_t from, uint64_t lines);

/* How long the region took that has ended. */
uint64_t rig_elapsed_ps(void);

/* Return the file out.json. */
const char *rig_output(void);

#endif /* RIG_H */
