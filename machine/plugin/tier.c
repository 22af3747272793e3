// SPDX-License-Identifier: GPL-2.0
/*
 * One tier of memory: moves whole units, books their bandwidth, and derives the latency
 * from the utilisation.
 */
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

/* Advance the ledger to now_ps. Devices copy ahead of the cores: stay 1.0 ms behind them. */
static void advance(struct tier *tier, enum transfer transfer, uint64_t now_ps)
{
	bool by_device = transfer == TRANSFER_DMA_READ || transfer == TRANSFER_DMA_WRITE;
	uint64_t ahead_ps = by_device ? SLOTS_KEPT << SLOT_SHIFT : 0;

	if (now_ps > ahead_ps)
		ledger_advance(&tier->ledger, now_ps - ahead_ps);
}

static bool is_write(enum transfer transfer)
{
	return transfer == TRANSFER_WRITE || transfer == TRANSFER_DMA_WRITE;
}

uint64_t tier_transfer(struct tier *tier, enum transfer transfer, uint64_t now_ps,
		       uint64_t line)
{
	const struct tier_config *config = tier->config;
	bool write = is_write(transfer);

	if (tier->unit_shift && units_serve(write ? &tier->written : &tier->read,
					    line >> tier->unit_shift))
		return 0;
	tier->bytes[transfer] += config->unit_bytes;
	advance(tier, transfer, now_ps);
	return ledger_book(&tier->ledger, now_ps,
			   write ? config->write_unit_ps : config->read_unit_ps);
}

/* Return the factor at a utilisation between two points of the curve. */
static uint64_t interpolate(const struct loaded_point *from, const struct loaded_point *to,
			    uint32_t utilisation)
{
	int64_t rise = (int64_t)to->factor - (int64_t)from->factor;
	int64_t along = (int64_t)utilisation - from->utilisation;
	int64_t width = (int64_t)to->utilisation - from->utilisation;

	return (uint64_t)(from->factor + rise * along / width);
}

/* Return the loaded latency as a multiple of the idle one, x LOADED_ONE. */
static uint64_t loaded_factor(const struct tier_config *config, uint32_t utilisation)
{
	const struct loaded_point *points = config->points;
	unsigned int count = config->point_count;

	for (unsigned int i = 1; i < count; i++)
		if (utilisation < points[i].utilisation)
			return interpolate(&points[i - 1], &points[i], utilisation);
	return count ? points[count - 1].factor : LOADED_ONE;
}

uint64_t tier_latency_ps(const struct tier *tier)
{
	uint64_t utilisation = (uint64_t)ledger_utilisation(&tier->ledger) * LOADED_ONE / SLOT_PS;

	return tier->config->read_ps * loaded_factor(tier->config, (uint32_t)utilisation) /
	       LOADED_ONE;
}
