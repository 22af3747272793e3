// SPDX-License-Identifier: GPL-2.0
#include <string.h>

#include "clock.h"

/* The ledger must still hold the slots that the device books in. */
#define DEVICE_AHEAD_PS		(SLOTS / 2 * SLOT_PS)
/*
 * Page faults abandon a few instructions each. A TSC that implies that more than
 * one in 16 was abandoned is not the one that was read last, and is ignored.
 */
#define ABANDONED_SHARE		16

void clock_init(struct clock *clock, uint64_t insn_ps, bool own_core)
{
	memset(clock, 0, sizeof(*clock));
	clock->insn_ps = insn_ps;
	clock->own_core = own_core;
}

/* Advance the background core's clock, and T if that clock gets too far ahead. */
static void advance_background(struct clock *clock, uint64_t spent_ps)
{
	clock->work_ps += background_advance(&clock->background, clock_now_ps(clock),
					     spent_ps);
}

void clock_run(struct clock *clock, uint64_t counted)
{
	uint64_t instructions = counted - clock->counted;
	uint64_t spent_ps = instructions * clock->insn_ps;

	clock->counted = counted;
	if (clock->device) {
		clock->device_instructions += instructions;
	} else {
		clock->background.threads[clock->slot].instructions += instructions;
		if (clock_in_background(clock))
			advance_background(clock, spent_ps);
		else
			clock->work_ps += spent_ps;
	}
}

int64_t clock_offset_ns(const struct clock *clock)
{
	return (int64_t)(clock->work_ps / PS_PER_NS) - (int64_t)clock_executed(clock);
}

uint64_t clock_executed(const struct clock *clock)
{
	return clock->counted - clock->abandoned;
}

void clock_stall(struct clock *clock, uint64_t stall_ps)
{
	clock->background.threads[clock->slot].stall_ps += stall_ps;
	if (clock_in_background(clock))
		advance_background(clock, stall_ps);
	else
		clock->work_ps += stall_ps;
}

void clock_switch(struct clock *clock, unsigned int slot)
{
	clock->slot = slot;
	if (clock_in_background(clock))
		background_enter(&clock->background, clock_now_ps(clock));
}

void clock_device_begin(struct clock *clock, uint64_t bytes_per_us)
{
	uint64_t now_ps = clock_now_ps(clock);

	if (clock->device_ps < now_ps)
		clock->device_ps = now_ps;
	clock->device_line_ps = bytes_per_us ?
				LINE_BYTES * 1000 * PS_PER_NS / bytes_per_us : 0;
	clock->device = true;
}

void clock_device_end(struct clock *clock)
{
	clock->device = false;
}

void clock_device_line(struct clock *clock, uint64_t wait_ps)
{
	uint64_t most_ps = clock_now_ps(clock) + DEVICE_AHEAD_PS;

	clock->device_ps += clock->device_line_ps + wait_ps;
	if (clock->device_ps > most_ps)
		clock->device_ps = most_ps;
}

void clock_read_tsc(struct clock *clock)
{
	clock->tsc_counted = clock->counted;
}

/*
 * Take the time of abandoned instructions off the workload's core: most of them
 * are user instructions before a page fault. Return by how much the guest's T,
 * TSC + offset, advances: 1 ns - CPI for each.
 */
static uint64_t give_back(struct clock *clock, uint64_t instructions)
{
	int64_t before_ns = clock_offset_ns(clock);

	clock->abandoned += instructions;
	clock->work_ps -= instructions * clock->insn_ps;
	return (uint64_t)(clock_offset_ns(clock) - before_ns);
}

static void add_idle(struct clock *clock, uint64_t jump_ns, bool pending)
{
	clock->idle_ns += jump_ns;
	if (pending)
		clock->storage_idle_ns += jump_ns;
}

/* Return whether so many of the instructions since the last sync can be abandoned. */
static bool is_plausible(uint64_t abandoned, uint64_t since)
{
	return abandoned <= since / ABANDONED_SHARE + ABANDONED_SHARE;
}

uint64_t clock_sync(struct clock *clock, uint64_t tsc, bool pending)
{
	int64_t moved = (int64_t)(tsc - clock->tsc_counted) - clock->skew;
	uint64_t since = clock->tsc_counted - clock->synced;
	uint64_t jump_ns = 0;

	if (!tsc)
		return 0;
	if (moved >= 0)
		add_idle(clock, (uint64_t)moved, pending);
	else if (clock->in_sync && is_plausible((uint64_t)-moved, since))
		jump_ns = give_back(clock, (uint64_t)-moved);
	else if (clock->in_sync)
		return 0;
	clock->in_sync = true;
	clock->skew += moved;
	clock->synced = clock->tsc_counted;
	return jump_ns;
}
