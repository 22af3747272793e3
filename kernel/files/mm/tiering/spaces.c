// SPDX-License-Identifier: GPL-2.0
/*
 * Policies of memory tiers: the address spaces whose visits are counted, and how much of
 * the time their programs run.
 *
 * Visits are counted in the time that an entry of a page table was closed. Time in which
 * the program does not run must not count: otherwise memory that it uses all the time,
 * with pauses, would have one visit for each pause, and look cold. What counts is the
 * processor time of a round, compared with that of the busiest round: a program that uses
 * four processors runs in half of a round if it has used half of their time.
 */
#include <linux/cpumask.h>
#include <linux/hashtable.h>
#include <linux/math64.h>
#include <linux/minmax.h>
#include <linux/mm.h>
#include <linux/mutex.h>
#include <linux/rcupdate.h>
#include <linux/sched.h>
#include <linux/sched/clock.h>
#include <linux/sched/cputime.h>
#include <linux/sched/mm.h>
#include <linux/sched/signal.h>
#include <linux/slab.h>

#include "internal.h"

/* The busiest round is forgotten by this part of it in each round. */
#define TIERING_SPACE_FORGET	256

/* The mean is of about so many rounds. */
#define TIERING_SPACE_MEAN	16

/* Rounds are shorter than this by no more than a part, see tiering_space_round(). */
#define TIERING_SPACE_LEAST	2

/**
 * struct tiering_space - an address space
 * @hash: link in the table of all spaces
 * @mm: the address space; held as a structure
 * @regions: number of its regions
 * @began: time of the last round, ns
 * @ran: processor time of the process at that time, ns
 * @most: processors that it used in its busiest round, see TIERING_ALWAYS
 * @share: the share of the last round in which it ran, see TIERING_ALWAYS
 * @mean: the mean of @share over the last rounds
 *
 * Protected by the mutex. The daemons read @share and @mean without it.
 */
struct tiering_space {
	struct hlist_node hash;
	struct mm_struct *mm;
	unsigned long regions;
	u64 began;
	u64 ran;
	u64 most;
	u64 share;
	u64 mean;
};

static DEFINE_HASHTABLE(tiering_spaces, 8);
static DEFINE_MUTEX(tiering_spaces_mutex);

/* Get the processor time of the process that owns an address space, ns; 0 if not known. */
static u64 tiering_space_ran(const struct tiering_space *space)
{
	struct task_cputime times = { };
#ifdef CONFIG_MEMCG
	struct task_struct *owner;

	rcu_read_lock();
	owner = rcu_dereference(space->mm->owner);
	if (owner)
		thread_group_cputime(owner, &times);
	rcu_read_unlock();
#endif
	return times.sum_exec_runtime;
}

static struct tiering_space *tiering_space_find(struct mm_struct *mm)
{
	struct tiering_space *space;

	hash_for_each_possible(tiering_spaces, space, hash, (unsigned long)mm)
		if (space->mm == mm)
			return space;
	return NULL;
}

static struct tiering_space *tiering_space_make(struct mm_struct *mm)
{
	struct tiering_space *space = kzalloc(sizeof(*space), TIERING_GFP);

	if (!space)
		return NULL;
	mmgrab(mm);
	space->mm = mm;
	space->began = local_clock();
	space->ran = tiering_space_ran(space);
	space->share = TIERING_ALWAYS;
	space->mean = TIERING_ALWAYS;
	hash_add(tiering_spaces, &space->hash, (unsigned long)mm);
	return space;
}

/**
 * tiering_space_get() - get an address space for a region
 * @mm: the address space
 *
 * Context: may sleep.
 * Return: the space; NULL if memory is short.
 */
struct tiering_space *tiering_space_get(struct mm_struct *mm)
{
	struct tiering_space *space;

	mutex_lock(&tiering_spaces_mutex);
	space = tiering_space_find(mm) ?: tiering_space_make(mm);
	if (space)
		space->regions++;
	mutex_unlock(&tiering_spaces_mutex);
	return space;
}

