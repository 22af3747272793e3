// SPDX-License-Identifier: GPL-2.0
/*
 * The two-tier machine: timers.
 *
 * The local APIC timer runs on QEMU's clock, which counts instructions and idle
 * time. So the number of instructions until an event has to be estimated, from
 * the recent ratio of instructions to simulated time. The estimate is low and
 * bounded; an interrupt that comes too early only sets the timer again.
 */
#include <linux/bits.h>
#include <linux/clockchips.h>
#include <linux/ktime.h>
#include <linux/moduleparam.h>
#include <linux/percpu.h>

#include "machine.h"

/*
 * An early interrupt costs about 300 instructions. If the core begins to stall,
 * an interrupt is late by at most the stalls of this many instructions.
 */
static unsigned int timer_max_ns = 32768;
module_param(timer_max_ns, uint, 0644);
MODULE_PARM_DESC(timer_max_ns,
		 "most instructions (TSC ns) between checks of the time");

static unsigned int timer_min_ns = 100;
module_param(timer_min_ns, uint, 0644);
MODULE_PARM_DESC(timer_min_ns,
		 "fewest instructions (TSC ns) until a timer interrupt");

DEFINE_STATIC_KEY_FALSE(kloc_machine_timer_key);

/* Fewer instructions than this do not predict how the next ones stall. */
#define WINDOW_NS	1024

struct timer_state {
	struct clock_event_device *event;
	bool idle;	/* the core is idle: program the time without scaling */
	u64 rate;	/* TSC ns per ns of simulated time, 16.16 fixed point */
	u64 tsc;	/* begin of the current window, in TSC ns */
	u64 time;	/* and in simulated time, ns */
};

static DEFINE_PER_CPU(struct timer_state, timer_state);

static u64 ns_to_ticks(const struct clock_event_device *event, u64 ns)
{
	return mul_u64_u32_shr(ns, event->mult, event->shift);
}

static void begin_window(struct timer_state *state)
{
	state->time = kloc_machine_time();
	state->tsc = rdtsc();
}

/* Update the rate by the time that the last instructions took. */
static void update_rate(struct timer_state *state)
{
	u64 instructions = rdtsc() - state->tsc;
	u64 time = kloc_machine_time() - state->time;

	if (instructions < WINDOW_NS)
		return;

	state->rate = kloc_machine_timer_rate(state->rate, instructions, time);
	begin_window(state);
}

/*
 * Outside the measured region nothing stalls and the rate does not change, so
 * the time need not be checked in between.
 */
static u64 most_ticks(const struct clock_event_device *event, u64 rate)
{
	if (!READ_ONCE(kloc_machine_page->modelled))
		return event->max_delta_ticks;
	return ns_to_ticks(event, kloc_machine_timer_trust(timer_max_ns, rate));
}

/* Called by lapic_next_event(). */
unsigned long __kloc_machine_timer_ticks(unsigned long ticks,
					 struct clock_event_device *event)
{
	struct timer_state *state = this_cpu_ptr(&timer_state);

	state->event = event;
	if (state->idle)
		return ticks;

	update_rate(state);
	return kloc_machine_timer_scale(ticks, state->rate,
					ns_to_ticks(event, timer_min_ns),
					most_ticks(event, state->rate));
}

/* Set the timer for an event in the future. Return: false if it is due. */
static bool rearm(struct clock_event_device *event)
{
	s64 left = ktime_to_ns(ktime_sub(event->next_event, ktime_get()));

	if (left <= 0)
		return false;

	left = min_t(u64, left, event->max_delta_ns);
	event->set_next_event(max(ns_to_ticks(event, left), 1), event);
	return true;
}

/* Called by the local APIC timer's interrupt. */
bool __kloc_machine_timer_early(struct clock_event_device *event)
{
	return clockevent_state_oneshot(event) && rearm(event);
}

/**
 * kloc_machine_timer_idle_enter() - program the timer for an idle core
 *
 * While the core is idle, the timer runs at the pace of simulated time.
 */
void kloc_machine_timer_idle_enter(void)
{
	struct timer_state *state = this_cpu_ptr(&timer_state);

	if (!state->event || !clockevent_state_oneshot(state->event))
		return;
	state->idle = true;
	rearm(state->event);
}

/**
 * kloc_machine_timer_idle_exit() - program the timer for a core that left idle
 *
 * Something other than the timer may have ended idle.
 */
void kloc_machine_timer_idle_exit(void)
{
	struct timer_state *state = this_cpu_ptr(&timer_state);

	if (!state->idle)
		return;
	state->idle = false;
	begin_window(state);
	if (clockevent_state_oneshot(state->event))
		rearm(state->event);
}

/**
 * kloc_machine_timer_reset() - program the timer again after a change of pace
 *
 * Simulated time changes its pace at both ends of the measured region.
 *
 * Context: interrupts disabled.
 */
void kloc_machine_timer_reset(void)
{
	struct timer_state *state = this_cpu_ptr(&timer_state);

	if (state->event && clockevent_state_oneshot(state->event))
		rearm(state->event);
}

/**
 * kloc_machine_timer_switch() - begin a new window for another task
 *
 * Otherwise its stalls would be mixed with those of what ran before.
 */
void kloc_machine_timer_switch(void)
{
	struct timer_state *state = this_cpu_ptr(&timer_state);

	if (!READ_ONCE(kloc_machine_page->modelled))
		return;
	update_rate(state);
	begin_window(state);
}

/**
 * kloc_machine_timer_start() - make timers follow simulated time from now on
 */
void kloc_machine_timer_start(void)
{
	unsigned int cpu;

	for_each_possible_cpu(cpu)
		per_cpu(timer_state, cpu).rate = KLOC_MACHINE_RATE_ONE;
	static_branch_enable(&kloc_machine_timer_key);
}
