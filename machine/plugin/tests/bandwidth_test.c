// SPDX-License-Identifier: GPL-2.0
#include "bandwidth.h"
#include "check.h"

static struct ledger ledger;

#define SERVICE_PS	8533ULL		/* 64 bytes at 7.5 bytes/ns */

/*
 * Make requests one after the other, each think_ps after the one before began to be
 * served. Return how long they take.
 */
static uint64_t stream(enum requester who, uint64_t now_ps, uint64_t think_ps, int requests)
{
	uint64_t begin_ps = now_ps;

	for (int i = 0; i < requests; i++) {
		if (who == REQUESTER_WORKLOAD)
			ledger_advance(&ledger, now_ps);
		now_ps += think_ps + ledger_book(&ledger, who, now_ps, SERVICE_PS);
	}
	return now_ps - begin_ps;
}

static bool within_per_mille(uint64_t value, uint64_t expected, uint64_t per_mille)
{
	uint64_t error = value > expected ? value - expected : expected - value;

	return error * 1000 <= expected * per_mille;
}

static void idle_tier_does_not_wait(void)
{
	ledger_clear(&ledger, 0);
	CHECK(ledger_book(&ledger, REQUESTER_WORKLOAD, 5 * SLOT_PS + 17, SERVICE_PS) == 0);
}

static void stream_gets_the_bandwidth(void)
{
	ledger_clear(&ledger, 12345);
	CHECK(within_per_mille(stream(REQUESTER_WORKLOAD, 12345, 500, 100000),
			       100000 * SERVICE_PS, 1));
}

static void slow_stream_does_not_wait(void)
{
	ledger_clear(&ledger, 0);
	CHECK(stream(REQUESTER_WORKLOAD, 0, 2 * SERVICE_PS, 10000) ==
	      10000 * 2 * SERVICE_PS);
}

static void large_request_takes_several_slots(void)
{
	ledger_clear(&ledger, 0);
	CHECK(ledger_book(&ledger, REQUESTER_WORKLOAD, 0, 3 * SLOT_PS) == 0);
	CHECK(ledger_book(&ledger, REQUESTER_WORKLOAD, 10, 1) == 3 * SLOT_PS - 10);
}

static void workload_is_not_behind_what_runs_ahead(void)
{
	ledger_clear(&ledger, 0);
	/* 2 ms of traffic at full bandwidth take 4 ms: it gets at most half of each slot. */
	CHECK(within_per_mille(stream(REQUESTER_AHEAD, 0, 0, 234375),
			       2 * 234375 * SERVICE_PS, 1));
	/* In these 4 ms the workload gets the other half. */
	CHECK(within_per_mille(stream(REQUESTER_WORKLOAD, 0, 0, 200000),
			       2 * 200000 * SERVICE_PS, 1));
}

static void time_passes_and_slots_are_free_again(void)
{
	ledger_clear(&ledger, 0);
	ledger_book(&ledger, REQUESTER_WORKLOAD, 0, SLOTS * SLOT_PS);
	for (uint64_t slot = 1; slot < 1000; slot++) {
		ledger_advance(&ledger, slot * SLOT_PS);
		CHECK(ledger_book(&ledger, REQUESTER_WORKLOAD, slot * SLOT_PS, 1) ==
		      (SLOTS - slot) * SLOT_PS);
	}
	ledger_advance(&ledger, 3 * SLOTS * SLOT_PS);
	CHECK(ledger_book(&ledger, REQUESTER_WORKLOAD, 3 * SLOTS * SLOT_PS, 1) == 0);
}

static void too_much_is_lost_and_counted(void)
{
	ledger_clear(&ledger, 0);
	ledger_book(&ledger, REQUESTER_WORKLOAD, 0, SLOTS * SLOT_PS + 99);
	CHECK(ledger.lost_ps == 99);
}

void test_bandwidth(void)
{
	idle_tier_does_not_wait();
	stream_gets_the_bandwidth();
	slow_stream_does_not_wait();
	large_request_takes_several_slots();
	workload_is_not_behind_what_runs_ahead();
	time_passes_and_slots_are_free_again();
	too_much_is_lost_and_counted();
}
