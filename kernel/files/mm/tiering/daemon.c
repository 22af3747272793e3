// SPDX-License-Identifier: GPL-2.0
/*
 * Policies of memory tiers: the daemon of a node, which moves the policy's batches.
 *
 * Promotion and demotion take turns, one batch each, so that neither waits for long.
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
#include <linux/tiering.h>
#include <linux/timekeeping.h>

#include "internal.h"

/* Times in a scan that a daemon checks for work without being woken. */
#define TIERING_LOOKS		8

/* The largest budget, as the time in which it accumulates, ns. */
#define TIERING_BURST		(10ULL * NSEC_PER_MSEC)

/* The longest idle time that counts for the budget, ns. */
#define TIERING_MOST_REST	(1ULL * NSEC_PER_SEC)

/* Turns before the daemon checks whether the scan is over. */
#define TIERING_TURNS		16

struct tiering_settings tiering_settings = {
	.scan_us = USEC_PER_SEC,
	.rate = 512UL << 20,
	.pin = 8,
	.kinds = BIT(TIERING_FILE) | BIT(TIERING_BLOCKDEV) | BIT(TIERING_SLAB),
};

/* Convert a time to the bytes that may be moved in it. */
static s64 tiering_rate_in(u64 ns)
{
	return mul_u64_u64_div_u64(READ_ONCE(tiering_settings.rate), ns,
				   NSEC_PER_SEC);
}

