// SPDX-License-Identifier: GPL-2.0
/*
 * A tier moves whole units, and its latency follows the load.
 */
#include "check.h"
#include "overlap.h"
#include "tier.h"

static struct tier tier;

#define PERCENT(percent)	((percent) * LOADED_ONE / 100)

static const struct tier_config dram = {
	.name = "dram", .read_ps = 80000,
	.unit_bytes = 64, .read_unit_ps = 8533, .write_unit_ps = 8533,
};

static const struct tier_config optane = {
	.name = "optane", .read_ps = 300000,
	.unit_bytes = 256, .read_unit_ps = 100000, .write_unit_ps = 400000,
};

static const struct tier_config loaded = {
	.name = "loaded", .read_ps = 100000,
	.unit_bytes = 64, .read_unit_ps = 1000, .write_unit_ps = 2000,
	.point_count = 4,
	.points = {
		{ PERCENT(0), PERCENT(100) }, { PERCENT(50), PERCENT(110) },
		{ PERCENT(75), PERCENT(210) }, { PERCENT(90), PERCENT(400) },
	},
};

/* The same curve, and less bandwidth. */
static struct tier_config narrow;

static bool within_percent(uint64_t value, uint64_t expected)
{
	uint64_t error = value > expected ? value - expected : expected - value;

	return error * 100 <= expected;
}

static void idle_tier_has_its_latency_and_no_wait(void)
{
	tier_init(&tier, &dram);
	CHECK(tier_transfer(&tier, TRANSFER_READ, 0, 1) == 0);
	CHECK(tier_latency_ps(&tier) == 80000);
	CHECK(tier.bytes[TRANSFER_READ] == 64);
	CHECK(tier.bytes[TRANSFER_WRITE] == 0);
	tier_init(&tier, &loaded);
	CHECK(tier_latency_ps(&tier) == 100000);
}

/* Transfer a line every gap_ps for 200 us. Return the latency then. */
static uint64_t latency_under(enum transfer transfer, uint64_t gap_ps)
{
	tier_init(&tier, &loaded);
	for (uint64_t now_ps = 0; now_ps < 200000000; now_ps += gap_ps)
		tier_transfer(&tier, transfer, now_ps, now_ps / gap_ps);
	return tier_latency_ps(&tier);
}

static void latency_follows_the_curve(void)
{
	CHECK(within_percent(latency_under(TRANSFER_READ, 4000), 105000));
	CHECK(within_percent(latency_under(TRANSFER_READ, 2000), 110000));
	CHECK(within_percent(latency_under(TRANSFER_READ, 1600), 160000));
	CHECK(within_percent(latency_under(TRANSFER_READ, 1212), 305000));
	CHECK(within_percent(latency_under(TRANSFER_READ, 1000), 400000));
	CHECK(within_percent(latency_under(TRANSFER_READ, 500), 400000));
	/* A write takes twice as long. */
	CHECK(within_percent(latency_under(TRANSFER_WRITE, 3200), 160000));
}

static void latency_falls_when_the_load_ends(void)
{
	CHECK(latency_under(TRANSFER_READ, 1000) > 399000);
	tier_transfer(&tier, TRANSFER_READ, 400000000, 1);
	CHECK(tier_latency_ps(&tier) == 100000);
	CHECK(latency_under(TRANSFER_READ, 1000) > 399000);
	tier_clear(&tier, 0);
	CHECK(tier_latency_ps(&tier) == 100000);
}

static void unit_moves_as_a_whole_and_once(void)
{
	tier_init(&tier, &optane);
	tier_transfer(&tier, TRANSFER_READ, 0, 4);
	tier_transfer(&tier, TRANSFER_READ, 300000, 7);
	CHECK(tier.bytes[TRANSFER_READ] == 256);
	tier_transfer(&tier, TRANSFER_READ, 600000, 8);
	CHECK(tier.bytes[TRANSFER_READ] == 512);
	/* Sixteen other units replace it in the buffer. */
	for (uint64_t line = 100; line < 100 + 16 * 4; line += 4)
		tier_transfer(&tier, TRANSFER_READ, 900000, line);
	tier_transfer(&tier, TRANSFER_READ, 900000, 4);
	CHECK(tier.bytes[TRANSFER_READ] == 19 * 256);
}

