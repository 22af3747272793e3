// SPDX-License-Identifier: GPL-2.0
#include <string.h>

#include "bandwidth.h"

/* A requester may book time in a slot until this much of it is taken, by whomever. */
static const uint32_t capacity_ps[REQUESTERS] = {
	[REQUESTER_WORKLOAD] = SLOT_PS,
	[REQUESTER_AHEAD] = SLOT_PS / 2,
};

void ledger_clear(struct ledger *ledger, uint64_t now_ps)
{
	memset(ledger, 0, sizeof(*ledger));
	ledger->first = now_ps >> SLOT_SHIFT;
}

static void clear_slot(struct ledger *ledger, uint64_t slot)
{
	uint64_t index = slot % SLOTS;

	ledger->taken_ps[index] = 0;
	for (int who = 0; who < REQUESTERS; who++)
		ledger->full[who][index / 64] &= ~(1ULL << index % 64);
}

void ledger_advance(struct ledger *ledger, uint64_t now_ps)
{
	uint64_t slot = now_ps >> SLOT_SHIFT;
	uint64_t lost_ps = ledger->lost_ps;

	if (likely(slot <= ledger->first))
		return;
	if (slot - ledger->first >= SLOTS) {
		ledger_clear(ledger, now_ps);
		ledger->lost_ps = lost_ps;
		return;
	}
	while (ledger->first < slot)
		clear_slot(ledger, ledger->first++);
}

/* Return the first slot from this one on that has time left for who, or the ledger's end. */
static uint64_t find_room(const struct ledger *ledger, enum requester who, uint64_t slot)
{
	uint64_t end = ledger->first + SLOTS;

	while (slot < end) {
		uint64_t index = slot % SLOTS;
		uint64_t room = ~ledger->full[who][index / 64] >> index % 64;

		if (likely(room)) {
			slot += (uint64_t)__builtin_ctzll(room);
			break;
		}
		slot += 64 - index % 64;
	}
	return slot < end ? slot : end;
}

/* Take up to need_ps of a slot that is not full for who. Return the time taken. */
static uint64_t take(struct ledger *ledger, enum requester who, uint64_t slot,
		     uint64_t need_ps)
{
	uint64_t index = slot % SLOTS;
	uint64_t room_ps = capacity_ps[who] - ledger->taken_ps[index];
	uint64_t given_ps = need_ps < room_ps ? need_ps : room_ps;

	ledger->taken_ps[index] += (uint32_t)given_ps;
	for (int other = 0; other < REQUESTERS; other++)
		if (ledger->taken_ps[index] >= capacity_ps[other])
			ledger->full[other][index / 64] |= 1ULL << index % 64;
	return given_ps;
}

uint64_t ledger_book(struct ledger *ledger, enum requester who, uint64_t now_ps,
		     uint64_t service_ps)
{
	uint64_t own = now_ps >> SLOT_SHIFT;
	uint64_t begin = find_room(ledger, who, own > ledger->first ? own : ledger->first);
	uint64_t slot = begin;

	while (service_ps && slot < ledger->first + SLOTS) {
		service_ps -= take(ledger, who, slot, service_ps);
		if (service_ps)
			slot = find_room(ledger, who, slot + 1);
	}
	ledger->lost_ps += service_ps;
	return begin > own ? (begin << SLOT_SHIFT) - now_ps : 0;
}
