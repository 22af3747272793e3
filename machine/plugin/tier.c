// SPDX-License-Identifier: GPL-2.0
#include <string.h>

#include "tier.h"

#define NO_UNIT		(~0ULL)

static void units_clear(struct units *units)
{
	for (int i = 0; i < UNITS_KEPT; i++)
		units->units[i] = NO_UNIT;
	units->next = 0;
}

/* Return whether the unit is buffered; if not, put it in place of the oldest. */
static bool units_serve(struct units *units, uint64_t unit)
{
	for (int i = 0; i < UNITS_KEPT; i++)
		if (units->units[i] == unit)
			return true;
	units->units[units->next] = unit;
	units->next = (units->next + 1) % UNITS_KEPT;
	return false;
}

void tier_init(struct tier *tier, const struct tier_config *config)
{
	memset(tier, 0, sizeof(*tier));
	tier->config = config;
	tier->unit_shift = (unsigned int)__builtin_ctzll(config->unit_bytes) - LINE_SHIFT;
	tier_clear(tier, 0);
}

void tier_clear(struct tier *tier, uint64_t now_ps)
{
	ledger_clear(&tier->ledger, now_ps);
	units_clear(&tier->read);
	units_clear(&tier->written);
}

static bool is_write(enum transfer transfer)
{
	return transfer == TRANSFER_WRITE || transfer == TRANSFER_DMA_WRITE;
}

uint64_t tier_transfer(struct tier *tier, enum transfer transfer, enum requester who,
		       uint64_t now_ps, uint64_t line)
{
	const struct tier_config *config = tier->config;
	bool write = is_write(transfer);

	if (tier->unit_shift && units_serve(write ? &tier->written : &tier->read,
					    line >> tier->unit_shift))
		return 0;
	tier->bytes[transfer] += config->unit_bytes;
	return ledger_book(&tier->ledger, who, now_ps,
			   write ? config->write_unit_ps : config->read_unit_ps);
}

uint64_t tier_miss(struct tier *tier, enum requester who, uint64_t now_ps, uint64_t line,
		   bool store, bool streamed)
{
	uint64_t wait_ps = tier_transfer(tier, TRANSFER_READ, who, now_ps, line);

	if (streamed)
		return wait_ps;
	return wait_ps + (store ? tier->config->store_ps : tier->config->load_ps);
}
