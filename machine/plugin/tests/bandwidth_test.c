// SPDX-License-Identifier: GPL-2.0
/*
 * The ledger gives requesters all of a tier's bandwidth and never more, in any order.
 */
#include "bandwidth.h"
#include "check.h"

static struct ledger ledger;

#define SERVICE_PS	8533ULL		/* 64 bytes at 7.5 bytes/ns */
#define QUANTUM_PS	2000000ULL
#define CORES		4

/*
 * Make requests one after the other, each think_ps after the one before began to be
 * served. Return how long they take.
 */
static uint64_t stream(uint64_t now_ps, uint64_t think_ps, int requests)
{
	uint64_t begin_ps = now_ps;

	for (int i = 0; i < requests; i++) {
		ledger_advance(&ledger, now_ps);
		now_ps += think_ps + ledger_book(&ledger, now_ps, SERVICE_PS);
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
	CHECK(ledger_book(&ledger, 5 * SLOT_PS + 17, SERVICE_PS) == 0);
}

static void stream_gets_the_bandwidth(void)
{
	ledger_clear(&ledger, 12345);
	CHECK(within_per_mille(stream(12345, 500, 100000), 100000 * SERVICE_PS, 1));
}

static void slow_stream_does_not_wait(void)
{
	ledger_clear(&ledger, 0);
	CHECK(stream(0, 2 * SERVICE_PS, 10000) == 10000 * 2 * SERVICE_PS);
}

static void large_request_takes_several_slots(void)
{
	ledger_clear(&ledger, 0);
	CHECK(ledger_book(&ledger, 0, 3 * SLOT_PS) == 0);
	CHECK(ledger_book(&ledger, 10, 1) == 3 * SLOT_PS - 10);
}

static void request_before_others_finds_the_time_that_they_left(void)
{
	ledger_clear(&ledger, 0);
	ledger_advance(&ledger, 9 * SLOT_PS);
	CHECK(ledger_book(&ledger, 9 * SLOT_PS, 2 * SLOT_PS) == 0);
	CHECK(ledger_book(&ledger, 8 * SLOT_PS, SLOT_PS) == 0);
	CHECK(ledger_book(&ledger, 7 * SLOT_PS, SLOT_PS) == 0);
	CHECK(ledger_book(&ledger, 7 * SLOT_PS, SLOT_PS) == 4 * SLOT_PS);
}

/* Run the cores in turn for a quantum each, as QEMU does; each asks all the time. */
static void cores_share_the_bandwidth_and_none_is_booked_twice(void)
{
	uint64_t now_ps[CORES] = { 0 };
	uint64_t requests[CORES] = { 0 };
	uint64_t booked_ps = 0, taken_ps = 0, end_ps = 1000 * QUANTUM_PS;

	ledger_clear(&ledger, 0);
	for (uint64_t until_ps = QUANTUM_PS; until_ps <= end_ps; until_ps += QUANTUM_PS)
		for (int core = 0; core < CORES; core++)
			for (; now_ps[core] < until_ps; requests[core]++) {
				ledger_advance(&ledger, now_ps[core]);
				now_ps[core] += 20000 +
					ledger_book(&ledger, now_ps[core], SERVICE_PS);
				booked_ps += SERVICE_PS;
			}
	/* Four times 64 bytes in 20 ns are 12.8 bytes/ns: more than there is. */
	CHECK(within_per_mille(booked_ps, end_ps, 3));
	for (int core = 0; core < CORES; core++)
		CHECK(requests[core] > 100);
	/* The slots that are still there hold no more than they can. */
	for (uint64_t slot = 0; slot < SLOTS; slot++) {
		CHECK(ledger.taken_ps[slot] <= SLOT_PS);
		taken_ps += ledger.taken_ps[slot];
	}
	CHECK(taken_ps <= (SLOTS_KEPT + 64) * SLOT_PS);
	CHECK(ledger.lost_ps == 0);
}

/* Requests at random times within 2 us, in random order: each slot adds up. */
static void any_order_books_every_service_once(void)
{
	uint64_t random = 1, taken_ps = 0;
	const uint64_t requests = 5000;

	ledger_clear(&ledger, 0);
	for (uint64_t i = 0; i < requests; i++) {
		uint64_t now_ps;

		random = random * 6364136223846793005ULL + 1442695040888963407ULL;
		now_ps = i * 2000 + (random >> 33) % QUANTUM_PS;
		ledger_advance(&ledger, now_ps);
		ledger_book(&ledger, now_ps, SERVICE_PS);
	}
	for (uint64_t slot = 0; slot < SLOTS; slot++) {
		CHECK(ledger.taken_ps[slot] <= SLOT_PS);
		taken_ps += ledger.taken_ps[slot];
	}
	CHECK(taken_ps == requests * SERVICE_PS);
}

static void time_passes_and_slots_are_free_again(void)
{
	ledger_clear(&ledger, 0);
	ledger_book(&ledger, 0, SLOTS * SLOT_PS);
	for (uint64_t slot = SLOTS_KEPT + 1; slot < 2 * SLOTS_KEPT; slot++) {
		ledger_advance(&ledger, slot * SLOT_PS);
		CHECK(ledger_book(&ledger, slot * SLOT_PS, 1) == (SLOTS - slot) * SLOT_PS);
	}
	ledger_advance(&ledger, 3 * SLOTS * SLOT_PS);
	CHECK(ledger_book(&ledger, 3 * SLOTS * SLOT_PS, 1) == 0);
}

static void request_before_the_ledger_waits_for_it(void)
{
	uint64_t now_ps = 3 * SLOTS * SLOT_PS;

	ledger_clear(&ledger, now_ps);
	CHECK(ledger_book(&ledger, now_ps - 2 * SLOT_PS, 1) == 2 * SLOT_PS);
}

static void too_much_is_lost_and_counted(void)
{
	ledger_clear(&ledger, 0);
	ledger_book(&ledger, 0, SLOTS * SLOT_PS + 99);
	ledger_advance(&ledger, 3 * SLOTS * SLOT_PS);
	CHECK(ledger.lost_ps == 99);
}

/* Book a share of the bandwidth of each slot, by cores that run a quantum each. */
static uint32_t utilisation_of(uint64_t per_mille)
{
	ledger_clear(&ledger, 0);
	for (uint64_t begin_ps = 0; begin_ps < 200 * QUANTUM_PS; begin_ps += QUANTUM_PS)
		for (int core = 0; core < CORES; core++)
			for (uint64_t i = 0; i < 100; i++) {
				uint64_t now_ps = begin_ps + i * QUANTUM_PS / 100;

				ledger_advance(&ledger, now_ps);
				ledger_book(&ledger, now_ps,
					    QUANTUM_PS / 100 / CORES * per_mille / 1000);
			}
	return ledger_utilisation(&ledger);
}

static void utilisation_is_the_share_that_is_booked(void)
{
	CHECK(within_per_mille(utilisation_of(250), SLOT_PS / 4, 10));
	CHECK(within_per_mille(utilisation_of(2000), SLOT_PS, 10));
	CHECK(within_per_mille(utilisation_of(800), SLOT_PS * 8 / 10, 10));
	/* It falls by half in 0.69 time constants of silence, and to nothing in 20. */
	ledger_advance(&ledger, (ledger.latest + SLOTS_OPEN + 89) * SLOT_PS);
	CHECK(within_per_mille(ledger_utilisation(&ledger), SLOT_PS * 4 / 10, 20));
	ledger_advance(&ledger, (ledger.latest + (20 << AVERAGE_SHIFT)) * SLOT_PS);
	CHECK(ledger_utilisation(&ledger) == 0);
}

static void late_booking_counts_too(void)
{
	ledger_clear(&ledger, 0);
	ledger_advance(&ledger, 100 * SLOT_PS);
	CHECK(ledger_utilisation(&ledger) == 0);
	ledger_book(&ledger, 99 * SLOT_PS, SLOT_PS);
	CHECK(ledger_utilisation(&ledger) == 0);
	ledger_book(&ledger, 10 * SLOT_PS, SLOT_PS);
	CHECK(ledger_utilisation(&ledger) == SLOT_PS >> AVERAGE_SHIFT);
}

void test_bandwidth(void)
{
	idle_tier_does_not_wait();
	stream_gets_the_bandwidth();
	slow_stream_does_not_wait();
	large_request_takes_several_slots();
	request_before_others_finds_the_time_that_they_left();
	cores_share_the_bandwidth_and_none_is_booked_twice();
	any_order_books_every_service_once();
	time_passes_and_slots_are_free_again();
	request_before_the_ledger_waits_for_it();
	too_much_is_lost_and_counted();
	utilisation_is_the_share_that_is_booked();
	late_booking_counts_too();
}
