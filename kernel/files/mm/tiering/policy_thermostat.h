/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The policy thermostat: what its files share.
 */
#ifndef _MM_TIERING_POLICY_THERMOSTAT_H
#define _MM_TIERING_POLICY_THERMOSTAT_H

#include "policy.h"

struct policy_thermostat_contexts;

/* The number of lists of a node. */
#define POLICY_THERMOSTAT_LISTS		5

/**
 * struct policy_thermostat_settings - the settings
 * @slowdown_bp: the bound, in hundredths of a percent of the processor time
 * @rounds: scans in a period
 * @sample: percent of the regions of a node that a period looks at
 * @visit_ns: cost of a visit of a page of anonymous memory in slow memory, ns
 * @use_ns: cost of a use of a page of page cache in slow memory, or of its copy, ns
 * @fault_ns: cost of a fault that counts a visit, ns
 */
struct policy_thermostat_settings {
	unsigned long slowdown_bp;
	unsigned long rounds;
	unsigned long sample;
	unsigned long visit_ns;
	unsigned long use_ns;
	unsigned long fault_ns;
};

extern struct policy_thermostat_settings policy_thermostat_settings;

/**
 * struct policy_thermostat_shown - what readers see of a budget
 * @budget: the cost that slow memory may have, ns a second
 * @cost: the cost of slow memory, by the last counts, ns a second
 * @cold: number of regions in slow memory at the last count
 * @came_back: regions that were wrong in slow memory, since there is the budget
 */
struct policy_thermostat_shown {
	u64 budget;
	u64 cost;
	unsigned long cold;
	unsigned long came_back;
};

/**
 * struct policy_thermostat_group - a budget on a node
 * @list: link in the list of the node
 * @memcg: the cgroup with this bound, which the budget holds; NULL for all memory of no
 *	such cgroup
 * @cpu_ns: processor time at the last charge, with that of descendants, ns
 * @now_ns: processor time at the last estimate, ns
 * @used: processor time between these, ns
 * @rests: its programs did next to nothing in this time
 * @busy: processor time that was used in the last interval in which they did more, ns a second
 * @sampled: regions in the sample of this period
 * @visits: visits that were counted since the last charge
 * @counted: visits that were counted since there is the budget
 * @budget: the cost that slow memory may have, ns a second
 * @left: what is left of the budget while regions are chosen
 * @cost: the cost of slow memory, by the last counts, ns a second
 * @cold: number of regions in slow memory at the last count
 * @came_back: regions that were wrong in slow memory, since there is the budget
 * @shown: what readers see, protected by the node's @shown_lock
 */
struct policy_thermostat_group {
	struct list_head list;
	struct mem_cgroup *memcg;
	u64 cpu_ns;
	u64 now_ns;
	s64 used;
	bool rests;
	u64 busy;
	unsigned long sampled;
	u64 visits;
	u64 counted;
	u64 budget;
	u64 left;
	u64 cost;
	unsigned long cold;
	unsigned long came_back;
	struct policy_thermostat_shown shown;
};

/**
 * struct policy_thermostat - the regions of a node
 * @node: link in the list of nodes
 * @nid: the node
 * @shown_lock: protects what readers see, and the list of budgets, which the daemon changes
 *	under @lock as well: readers do not wait for a round, and nobody for readers
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
 * @began: time of the last charge of the budgets, ns
 * @groups: the budgets
 * @others: the budget of memory of no cgroup with a bound, the first of @groups
 * @counts: the daemon of this node counts what there is once
 * @contexts: contexts of page cache, NULL if they are not counted
 */
struct policy_thermostat {
	struct list_head node;
	int nid;
	spinlock_t shown_lock;	/* protects what readers see */
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
	struct list_head groups;
	struct policy_thermostat_group others;
	bool counts;
	struct policy_thermostat_contexts *contexts;
};

/* Test whether page cache leaves this node. */
static inline bool policy_thermostat_has_contexts(const struct policy_thermostat *t)
{
	return t->contexts && t->counts;
}

extern struct mutex policy_thermostat_mutex;
extern struct list_head policy_thermostat_nodes;
extern const struct attribute_group policy_thermostat_attr_group;

/* policy_thermostat.c */
void policy_thermostat_lists(struct policy_thermostat *t, struct list_head **lists);
int policy_thermostat_init_node(struct tiering_node *tn);
void policy_thermostat_exit_node(struct tiering_node *tn);
void policy_thermostat_period(struct tiering_node *tn);
long policy_thermostat_fill_demote(struct tiering_node *tn, struct tiering_batch *b,
				   long want);
long policy_thermostat_fill_promote(struct tiering_node *tn, struct tiering_batch *b,
				    long room);
bool policy_thermostat_waits(struct tiering_node *tn);

/* policy_thermostat_budget.c */
void policy_thermostat_groups_init(struct policy_thermostat *t);
void policy_thermostat_groups_exit(struct policy_thermostat *t);
void policy_thermostat_assign_all(struct policy_thermostat *t);
u64 policy_thermostat_cost(unsigned long rate);
u64 policy_thermostat_budget(unsigned long bp, u64 cpu_ns, u64 visits, u64 elapsed);
bool policy_thermostat_all_rest(const struct policy_thermostat *t);
void policy_thermostat_estimate(struct policy_thermostat *t, unsigned int nodes);
void policy_thermostat_charge(struct policy_thermostat *t, unsigned int nodes);
void policy_thermostat_classify(struct policy_thermostat *t, struct list_head *sampled,
				struct list_head *leaving, unsigned long count,
				unsigned long regions);
void policy_thermostat_correct(struct policy_thermostat *t, struct list_head *cold,
			       struct list_head *back);

/* policy_thermostat_contexts.c */
u64 policy_thermostat_density(u64 cost, unsigned long pages);
void policy_thermostat_contexts_count_use(struct folio *folio);
void policy_thermostat_contexts_look(struct policy_thermostat_contexts *c, bool rests);
u64 policy_thermostat_contexts_cost(const struct policy_thermostat_contexts *c);
u64 policy_thermostat_contexts_fixed(const struct policy_thermostat_contexts *c);
unsigned int policy_thermostat_contexts_count(const struct policy_thermostat_contexts *c);
void policy_thermostat_contexts_leave(struct policy_thermostat_contexts *c,
				      unsigned int *next, u64 density, u64 *left);
void policy_thermostat_contexts_return(struct policy_thermostat_contexts *c,
				       unsigned int *next, u64 density, u64 *excess);
void policy_thermostat_contexts_done(struct policy_thermostat_contexts *c, u64 cost,
				     u64 budget);
struct policy_thermostat_contexts *policy_thermostat_contexts_make(struct tiering_node *tn);
void policy_thermostat_contexts_free(struct tiering_node *tn,
				     struct policy_thermostat_contexts *c);
void policy_thermostat_contexts_demote(struct tiering_node *tn, struct tiering_batch *b,
				       struct policy_thermostat_contexts *c);
void policy_thermostat_contexts_promote(struct tiering_node *tn, struct tiering_batch *b,
					struct policy_thermostat_contexts *c);
bool policy_thermostat_contexts_wait(const struct policy_thermostat_contexts *c);
bool policy_thermostat_contexts_used(struct tiering_node *tn, struct folio *folio,
				     unsigned int history);

#endif /* _MM_TIERING_POLICY_THERMOSTAT_H */