/**
 * tiering_space_put() - put the address space of a region
 * @space: the space
 *
 * Context: may sleep.
 */
void tiering_space_put(struct tiering_space *space)
{
	mutex_lock(&tiering_spaces_mutex);
	if (!--space->regions)
		hash_del(&space->hash);
	else
		space = NULL;
	mutex_unlock(&tiering_spaces_mutex);
	if (!space)
		return;
	mmdrop(space->mm);
	kfree(space);
}

/* Calculate the share of a round. @used: processors that were used, see TIERING_ALWAYS. */
static void tiering_space_update(struct tiering_space *space, u64 used)
{
	space->most -= space->most / TIERING_SPACE_FORGET;
	space->most = max(space->most, used);
	/* A program that is never busy counts as one that keeps one processor busy. */
	WRITE_ONCE(space->share, div64_u64(used * TIERING_ALWAYS,
					   max(space->most, TIERING_ALWAYS)));
	WRITE_ONCE(space->mean, (space->mean * (TIERING_SPACE_MEAN - 1) + space->share) /
				TIERING_SPACE_MEAN);
}

/* Get the processors that were used, see TIERING_ALWAYS. */
static u64 tiering_space_used(s64 ran, s64 elapsed)
{
	if (ran <= 0)
		return 0;
	return min(div64_u64(ran * TIERING_ALWAYS, elapsed),
		   num_online_cpus() * TIERING_ALWAYS);
}

/**
 * tiering_space_round() - find out how much of a round an address space was in use
 * @space: the space
 *
 * Does nothing if the last call was less than half of a scan ago. Without CONFIG_MEMCG, it
 * is not known which process it is, and all time counts.
 *
 * Context: the address space is locked for reading.
 */
void tiering_space_round(struct tiering_space *space)
{
	u64 now, ran;
	s64 elapsed;

	mutex_lock(&tiering_spaces_mutex);
	now = local_clock();
	/* Negative if the clocks of two CPUs differ. */
	elapsed = now - space->began;
	if (elapsed < (s64)(tiering_scan_ns() / TIERING_SPACE_LEAST))
		goto unlock;
	ran = tiering_space_ran(space);
	/* Another process may be the owner now. */
	if (ran)
		tiering_space_update(space,
				     tiering_space_used(ran - space->ran, elapsed));
	space->began = now;
	space->ran = ran;
unlock:
	mutex_unlock(&tiering_spaces_mutex);
}

/**
 * tiering_space_active() - get the part of a round in which an address space was in use
 * @space: the space
 * @ns: a time that has ended with the last round
 *
 * Context: as for tiering_space_round().
 * Return: ns.
 */
u64 tiering_space_active(const struct tiering_space *space, u64 ns)
{
	return ns * READ_ONCE(space->share) / TIERING_ALWAYS;
}

/**
 * tiering_space_rate() - convert a rate from the time in use to all time
 * @space: the space
 * @rate: what happens in a second in which the space is in use
 *
 * Context: a daemon.
 * Return: what happens in a second, with pauses as in the last rounds.
 */
u64 tiering_space_rate(const struct tiering_space *space, u64 rate)
{
	return mul_u64_u64_div_u64(rate, READ_ONCE(space->mean), TIERING_ALWAYS);
}

/**
 * tiering_task_active() - get the part of a time in which this task has been running
 * @ns: a time that ends now
 *
 * Only the time since the task came to its CPU counts: what it had run before is not known
 * here. So a task that waits often seems to visit its memory more often than it does.
 *
 * Return: ns.
 */
u64 tiering_task_active(u64 ns)
{
#ifdef CONFIG_SCHED_INFO
	u64 since = local_clock() - current->sched_info.last_arrival;

	/* The clocks of two CPUs may differ by a bit. */
	return (s64)since < 0 ? 0 : min(ns, since);
#else
	return ns;
#endif
}

#ifdef CONFIG_TIERING_KUNIT_TEST
#include "tests/spaces-kunit.h"
#endif
