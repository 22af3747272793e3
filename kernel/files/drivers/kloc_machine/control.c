// SPDX-License-Identifier: GPL-2.0
/*
 * The two-tier machine: the measured region and simulated time, in sysfs.
 *
 * /sys/kernel/kloc_machine/region	write "start" before the load phase, and
 *					"begin" and "end" at the region's ends
 * /sys/kernel/kloc_machine/time	simulated time, ns
 */
#include <linux/init.h>
#include <linux/irqflags.h>
#include <linux/kobject.h>
#include <linux/ktime.h>
#include <linux/sysfs.h>

#include "machine.h"

/* Values of the region file, indexed by the call that each of them makes. */
static const char * const region_names[] = {
	[KLOC_MACHINE_START]	= "start",
	[KLOC_MACHINE_BEGIN]	= "begin",
	[KLOC_MACHINE_END]	= "end",
};

static unsigned int region;

/* The call is encoded in the instruction, so it has to be a constant. */
static void call_region(unsigned int call)
{
	struct kloc_machine_page *page = kloc_machine_page;
	unsigned long flags;

	local_irq_save(flags);
	page->monotonic = ktime_get_ns();
	page->tsc = rdtsc();
	switch (call) {
	case KLOC_MACHINE_START:
		kloc_machine_call(KLOC_MACHINE_START);
		break;
	case KLOC_MACHINE_BEGIN:
		kloc_machine_call(KLOC_MACHINE_BEGIN);
		break;
	case KLOC_MACHINE_END:
		kloc_machine_call(KLOC_MACHINE_END);
		break;
	}
	kloc_machine_timer_reset();
	local_irq_restore(flags);
}

static ssize_t region_show(struct kobject *kobj, struct kobj_attribute *attr,
			   char *buf)
{
	return sysfs_emit(buf, "%s\n", region ? region_names[region] : "none");
}

static ssize_t region_store(struct kobject *kobj, struct kobj_attribute *attr,
			    const char *buf, size_t count)
{
	unsigned int call;

	for (call = 0; call < ARRAY_SIZE(region_names); call++) {
		if (region_names[call] && sysfs_streq(buf, region_names[call])) {
			region = call;
			call_region(call);
			return count;
		}
	}
	return -EINVAL;
}

static ssize_t time_show(struct kobject *kobj, struct kobj_attribute *attr,
			 char *buf)
{
	return sysfs_emit(buf, "%llu\n", kloc_machine_time());
}

static struct kobj_attribute region_attribute = __ATTR_RW(region);
static struct kobj_attribute time_attribute = __ATTR_RO(time);

static struct attribute *control_attributes[] = {
	&region_attribute.attr,
	&time_attribute.attr,
	NULL,
};

static const struct attribute_group control_group = {
	.attrs = control_attributes,
};

static int __init control_init(void)
{
	struct kobject *directory;
	int error;

	if (!kloc_machine_present())
		return 0;

	directory = kobject_create_and_add("kloc_machine", kernel_kobj);
	if (!directory)
		return -ENOMEM;

	error = sysfs_create_group(directory, &control_group);
	if (error)
		kobject_put(directory);
	return error;
}
device_initcall(control_init);
