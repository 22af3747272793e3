// SPDX-License-Identifier: GPL-2.0
/*
 * The two-tier machine: idle time, during which QEMU's clock jumps.
 */
#define pr_fmt(fmt) "kloc_machine: " fmt

#include <linux/cpuidle.h>
#include <linux/init.h>
#include <linux/irqflags.h>

#include "machine.h"

static __cpuidle int enter_idle(struct cpuidle_device *device,
				struct cpuidle_driver *driver, int index)
{
	instrumentation_begin();
	kloc_machine_timer_idle_enter();
	kloc_machine_page->tsc = rdtsc();
	kloc_machine_call(KLOC_MACHINE_IDLE_ENTER);

	/* ct_cpuidle_enter() and _exit() end and begin instrumentation. */
	ct_cpuidle_enter();
	raw_safe_halt();
	raw_local_irq_disable();
	ct_cpuidle_exit();

	kloc_machine_page->tsc = rdtsc();
	kloc_machine_call(KLOC_MACHINE_IDLE_EXIT);
	kloc_machine_timer_idle_exit();
	instrumentation_end();
	return index;
}

static struct cpuidle_driver idle_driver = {
	.name = "kloc_machine",
	.states = {
		{
			.name		= "HALT",
			.desc		= "halt until an interrupt",
			.enter		= enter_idle,
			.flags		= CPUIDLE_FLAG_RCU_IDLE,
			.exit_latency	= 1,
			.target_residency = 1,
		},
	},
	.state_count = 1,
};

static int __init idle_init(void)
{
	int error;

	if (!kloc_machine_present())
		return 0;

	error = cpuidle_register(&idle_driver, NULL);
	if (error)
		pr_err("cannot register the idle driver: %d\n", error);
	return error;
}
device_initcall(idle_init);
