// SPDX-License-Identifier: GPL-2.0
#include "check.h"
#include "tier.h"

static struct tier tier;

static const struct tier_config dram = {
	.name = "dram", .load_ps = 80000, .store_ps = 40000,
	.unit_bytes = 64, .read_unit_ps = 8533, .write_unit_ps = 8533,
};

static const struct tier_config optane = {
	.name = "optane", .load_ps = 300000, .store_ps = 100000,
	.unit_bytes = 256, .read_unit_ps = 100000, .write_unit_ps = 400000,
};

static void miss_costs_latency(void)
{
	tier_init(&tier, &dram);
	CHECK(tier_miss(&tier, REQUESTER_WORKLOAD, 0, 1, false, false) == 80000);
	CHECK(tier_miss(&tier, REQUESTER_WORKLOAD, 0, 2, true, false) == 40000);
	CHECK(tier_miss(&tier, REQUESTER_WORKLOAD, 0, 3, false, true) == 0);
	CHECK(tier.bytes[TRANSFER_READ] == 3 * 64);
	CHECK(tier.bytes[TRANSFER_WRITE] == 0);
}

static void unit_moves_as_a_whole_and_once(void)
{
	tier_init(&tier, &optane);
	CHECK(tier_miss(&tier, REQUESTER_WORKLOAD, 0, 4, false, false) == 300000);
	CHECK(tier_miss(&tier, REQUESTER_WORKLOAD, 300000, 7, false, false) == 300000);
	CHECK(tier.bytes[TRANSFER_READ] == 256);
	CHECK(tier_miss(&tier, REQUESTER_WORKLOAD, 600000, 8, false, false) == 300000);
	CHECK(tier.bytes[TRANSFER_READ] == 512);
	/* Sixteen other units replace it in the buffer. */
	for (uint64_t line = 100; line < 100 + 16 * 4; line += 4)
		tier_transfer(&tier, TRANSFER_READ, REQUESTER_WORKLOAD, 900000, line);
	tier_transfer(&tier, TRANSFER_READ, REQUESTER_WORKLOAD, 900000, 4);
	CHECK(tier.bytes[TRANSFER_READ] == 19 * 256);
}

static void writes_have_a_rate_and_a_buffer_of_their_own(void)
{
	tier_init(&tier, &optane);
	tier_transfer(&tier, TRANSFER_READ, REQUESTER_WORKLOAD, 0, 4);
	CHECK(tier_transfer(&tier, TRANSFER_WRITE, REQUESTER_WORKLOAD, 0, 4) == 0);
	CHECK(tier.bytes[TRANSFER_WRITE] == 256);
	CHECK(tier.ledger.taken_ps[0] + tier.ledger.taken_ps[1] + tier.ledger.taken_ps[2] +
	      tier.ledger.taken_ps[3] == 500000);
	CHECK(tier_transfer(&tier, TRANSFER_DMA_WRITE, REQUESTER_WORKLOAD, 0, 5) == 0);
	CHECK(tier.bytes[TRANSFER_DMA_WRITE] == 0);
}

void test_tier(void)
{
	miss_costs_latency();
	unit_moves_as_a_whole_and_once();
	writes_have_a_rate_and_a_buffer_of_their_own();
}
