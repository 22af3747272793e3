/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The policy thermostat: what its files share.
 */
#ifndef _MM_TIERING_POLICY_THERMOSTAT_H
#define _MM_TIERING_POLICY_THERMOSTAT_H

#include "policy.h"

/* The number of lists of a node. */
#define POLICY_THERMOSTAT_LISTS		5

/**
 * struct policy_thermostat_settings - the settings
 * @slowdown_bp: the bound, in hundredths of a percent of the processor time
 * @rounds: scans in a period
 * @sample: percent of the regions of a node that a period looks at
 * @visit_ns: cost of a visit of a page of slow memory, ns
 * @fault_ns: cost of a fault that counts a visit, ns
 */
struct policy_thermostat_settings {
	unsigned long slowdown_bp;
	unsigned long rounds;
	unsigned long sample;
	unsigned long visit_ns;
	unsigned long fault_ns;
};

extern struct policy_thermostat_settings policy_thermostat_settings;

/**
 * struct policy_thermostat - the regions of a node
 * @node: link in the list of nodes
 * @nid: the node
 * @lock: protects all that follows; the daemon holds it while it works
 * @round: number of the round
 * @rounds: rounds of this period
 * @sampled: regions that are looked at in this period
 * @leaving: regions that are to go to slow memory
 * @cold: regions in slow memory
 * @back: regions that are to come back
 * @joining: regions that are to be huge pages again
 * @regions: regions of fast memory when the period began
 * @count: size of the sample
 * @began: time of the last update of the budget, ns
 * @cpu_ns: processor time at @began
 * @visits: visits that were counted since @began
 * @budget: the cost that slow memory may have, ns a second
 * @cost: its cost, by the last counts, ns a second
 * @cold_regions: number of regions in slow memory at the last count
 * @came_back: regions that were wrong in slow memory, since the policy was selected
 */
struct policy_thermostat {
	struct list_head node;
	int nid;
	struct mutex lock;	/* protects all that follows */
	unsigned int round;
	unsigned int rounds;
	struct list_head sampled;
	struct list_head leaving;
	struct list_head cold;
	struct list_head back;
	struct list_head joining;
	unsigned long regions;
	unsigned long count;
	u64 began;
	u64 cpu_ns;
	u64 visits;
	u64 budget;
	u64 cost;
	unsigned long cold_regions;
	unsigned long came_back;
};

extern struct mutex policy_thermostat_mutex;
extern struct list_head policy_thermostat_nodes;
extern const struct attribute_group policy_thermostat_group;

void policy_thermostat_lists(struct policy_thermostat *t, struct list_head **lists);
u64 policy_thermostat_budget(u64 cpu_ns, u64 visits, u64 elapsed);
void policy_thermostat_classify(struct list_head *sampled, struct list_head *leaving,
				u64 budget);
u64 policy_thermostat_correct(struct list_head *cold, struct list_head *back, u64 budget);

#endif /* _MM_TIERING_POLICY_THERMOSTAT_H */
