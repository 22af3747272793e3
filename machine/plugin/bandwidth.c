// SPDX-License-Identifier: GPL-2.0
/*
 * The ledger of one tier's bandwidth: books service time in slots, and averages the
 * bookings of past slots into a utilisation.
 */
#include <string.h>

#include "bandwidth.h"

void ledger_clear(struct ledger *ledger, uint64_t now_ps)
{
	memset(ledger, 0, sizeof(*ledger));
	ledger->latest = now_ps >> SLOT_SHIFT;
	ledger->first = ledger->latest;
	ledger->closed = ledger->latest;
}

/* Drop the slots before this one. */
static void drop_before(struct ledger *ledger, uint64_t slot)
{
	for (; ledger->first < slot; ledger->first++) {
		uint64_t index = ledger->first % SLOTS;

		ledger->taken_ps[index] = 0;
		ledger->full[index / 64] &= ~(1ULL << index % 64);
	}
}

/* Add the slots before this one to the average. */
static void close_before(struct ledger *ledger, uint64_t slot)
{
	for (; ledger->closed < slot; ledger->closed++) {
		ledger->average -= ledger->average >> AVERAGE_SHIFT;
		ledger->average += ledger->taken_ps[ledger->closed % SLOTS];
	}
}

void ledger_advance(struct ledger *ledger, uint64_t now_ps)
{
	uint64_t slot = now_ps >> SLOT_SHIFT;
	uint64_t lost_ps = ledger->lost_ps;

	if (likely(slot <= ledger->latest))
		return;
	if (slot - ledger->first >= SLOTS) {
		ledger_clear(ledger, now_ps);
		ledger->lost_ps = lost_ps;
		return;
	}
	ledger->latest = slot;
	if (slot > SLOTS_OPEN)
		close_before(ledger, slot - SLOTS_OPEN);
	if (slot > SLOTS_KEPT)
		drop_before(ledger, slot - SLOTS_KEPT);
}

/* Return the first slot from this one on that has time left, or the ledger's end. */
static uint64_t find_room(const struct ledger *ledger, uint64_t slot)
{
	uint64_t end = ledger->first + SLOTS;

	while (slot < end) {
		uint64_t index = slot % SLOTS;
		uint64_t room = ~ledger->full[index / 64] >> index % 64;

		if (likely(room)) {
			slot += (uint64_t)__builtin_ctzll(room);
			break;
		}
		slot += 64 - index % 64;
	}
	return slot < end ? slot : end;
}

/* Take up to need_ps of a slot that is not full. Return the time taken. */
static uint64_t take(struct ledger *ledger, uint64_t slot, uint64_t need_ps)
{
	uint64_t index = slot % SLOTS;
	uint64_t room_ps = SLOT_PS - ledger->taken_ps[index];
	uint64_t given_ps = need_ps < room_ps ? need_ps : room_ps;

	ledger->taken_ps[index] += (uint32_t)given_ps;
	if (given_ps == room_ps)
		ledger->full[index / 64] |= 1ULL << index % 64;
	if (slot < ledger->closed)
		ledger->average += given_ps;
	return given_ps;
}

uint64_t ledger_book(struct ledger *ledger, uint64_t now_ps, uint64_t service_ps)
{
	uint64_t own = now_ps >> SLOT_SHIFT;
	uint64_t begin = find_room(ledger, own > ledger->first ? own : ledger->first);
	uint64_t slot = begin;
	while (service_ps && slot < ledger->first + SLOTS) {
		service_ps -= take(ledger, slot, service_ps);
		if (service_ps)
			slot = find_room(ledger, slot + 1);
	}
	ledger->lost_ps += service_ps;
	return begin > own ? (begin << SLOT_SHIFT) - now_ps : 0;
}
