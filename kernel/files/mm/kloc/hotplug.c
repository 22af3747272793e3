// SPDX-License-Identifier: GPL-2.0
/*
 * Contexts of files: nodes whose memory comes and goes.
 */
#include <linux/init.h>
#include <linux/memory.h>
#include <linux/notifier.h>
#include <linux/numa.h>

#include "kloc.h"

static int memory_changed(struct notifier_block *self, unsigned long action,
			  void *data)
{
	const struct memory_notify *change = data;

	if ((action == MEM_ONLINE || action == MEM_OFFLINE) &&
	    change->status_change_nid != NUMA_NO_NODE)
		kloc_nodes_changed();
	return NOTIFY_OK;
}

/**
 * kloc_hotplug_init() - be told of nodes, after memory tiers know of them
 *
 * Return: 0, or an error.
 */
int __init kloc_hotplug_init(void)
{
	return hotplug_memory_notifier(memory_changed, DEFAULT_CALLBACK_PRI);
}
