// SPDX-License-Identifier: GPL-2.0
/*
 * The policy thermostat: its settings, in /sys/kernel/mm/tiering/thermostat, and its
 * statistics, in memory.tiering.stat of cgroups and /sys/kernel/debug/tiering/thermostat.
 */
#include <linux/cgroup.h>
#include <linux/debugfs.h>
#include <linux/init.h>
#include <linux/memcontrol.h>
#include <linux/mm.h>
#include <linux/mutex.h>
#include <linux/seq_file.h>
#include <linux/spinlock.h>
#include <linux/sysfs.h>

#include "policy_thermostat.h"

struct policy_thermostat_settings policy_thermostat_settings = {
	.slowdown_bp = 300,
	.rounds = 32,
	.sample = 5,
	.visit_ns = 1000,
	.use_ns = 1000,
	.fault_ns = 500,
};

TIERING_NUMBER(slowdown_bp, policy_thermostat_settings.slowdown_bp, 1, 0, 10000);
TIERING_NUMBER(rounds, policy_thermostat_settings.rounds, 1, 8, 1024);
TIERING_NUMBER(sample_percent, policy_thermostat_settings.sample, 1, 1, 100);
TIERING_NUMBER(visit_ns, policy_thermostat_settings.visit_ns, 1, 1, 1000000);
TIERING_NUMBER(use_ns, policy_thermostat_settings.use_ns, 1, 1, 1000000);
TIERING_NUMBER(fault_ns, policy_thermostat_settings.fault_ns, 1, 0, 1000000);

static struct attribute *policy_thermostat_attrs[] = {
	&slowdown_bp_number.attr.attr,
	&rounds_number.attr.attr,
	&sample_percent_number.attr.attr,
	&visit_ns_number.attr.attr,
	&use_ns_number.attr.attr,
	&fault_ns_number.attr.attr,
	NULL,
};

const struct attribute_group policy_thermostat_attr_group = {
	.attrs = policy_thermostat_attrs,
};

#ifdef CONFIG_MEMCG
/* Add up the budgets of a cgroup on all nodes. */
static void thermostat_sum(const struct mem_cgroup *memcg,
			   struct policy_thermostat_shown *sum)
{
	const struct policy_thermostat_group *group;
	struct policy_thermostat *t;

	mutex_lock(&policy_thermostat_mutex);
	list_for_each_entry(t, &policy_thermostat_nodes, node) {
		spin_lock(&t->shown_lock);
		list_for_each_entry(group, &t->groups, list) {
			if (group->memcg != memcg)
				continue;
			sum->budget += group->shown.budget;
			sum->cost += group->shown.cost;
			sum->cold += group->shown.cold;
			sum->came_back += group->shown.came_back;
		}
		spin_unlock(&t->shown_lock);
	}
	mutex_unlock(&policy_thermostat_mutex);
}

static int thermostat_stat_show(struct seq_file *file, void *v)
{
	struct policy_thermostat_shown sum = { };

	thermostat_sum(mem_cgroup_from_seq(file), &sum);
	seq_printf(file, "budget_ns %llu\ncost_ns %llu\ncold %lu\ncame_back %lu\n",
		   sum.budget, sum.cost, sum.cold * PMD_SIZE, sum.came_back * PMD_SIZE);
	return 0;
}

static struct cftype policy_thermostat_files[] = {
	{
		.name = "tiering.stat",
		.flags = CFTYPE_NOT_ON_ROOT,
		.seq_show = thermostat_stat_show,
	},
	{ }
};

static int __init policy_thermostat_files_init(void)
{
	return cgroup_add_dfl_cftypes(&memory_cgrp_subsys, policy_thermostat_files);
}
subsys_initcall(policy_thermostat_files_init);
#endif

#ifdef CONFIG_DEBUG_FS
/* The largest number of regions of a list that the file shows. */
#define POLICY_THERMOSTAT_SHOWN		1024

static const char * const policy_thermostat_names[POLICY_THERMOSTAT_LISTS] = {
	"sampled", "leaving", "cold", "back", "joining",
};

static void thermostat_show_list(struct seq_file *file, const char *name,
				 const struct list_head *regions)
{
	const struct tiering_region *region;
	unsigned int count = 0;

	list_for_each_entry(region, regions, list) {
		if (count++ == POLICY_THERMOSTAT_SHOWN)
			return;
		seq_printf(file, "%s %lx rate %lu accessed %u watched %u\n", name,
			   region->start, region->rate, region->accessed, region->watched);
	}
}

static void thermostat_show_node(struct seq_file *file, struct policy_thermostat *t)
{
	struct list_head *lists[POLICY_THERMOSTAT_LISTS];
	const struct policy_thermostat_group *group;
	int i;

	mutex_lock(&t->lock);
	seq_printf(file, "node %d regions %lu sample %lu\n", t->nid, t->regions, t->count);
	list_for_each_entry(group, &t->groups, list)
		seq_printf(file, "group %llu budget_ns %llu cost_ns %llu cold %lu came_back %lu counted %llu\n",
			   group->memcg ? tiering_bound_id(group->memcg) : 0,
			   group->budget, group->cost, group->cold, group->came_back,
			   group->counted);
	policy_thermostat_lists(t, lists);
	for (i = 0; i < POLICY_THERMOSTAT_LISTS; i++)
		thermostat_show_list(file, policy_thermostat_names[i], lists[i]);
	mutex_unlock(&t->lock);
}

static int thermostat_show(struct seq_file *file, void *data)
{
	struct policy_thermostat *t;

	mutex_lock(&policy_thermostat_mutex);
	list_for_each_entry(t, &policy_thermostat_nodes, node)
		thermostat_show_node(file, t);
	mutex_unlock(&policy_thermostat_mutex);
	return 0;
}
DEFINE_SHOW_ATTRIBUTE(thermostat);

static int __init policy_thermostat_debugfs_init(void)
{
	struct dentry *folder = debugfs_lookup("tiering", NULL);

	debugfs_create_file("thermostat", 0400, folder, NULL, &thermostat_fops);
	dput(folder);
	return 0;
}
late_initcall_sync(policy_thermostat_debugfs_init);
#endif