static void writes_have_a_rate_and_a_buffer_of_their_own(void)
{
	tier_init(&tier, &optane);
	tier_transfer(&tier, TRANSFER_READ, 0, 4);
	CHECK(tier_transfer(&tier, TRANSFER_WRITE, 0, 4) == 0);
	CHECK(tier.bytes[TRANSFER_WRITE] == 256);
	CHECK(tier.ledger.taken_ps[0] + tier.ledger.taken_ps[1] + tier.ledger.taken_ps[2] +
	      tier.ledger.taken_ps[3] == 500000);
	CHECK(tier_transfer(&tier, TRANSFER_DMA_WRITE, 0, 5) == 0);
	CHECK(tier.bytes[TRANSFER_DMA_WRITE] == 0);
}

/* A device copies 64 KiB, booked at once for the next 100 us: cores are not hurried along. */
static void device_copies_ahead_of_the_cores(void)
{
	tier_init(&tier, &loaded);
	tier_transfer(&tier, TRANSFER_READ, 10 * SLOT_PS, 0);
	for (uint64_t line = 1; line <= 1024; line++)
		tier_transfer(&tier, TRANSFER_DMA_WRITE, 10 * SLOT_PS + line * 100000, line);
	CHECK(tier.bytes[TRANSFER_DMA_WRITE] == 65536);
	CHECK(tier.ledger.latest == 10);
	/* Alone, devices take the ledger along in the end. */
	tier_transfer(&tier, TRANSFER_DMA_READ, SLOTS * SLOT_PS * 5, 0);
	CHECK(tier.ledger.latest == 5 * SLOTS - SLOTS_KEPT);
	CHECK(tier.ledger.lost_ps == 0);
}

/* A device gets all of the bandwidth that the cores leave. */
static void device_may_use_the_whole_bandwidth(void)
{
	tier_init(&tier, &dram);
	for (uint64_t line = 0; line < 1000; line++)
		tier_transfer(&tier, TRANSFER_DMA_READ, 0, line);
	CHECK(within_percent(tier_transfer(&tier, TRANSFER_DMA_READ, 0, 1000), 8533000));
}

#define CORES	4

/* Miss at random on four cores that run a quantum each in turn. Return the bytes moved. */
static uint64_t miss_on_all_cores(uint64_t quantum_ps, uint64_t end_ps)
{
	static struct overlap overlaps[CORES];
	const struct overlap_config config = {
		.outstanding = 10, .store_buffer = 8, .prefetch = 20, .window = 224,
		.insn_ps = 250,
	};
	uint64_t now_ps[CORES] = { 0 }, insn[CORES] = { 0 }, line = 0;

	narrow = loaded;
	narrow.read_unit_ps = 2500;
	tier_init(&tier, &narrow);
	for (int core = 0; core < CORES; core++)
		overlap_init(&overlaps[core], &config);
	for (uint64_t until_ps = quantum_ps; until_ps <= end_ps; until_ps += quantum_ps)
		for (int core = 0; core < CORES; core++)
			while (now_ps[core] < until_ps) {
				struct overlap_line miss = { 0 };
				struct overlap_start start;

				insn[core] += 4;
				now_ps[core] += 4 * config.insn_ps;
				start = overlap_wait(&overlaps[core], now_ps[core], insn[core],
						     ++line << 20, false);
				now_ps[core] += start.wait_ps;
				miss.bandwidth_ps = tier_transfer(&tier, TRANSFER_READ,
								  start.start_ps, line);
				miss.latency_ps = tier_latency_ps(&tier);
				overlap_add(&overlaps[core], &miss);
			}
	return tier.bytes[TRANSFER_READ];
}

/*
 * Forty lines under way and 2.5 ns for each: utilisation is 40 x 2.5 / (100 x factor), and
 * meets the curve only at 0.625, with a factor of 1.6. The curve is steep there: latency
 * and utilisation must not oscillate, whatever the quantum is.
 */
static void cores_settle_on_the_curve(void)
{
	uint64_t end_ps = 1000000000;
	uint64_t bytes = end_ps / 2500 * 64 * 625 / 1000;

	CHECK(within_percent(miss_on_all_cores(500000, end_ps), bytes));
	CHECK(within_percent(miss_on_all_cores(2000000, end_ps), bytes));
	CHECK(ledger_utilisation(&tier.ledger) > SLOT_PS * 60 / 100);
	CHECK(ledger_utilisation(&tier.ledger) < SLOT_PS * 65 / 100);
}

void test_tier(void)
{
	cores_settle_on_the_curve();
	idle_tier_has_its_latency_and_no_wait();
	latency_follows_the_curve();
	latency_falls_when_the_load_ends();
	unit_moves_as_a_whole_and_once();
	writes_have_a_rate_and_a_buffer_of_their_own();
	device_copies_ahead_of_the_cores();
	device_may_use_the_whole_bandwidth();
}
