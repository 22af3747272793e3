// SPDX-License-Identifier: GPL-2.0
/*
 * The two-tier machine: simulated time as clock source and scheduler clock, so
 * that stalls take time and are charged to the task that stalled.
 */
#define pr_fmt(fmt) "kloc_machine: " fmt

#include <linux/atomic.h>
#include <linux/clocksource.h>
#include <linux/init.h>
#include <linux/sched/clock.h>

#include <asm/paravirt.h>

#include "machine.h"

static u64 latest_time;
static u64 sched_clock_base __ro_after_init;

/*
 * The raw time can step back: the model rounds, and an interrupt between its two
 * reads makes it too low. So return the latest time instead of an earlier one.
 */
static __always_inline u64 monotonic_time(void)
{
	u64 latest = READ_ONCE(latest_time);
	u64 time = kloc_machine_raw_time();

	do {
		if (time <= latest)
			return latest;
	} while (!arch_try_cmpxchg_local(&latest_time, &latest, time));

	return time;
}

/**
 * kloc_machine_time() - read simulated time
 *
 * Return: ns since the machine was started; never steps back.
 */
noinstr u64 kloc_machine_time(void)
{
	return monotonic_time();
}

static noinstr u64 machine_sched_clock(void)
{
	return monotonic_time() + sched_clock_base;
}

static u64 notrace read_clock(struct clocksource *clock)
{
	return kloc_machine_time();
}

static int enable_clock(struct clocksource *clock)
{
	vclocks_set_used(VDSO_CLOCKMODE_KLOC_MACHINE);
	return 0;
}

static struct clocksource machine_clock = {
	.name	= "kloc_machine",
	.rating	= 500,
	.read	= read_clock,
	.enable	= enable_clock,
	.mask	= CLOCKSOURCE_MASK(64),
	.flags	= CLOCK_SOURCE_IS_CONTINUOUS | CLOCK_SOURCE_VALID_FOR_HRES,
	.vdso_clock_mode = VDSO_CLOCKMODE_KLOC_MACHINE,
};

static int __init clock_init(void)
{
	int error;

	if (!kloc_machine_present())
		return 0;

	sched_clock_base = sched_clock() - kloc_machine_time();
	paravirt_set_sched_clock(machine_sched_clock);

	error = clocksource_register_hz(&machine_clock, NSEC_PER_SEC);
	if (error) {
		pr_err("cannot register the clock: %d\n", error);
		return error;
	}
	kloc_machine_timer_start();
	pr_info("time is the timing model's\n");
	return 0;
}

/* After page_init(), by link order, and before devices and their timers. */
fs_initcall_sync(clock_init);
