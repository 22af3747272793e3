// SPDX-License-Identifier: GPL-2.0
/*
 * Policies of memory tiers: the thread of a node, which moves what the policy says.
 *
 * Promotion and demotion take turns, a batch each, so that neither waits for long.
 */
#include <linux/cpumask.h>
#include <linux/freezer.h>
#include <linux/hrtimer.h>
#include <linux/kthread.h>
#include <linux/math64.h>
#include <linux/memory-tiers.h>
#include <linux/mm.h>
#include <linux/rcupdate.h>
#include <linux/swap.h>
#include <linux/timekeeping.h>

#include "../kloc/kloc.h"
#include "tiering.h"

/* How often a daemon that is not woken looks whether there is room, in a scan. */
#define TIERING_LOOKS		8

/* A daemon that was idle may move as much as in this time at once, ns. */
#define TIERING_BURST		(10ULL * NSEC_PER_MSEC)

/* No longer rest than that counts, ns. */
#define TIERING_MOST_REST	(1ULL * NSEC_PER_SEC)

/* Batches before the daemon looks at the time again. */
#define TIERING_TURNS		16

struct tiering_settings tiering_settings = {
	.scan_us = USEC_PER_SEC,
	.rate = 512UL << 20,
	.pin = 8,
};

/* Bytes that may be moved in a time. */
static s64 tiering_rate_in(u64 ns)
{
	return mul_u64_u64_div_u64(READ_ONCE(tiering_settings.rate), ns,
				   NSEC_PER_SEC);
}

/* Fill the budget up, and say what is left of it. */
static s64 tiering_budget(struct tiering_node *tn)
{
	u64 now = ktime_get_mono_fast_ns();
	u64 since = min(now - tn->refilled, TIERING_MOST_REST);

	/* What is moved without a limit is no debt when there is one again. */
	if (!READ_ONCE(tiering_settings.rate)) {
		tn->refilled = now;
		tn->budget = 0;
		return S64_MAX;
	}
	tn->refilled = now;
	tn->budget = min(tn->budget + tiering_rate_in(since),
			 tiering_rate_in(TIERING_BURST));
	return tn->budget;
}

/**
 * tiering_in_background() - may folios be moved that need not leave yet?
 * @tn: the node
 *
 * Return: true while less than half of the rate is used.
 */
bool tiering_in_background(struct tiering_node *tn)
{
	return tiering_budget(tn) > tiering_rate_in(TIERING_BURST) / 2;
}

/**
 * tiering_wake() - tell a node's daemon that there is something to do
 * @tn: the node
 *
 * Context: any.
 */
void tiering_wake(struct tiering_node *tn)
{
	if (READ_ONCE(tn->woken))
		return;
	WRITE_ONCE(tn->woken, true);
	wake_up(&tn->wait);
}

/**
 * tiering_scan_ns() - how long is a scan?
 *
 * Return: ns.
 */
u64 tiering_scan_ns(void)
{
	return (u64)READ_ONCE(tiering_settings.scan_us) * NSEC_PER_USEC;
}

/* Move a batch. Return: whether any of it was moved. */
static bool tiering_move(struct tiering_node *tn, struct tiering_batch *b)
{
	unsigned int moved = tiering_migrate(tn, b);

	tn->budget -= (s64)moved * PAGE_SIZE;
	return moved;
}

static bool tiering_demote(const struct tiering_policy *policy,
			   struct tiering_node *tn)
{
	struct tiering_batch b = { .folios = LIST_HEAD_INIT(b.folios) };

	if (policy->needs & TIERING_KNODES && kloc_limit_fill(tn, &b))
		return tiering_move(tn, &b);
	return policy->fill_demote &&
	       policy->fill_demote(tn, &b, -tiering_room(tn->nid)) &&
	       tiering_move(tn, &b);
}

static bool tiering_promote(const struct tiering_policy *policy,
			    struct tiering_node *tn)
{
	struct tiering_batch b = {
		.folios = LIST_HEAD_INIT(b.folios),
		.promote = true,
	};
	long room = tiering_room_to_fill(tn->nid);