/* Refill the budget. Return: bytes that may be moved; negative after a large batch. */
static s64 tiering_refill(struct tiering_node *tn, u64 now)
{
	u64 since = min(now - tn->refilled, TIERING_MOST_REST);

	/* Moves without a limit leave no debt for a limit that is set later. */
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

static s64 tiering_budget(struct tiering_node *tn)
{
	return tiering_refill(tn, ktime_get_mono_fast_ns());
}

/**
 * tiering_in_background() - test whether the budget allows background demotion
 * @tn: the node
 *
 * Return: true while more than half of the largest budget is left.
 */
bool tiering_in_background(struct tiering_node *tn)
{
	return tiering_budget(tn) > tiering_rate_in(TIERING_BURST) / 2;
}

/**
 * tiering_wake() - wake the daemon of a node
 * @tn: the node
 *
 * Context: any.
 */
void tiering_wake(struct tiering_node *tn)
{
	/* After the store of the work. Pairs with tiering_wait(). */
	smp_mb();
	if (READ_ONCE(tn->woken))
		return;
	WRITE_ONCE(tn->woken, true);
	wake_up(&tn->wait);
}

/**
 * tiering_scan_ns() - get the length of a scan
 *
 * Return: the length, ns.
 */
u64 tiering_scan_ns(void)
{
	return (u64)READ_ONCE(tiering_settings.scan_us) * NSEC_PER_USEC;
}

/* Move a batch and charge the budget. Return: pages moved. */
static unsigned int tiering_move(struct tiering_node *tn, struct tiering_batch *b)
{
	unsigned int moved = tiering_migrate(tn, b);

	/* Hint faults look for the room that was made. */
	if (moved && !b->promote && tiering_is_hinting())
		tiering_drain_free(tn->nid);
	tn->budget -= (s64)moved * PAGE_SIZE;
	return moved;
}

/* Demote a batch. Return: pages moved. Sets @more if more candidates may be left. */
static unsigned int tiering_demote(const struct tiering_policy *policy,
				   struct tiering_node *tn, bool *more)
{
	struct tiering_batch b = {
		.folios = LIST_HEAD_INIT(b.folios),
		.room = LONG_MAX,
	};

	/* Without these operations, the daemon only ends scans. */
	if (!policy->fill_demote && !policy->fill_promote)
		return 0;
	if ((!(policy->needs & TIERING_FILES) || !tiering_limit_fill(tn, &b)) &&
	    policy->fill_demote)
		policy->fill_demote(tn, &b, -tiering_room(tn->nid));
	*more |= b.more;
	return tiering_move(tn, &b);
}

/* Test whether promotions wait for room. */
static bool tiering_promotion_waits(const struct tiering_policy *policy,
				    struct tiering_node *tn)
{
	return tiering_hot_waits(tn) || (policy->waits && policy->waits(tn));
}

/* Wake kswapd: placement falls back to slow memory and may never wake it. */
static void tiering_ask_for_room(struct tiering_node *tn, u64 now, unsigned int order)
{
	if (now - tn->asked < tiering_scan_ns() / TIERING_LOOKS)
		return;
	tn->asked = now;
	tiering_wake_kswapd(tn->nid, order);
}

/* Promote a batch. As tiering_demote(). */
static unsigned int tiering_promote(const struct tiering_policy *policy,
				    struct tiering_node *tn, bool *more)
{
	struct tiering_batch b = {
		.folios = LIST_HEAD_INIT(b.folios),
		.promote = true,
	};
	/* Regions may be huge pages, which move as a whole. */
	unsigned int order = policy->needs & TIERING_VISITS ? TIERING_REGION_ORDER : 0;
	unsigned int moved;
	long limit;

	if (!policy->fill_promote)
		return 0;
	/*
	 * tiering_take_hot() has the limits of page cache among other pages. Visits are of
	 * anonymous memory, which has none.
	 */
	limit = policy->needs & (TIERING_HINTS | TIERING_VISITS) ?
		LONG_MAX : tiering_limit_room(tn->nid);
	b.room = min(tiering_room_to_fill(tn->nid), limit);
	/* kswapd can make room on a full node; it cannot raise a limit. */
	if (b.room <= 0) {
		if (limit > 0 && tiering_promotion_waits(policy, tn))
			tiering_ask_for_room(tn, ktime_get_mono_fast_ns(), order);
		return 0;
	}
	policy->fill_promote(tn, &b, b.room);
	if (!b.pages && b.room < 1L << order && tiering_promotion_waits(policy, tn))
		tiering_ask_for_room(tn, ktime_get_mono_fast_ns(), order);
	*more |= b.more;
	moved = tiering_move(tn, &b);
	/* Not before: kswapd does not wake for a node that has room. */
	if (moved && tiering_room(tn->nid) < 0)
		tiering_wake_kswapd(tn->nid, 0);
	return moved;
}

/* Move a bounded number of batches. Return: time to wait until the next call, ns. */
static u64 tiering_turns(const struct tiering_policy *policy,
			 struct tiering_node *tn)
{
	unsigned int i, moved = 0;

	for (i = 0; i < TIERING_TURNS; i++) {
		unsigned int before = moved;
		bool more = false;

		cond_resched();
		if (kthread_should_stop() || freezing(current))
			return 0;
		if (tiering_budget(tn) <= 0)
			return TIERING_BURST;
		moved += tiering_demote(policy, tn, &more);
		moved += tiering_promote(policy, tn, &more);
		if (policy->needs & TIERING_SLABS)
			moved += tiering_slabs_turn(tn);
		if (moved == before && !more)
			return tiering_scan_ns() / TIERING_LOOKS;
	}
	/* Back off if many candidates were checked and none moved. */
	return moved ? 0 : tiering_scan_ns() / TIERING_LOOKS;
}

/* Get the time that is left of a scan, by the current length of scans. */
static s64 tiering_scan_left(u64 began)
{
	return began + tiering_scan_ns() - ktime_get_mono_fast_ns();
}

/* Wait until the daemon is woken, the scan is over, or @most ns have passed. */
static void tiering_wait(struct tiering_node *tn, u64 most, u64 began)
{
	s64 left = min_t(s64, most, tiering_scan_left(began));

	/* A scan may be longer than the freezer waits. */
	if (left > 0)
		__wait_event_hrtimeout(tn->wait,
				       kthread_should_stop() ||
				       READ_ONCE(tn->woken),
				       ns_to_ktime(left),
				       (TASK_INTERRUPTIBLE | TASK_FREEZABLE));
	/* Before the look for work: who queues some later wakes the daemon. */
	smp_store_mb(tn->woken, false);
}

/*
 * Drain the per-CPU folio batches: a new folio stays in the batch of its CPU, and on no
 * LRU list, until the batch is full. Draining interrupts all CPUs, so do it at most
 * once a second.
 */
static void tiering_drain(struct tiering_node *tn, u64 now)
{
	if (!READ_ONCE(tn->undrained) || now - tn->drained < NSEC_PER_SEC)
		return;
	tn->drained = now;
	WRITE_ONCE(tn->undrained, false);
	lru_add_drain_all();
}

static void tiering_end_scan(const struct tiering_policy *policy,
			     struct tiering_node *tn)
{
	u64 now = ktime_get_mono_fast_ns();

	if (READ_ONCE(tn->counts))
		tiering_next_scan();
	tiering_drain(tn, now);
	if (policy->make_room && now - tn->retried >= TIERING_SOON * tiering_scan_ns()) {
		tn->retried = now;
		tiering_retry_kswapd(tn->nid);
	}
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

	tn->retried = began;
	/* Freeze while hibernation writes its image, as kswapd does. */
	set_freezable();
	while (!kthread_freezable_should_stop(NULL)) {
		tiering_wait(tn, wait, began);
		if (tiering_scan_left(began) <= 0) {
			tiering_end_scan(policy, tn);
			began = ktime_get_mono_fast_ns();
		}
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
 * tiering_daemon_stop() - stop the daemon of a node
 * @tn: the node, which hooks do not find any more
 */
void tiering_daemon_stop(struct tiering_node *tn)
{
	if (tn->daemon)
		kthread_stop(tn->daemon);
	tn->daemon = NULL;
}

#ifdef CONFIG_TIERING_KUNIT_TEST
#include "tests/daemon-kunit.h"
#endif
