// SPDX-License-Identifier: GPL-2.0
/*
 * The two-tier machine: timers.
 *
 * The local APIC timer counts what QEMU's clock counts: instructions, and the
 * time for which the machine idles. How many instructions there will be until
 * a certain time is a guess, from the ratio of late. The guess is made low and
 * bounded; an interrupt that comes before its time only sets the next one.
 */
#include <linux/bits.h>
#include <linux/clockchips.h>
#include <linux/ktime.h>
#include <linux/moduleparam.h>
#include <linux/percpu.h>

#include "machine.h"

/*
 * An interrupt that is early costs some 300 instructions. One that is late, as
 * the core began to stall, is late by as many stalls as there can be here.
 */
static unsigned int timer_max_ns = 32768;
module_param(timer_max_ns, uint, 0644);
MODULE_PARM_DESC(timer_max_ns,
		 "most instructions to wait for before looking at the time");

static unsigned int timer_min_ns = 100;
module_param(timer_min_ns, uint, 0644);
MODULE_PARM_DESC(timer_min_ns,
		 "fewest instructions to program a timer interrupt for");

DEFINE_STATIC_KEY_FALSE(kloc_machine_timer_key);

/* Fewer instructions than these say nothing about those to come. */
#define WINDOW_NS	1024

struct timer_state {
	struct clock_event_device *event;
	bool idle;	/* program the time as it is: only idleness follows */
	u64 rate;	/* TSC ns in a ns of the machine's time, 16.16 */
	u64 tsc;	/* where the present window began, in both times */
	u64 time;
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

/* Look at how much time the last instructions took. */
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
 * Without the model of the memory nothing stalls, and the rate is what it is:
 * no need to look at the time now and then.
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

/* Set the timer for an event that is due in the future; false if it is due. */
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
 * kloc_machine_timer_idle_enter() - the core goes idle
 *
 * From here the timer and the machine's time run at the same pace.
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
 * kloc_machine_timer_idle_exit() - the core is back, perhaps by another cause
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
 * kloc_machine_timer_reset() - another kind of time begins: set the timer anew
 *
 * Called with interrupts disabled.
 */
void kloc_machine_timer_reset(void)
{
	struct timer_state *state = this_cpu_ptr(&timer_state);

	if (state->event && clockevent_state_oneshot(state->event))
		rearm(state->event);
}

/**
 * kloc_machine_timer_switch() - another task runs from here
 *
 * How it stalls is not to be mixed with what the kernel did until now.
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
 * kloc_machine_timer_start() - from now on timers follow the machine's time
 */
void kloc_machine_timer_start(void)
{
	unsigned int cpu;

	for_each_possible_cpu(cpu)
		per_cpu(timer_state, cpu).rate = KLOC_MACHINE_RATE_ONE;
	static_branch_enable(&kloc_machine_timer_key);
}