	/* What waits will come when kswapd has made room. */
	if (!policy->fill_promote || room <= 0 ||
	    !policy->fill_promote(tn, &b, room))
		return false;
	if (tiering_room(tn->nid) < b.pages)
		tiering_wake_kswapd(tn->nid);
	return tiering_move(tn, &b);
}

/* Move what is to be moved now, for a bounded time. Return: how long to wait, ns. */
static u64 tiering_turns(const struct tiering_policy *policy,
			 struct tiering_node *tn)
{
	unsigned int i;

	for (i = 0; i < TIERING_TURNS; i++) {
		bool more;

		cond_resched();
		if (kthread_should_stop() || freezing(current))
			return 0;
		if (tiering_budget(tn) <= 0)
			return TIERING_BURST;
		more = tiering_demote(policy, tn);
		more |= tiering_promote(policy, tn);
		if (policy->needs & TIERING_SLABS)
			more |= tiering_slabs_turn(tn);
		if (!more)
			return tiering_scan_ns() / TIERING_LOOKS;
	}
	return 0;
}

/* How much of a scan that began then is left? By the scans' length of now. */
static s64 tiering_scan_left(u64 began)
{
	return began + tiering_scan_ns() - ktime_get_mono_fast_ns();
}

/* Wait until there is something to do, or it is time to look. */
static void tiering_wait(struct tiering_node *tn, u64 most, u64 began)
{
	s64 left = min_t(s64, most, tiering_scan_left(began));

	if (left > 0)
		wait_event_interruptible_hrtimeout(tn->wait,
						   kthread_should_stop() ||
						   READ_ONCE(tn->woken),
						   ns_to_ktime(left));
	WRITE_ONCE(tn->woken, false);
}

/*
 * A scan is over. A folio that was added a moment ago is on no LRU list yet, but on one
 * of the CPU that added it. A quiet CPU keeps it for ever.
 */
static void tiering_end_scan(const struct tiering_policy *policy,
			     struct tiering_node *tn)
{
	if (READ_ONCE(tn->counts))
		tiering_next_scan();
	if (READ_ONCE(tn->busy))
		lru_add_drain_all();
	WRITE_ONCE(tn->busy, 0);
	if (policy->needs & TIERING_SLABS)
		tiering_slabs_period(tn);
	if (policy->period)
		policy->period(tn);
}

static int tiering_daemon(void *data)
{
	struct tiering_node *tn = data;
	const struct tiering_policy *policy = tn->policy;
	u64 began = ktime_get_mono_fast_ns(), wait = 0;

	/* Nothing moves while an image of memory is written, as with kswapd. */
	set_freezable();
	while (!kthread_freezable_should_stop(NULL)) {
		tiering_wait(tn, wait, began);
		if (tiering_scan_left(began) <= 0) {
			tiering_end_scan(policy, tn);
			began = ktime_get_mono_fast_ns();
		}
		if (policy->needs & TIERING_KNODES)
			kloc_limit_look(tn);
		wait = tiering_turns(policy, tn);
	}
	return 0;
}

/**
 * tiering_daemon_start() - start the daemon of a node
 * @tn: the node, whose policy has been initialized
 *
 * Context: may sleep.
 * Return: 0, or an error.
 */
int tiering_daemon_start(struct tiering_node *tn)
{
	struct task_struct *daemon;

	daemon = kthread_create_on_node(tiering_daemon, tn, tn->nid, "ktierd%d",
					tn->nid);
	if (IS_ERR(daemon))
		return PTR_ERR(daemon);
	set_cpus_allowed_ptr(daemon, cpumask_of_node(tn->nid));
	tn->daemon = daemon;
	wake_up_process(daemon);
	return 0;
}

/**
 * tiering_daemon_stop() - stop it
 * @tn: the node, which nobody finds any more
 */
void tiering_daemon_stop(struct tiering_node *tn)
{
	if (tn->daemon)
		kthread_stop(tn->daemon);
	tn->daemon = NULL;
}
