// SPDX-License-Identifier: GPL-2.0
/*
 * The policy thermostat: budgets, and which regions they let be in slow memory.
 *
 * A budget is a share of the processor time that was used. Each cgroup with a bound of its
 * own has one, for its memory and that of its descendants without a bound; all other
 * memory shares another one.
 */
#include <linux/list.h>
#include <linux/list_sort.h>
#include <linux/kernel_stat.h>
#include <linux/math64.h>
#include <linux/memcontrol.h>
#include <linux/minmax.h>
#include <linux/rcupdate.h>
#include <linux/sched.h>
#include <linux/slab.h>
#include <linux/spinlock.h>
#include <linux/timekeeping.h>

#include "policy_thermostat.h"

/* The part of the budget that page cache may exchange in a period, though it is spent. */
#define POLICY_THERMOSTAT_SWAP		8

/* A group rests while it uses less of a processor than one part of these. */
#define POLICY_THERMOSTAT_IDLE		1024

/* The part that such a group's budget loses in an interval in which it did anything. */
#define POLICY_THERMOSTAT_FADE		8

/* The largest number of cgroups that have a budget of their own. */
#define POLICY_THERMOSTAT_GROUPS	256

/*
 * Get the processor time that was used on all CPUs, ns. Includes CPUs that are offline, whose
 * time stays, so that the sum does not jump.
 */
static u64 policy_thermostat_all_ns(void)
{
	struct kernel_cpustat stat;
	u64 sum = 0;
	int cpu;

	for_each_possible_cpu(cpu) {
		kcpustat_cpu_fetch(&stat, cpu);
		/* The times of tasks, and so of cgroups, may include those of interrupts. */
		sum += stat.cpustat[CPUTIME_USER] + stat.cpustat[CPUTIME_NICE] +
		       stat.cpustat[CPUTIME_SYSTEM] + stat.cpustat[CPUTIME_IRQ] +
		       stat.cpustat[CPUTIME_SOFTIRQ];
	}
	return sum;
}

static u64 policy_thermostat_cpu_ns(const struct policy_thermostat_group *group)
{
	return group->memcg ? tiering_bound_cpu_ns(group->memcg) :
			      policy_thermostat_all_ns();
}

static unsigned long policy_thermostat_bound(const struct policy_thermostat_group *group)
{
	unsigned int bp = TIERING_NO_BOUND;

	if (group->memcg)
		bp = tiering_bound(group->memcg);
	return bp == TIERING_NO_BOUND ? READ_ONCE(policy_thermostat_settings.slowdown_bp) : bp;
}

/**
 * policy_thermostat_groups_init() - begin with a budget for all memory
 * @t: the node
 */
void policy_thermostat_groups_init(struct policy_thermostat *t)
{
	INIT_LIST_HEAD(&t->groups);
	spin_lock_init(&t->shown_lock);
	t->began = ktime_get_mono_fast_ns();
	t->others.cpu_ns = policy_thermostat_cpu_ns(&t->others);
	list_add(&t->others.list, &t->groups);
}

static void policy_thermostat_group_free(struct policy_thermostat_group *group)
{
	mem_cgroup_put(group->memcg);
	kfree(group);
}

/**
 * policy_thermostat_groups_exit() - free the budgets of cgroups
 * @t: the node, without regions
 */
void policy_thermostat_groups_exit(struct policy_thermostat *t)
{
	struct policy_thermostat_group *group, *next;

	list_del(&t->others.list);
	list_for_each_entry_safe(group, next, &t->groups, list)
		policy_thermostat_group_free(group);
}

static struct policy_thermostat_group *
policy_thermostat_find_group(struct policy_thermostat *t, const struct mem_cgroup *memcg)
{
	struct policy_thermostat_group *group;

	list_for_each_entry(group, &t->groups, list)
		if (group->memcg == memcg)
			return group;
	return &t->others;
}

/*
 * Find the budget of a cgroup with a bound, or of the nearest ancestor that has one: there may
 * be too many bounds, or it is newer than this period. The caller holds @memcg, or RCU.
 */
static struct policy_thermostat_group *
policy_thermostat_group_of(struct policy_thermostat *t, struct mem_cgroup *memcg)
{
	struct policy_thermostat_group *group = &t->others;

	for (; memcg && group == &t->others; memcg = parent_mem_cgroup(memcg))
		group = policy_thermostat_find_group(t, memcg);
	return group;
}

/* Add a budget for a cgroup, whose reference it takes. */
static void policy_thermostat_group_add(struct policy_thermostat *t,
					struct mem_cgroup *memcg)
{
	struct policy_thermostat_group *group = kzalloc(sizeof(*group), TIERING_GFP);

	if (!group) {
		mem_cgroup_put(memcg);
		return;
	}
	group->memcg = memcg;
	group->cpu_ns = policy_thermostat_cpu_ns(group);
	spin_lock(&t->shown_lock);
	list_add_tail(&group->list, &t->groups);
	spin_unlock(&t->shown_lock);
}

/* Add budgets for the cgroups that have a bound now. */
static void policy_thermostat_groups_add(struct policy_thermostat *t)
{
	unsigned int count = list_count_nodes(&t->groups);
	struct mem_cgroup *memcg;
	unsigned long id = 0;

	while (count < POLICY_THERMOSTAT_GROUPS && (memcg = tiering_bound_next(&id))) {
		cond_resched();
		if (policy_thermostat_find_group(t, memcg) != &t->others) {
			mem_cgroup_put(memcg);
			continue;
		}
		policy_thermostat_group_add(t, memcg);
		count++;
	}
}

/* Move the budgets of cgroups without a bound to another list. */
static void policy_thermostat_groups_drop(struct policy_thermostat *t,
					  struct list_head *dropped)
{
	struct policy_thermostat_group *group, *next;

	spin_lock(&t->shown_lock);
	list_for_each_entry_safe(group, next, &t->groups, list)
		if (group->memcg && tiering_bound(group->memcg) == TIERING_NO_BOUND)
			list_move(&group->list, dropped);
	spin_unlock(&t->shown_lock);
}

/* Assign regions. Those of an address space are often neighbours. */
static void policy_thermostat_assign(struct policy_thermostat *t, struct list_head *regions)
{
	struct policy_thermostat_group *group = NULL;
	const struct mm_struct *mm = NULL;
	struct tiering_region *region;

	list_for_each_entry(region, regions, list) {
		cond_resched();
		if (region->at.mm != mm) {
			mm = region->at.mm;
			rcu_read_lock();
			group = policy_thermostat_group_of(t, tiering_bound_of(region->at.mm));
			rcu_read_unlock();
		}
		region->group = group;
	}
}

/* Count the regions of each group in the sample. */
static void policy_thermostat_count_sampled(struct policy_thermostat *t)
{
	struct policy_thermostat_group *group;
	struct tiering_region *region;

	list_for_each_entry(group, &t->groups, list)
		group->sampled = 0;
	list_for_each_entry(region, &t->sampled, list) {
		group = region->group;
		group->sampled++;
		cond_resched();
	}
}

/**
 * policy_thermostat_assign_all() - assign each region to the budget of its cgroup
 * @t: the node
 *
 * Bounds may have changed since the last time, and processes may have changed their cgroup.
 * If there are more than 255 cgroups with a bound, some share the budget of an ancestor, or
 * of all others.
 */
void policy_thermostat_assign_all(struct policy_thermostat *t)
{
	struct list_head *lists[POLICY_THERMOSTAT_LISTS];
	struct policy_thermostat_group *group, *next;
	LIST_HEAD(dropped);
	int i;

	policy_thermostat_groups_drop(t, &dropped);
	policy_thermostat_groups_add(t);
	policy_thermostat_lists(t, lists);
	for (i = 0; i < POLICY_THERMOSTAT_LISTS; i++)
		policy_thermostat_assign(t, lists[i]);
	policy_thermostat_count_sampled(t);
	list_for_each_entry_safe(group, next, &dropped, list)
		policy_thermostat_group_free(group);
}

/**
 * policy_thermostat_cost() - convert a rate
 * @rate: visits a second
 *
 * Return: the time that they cost, ns a second.
 */
u64 policy_thermostat_cost(unsigned long rate)
{
	return (u64)rate * READ_ONCE(policy_thermostat_settings.visit_ns);
}

/**
 * policy_thermostat_budget() - calculate a budget
 * @bp: the bound, in hundredths of a percent of the processor time
 * @cpu_ns: processor time that was used
 * @visits: faults that counted visits meanwhile
 * @elapsed: the time in which both were spent, ns
 *
 * Return: the time that visits of slow memory may cost, ns a second.
 */
u64 policy_thermostat_budget(unsigned long bp, u64 cpu_ns, u64 visits, u64 elapsed)
{
	u64 spent = visits * READ_ONCE(policy_thermostat_settings.fault_ns);
	u64 all;

	/* The times of a CPU may be a bit less than they were. */
	if (!elapsed || (s64)cpu_ns < 0)
		return 0;
	all = mul_u64_u64_div_u64(cpu_ns, bp, 10000);
	return all <= spent ? 0 : mul_u64_u64_div_u64(all - spent, NSEC_PER_SEC, elapsed);
}

/*
 * Find out which processor time each group has used since the last charge. The time of a
 * cgroup includes that of descendants, which may have a budget of their own.
 */
static void policy_thermostat_measure(struct policy_thermostat *t)
{
	struct policy_thermostat_group *group, *parent;

	list_for_each_entry(group, &t->groups, list)
		group->used = 0;
	list_for_each_entry(group, &t->groups, list) {
		s64 used;

		group->now_ns = policy_thermostat_cpu_ns(group);
		used = group->now_ns - group->cpu_ns;
		group->used += used;
		if (!group->memcg)
			continue;
		parent = policy_thermostat_group_of(t, parent_mem_cgroup(group->memcg));
		parent->used -= used;
	}
}

/*
 * Update the budget of a group. The rates of its regions are those of the time in which its
 * programs ran; while they rest, the budget is the one of that time, too.
 */
static void policy_thermostat_set_budget(struct policy_thermostat_group *group, u64 elapsed,
					 unsigned int nodes)
{
	u64 used = max(group->used, 0LL), visits = group->visits;

	group->rests = used < elapsed / POLICY_THERMOSTAT_IDLE;
	if (group->rests && group->busy) {
		used = mul_u64_u64_div_u64(group->busy, elapsed, NSEC_PER_SEC);
		visits = 0;
	}
	group->budget = policy_thermostat_budget(policy_thermostat_bound(group), used / nodes,
						 visits, elapsed);
}

/* Note how busy a group was. One that does a little again and again loses its budget slowly. */
static void policy_thermostat_note_busy(struct policy_thermostat_group *group, u64 elapsed)
{
	if (!group->rests)
		group->busy = mul_u64_u64_div_u64(max(group->used, 0LL), NSEC_PER_SEC,
						  max(elapsed, 1ULL));
	else if (group->used > 0)
		group->busy -= group->busy / POLICY_THERMOSTAT_FADE;
}

/**
 * policy_thermostat_all_rest() - test whether all programs rest, those of cgroups included
 * @t: the node
 *
 * Return: true if they have done next to nothing since the last charge.
 */
bool policy_thermostat_all_rest(const struct policy_thermostat *t)
{
	u64 elapsed = ktime_get_mono_fast_ns() - t->began;

	return policy_thermostat_all_ns() - t->others.cpu_ns <
	       elapsed / POLICY_THERMOSTAT_IDLE;
}

/**
 * policy_thermostat_estimate() - estimate the budgets by what was spent since the last charge
 * @t: the node
 * @nodes: number of nodes, which have equal shares of a budget
 */
void policy_thermostat_estimate(struct policy_thermostat *t, unsigned int nodes)
{
	struct policy_thermostat_group *group;
	u64 elapsed = ktime_get_mono_fast_ns() - t->began;

	policy_thermostat_measure(t);
	list_for_each_entry(group, &t->groups, list)
		policy_thermostat_set_budget(group, elapsed, nodes);
}

/**
 * policy_thermostat_charge() - update the budgets by what was spent since the last charge
 * @t: the node, all of whose visits since then are counted
 * @nodes: number of nodes, which have equal shares of a budget
 */
void policy_thermostat_charge(struct policy_thermostat *t, unsigned int nodes)
{
	struct policy_thermostat_group *group;
	u64 elapsed = ktime_get_mono_fast_ns() - t->began;

	policy_thermostat_estimate(t, nodes);
	list_for_each_entry(group, &t->groups, list) {
		policy_thermostat_note_busy(group, elapsed);
		group->cpu_ns = group->now_ns;
		group->visits = 0;
	}
	t->began = ktime_get_mono_fast_ns();
}

/* Order regions by rate, the coldest first. */
static int policy_thermostat_by_rate(void *priv, const struct list_head *a,
				     const struct list_head *b)
{
	const struct tiering_region *ra = list_entry(a, struct tiering_region, list);
	const struct tiering_region *rb = list_entry(b, struct tiering_region, list);

	cond_resched();
	return ra->rate > rb->rate;
}

static u64 policy_thermostat_region_density(const struct tiering_region *region)
{
	return policy_thermostat_density(policy_thermostat_cost(region->rate),
					 (region->end - region->start) >> PAGE_SHIFT);
}

/* Set what each group has to spend on regions, and on contexts, that leave. */
static void policy_thermostat_grant(struct policy_thermostat *t)
{
	struct policy_thermostat_group *group;
	u64 rest;

	list_for_each_entry(group, &t->groups, list)
		group->left = group->budget;
	if (!policy_thermostat_has_contexts(t))
		return;
	/*
	 * Page cache is looked at as a whole in each period, and not as a sample: without a
	 * limit, as much as slow memory may have would leave in each of them, and come back.
	 * A part of the budget is there for what is colder than slow memory is.
	 */
	group = &t->others;
	rest = group->budget - min(group->cost, group->budget);
	group->left = max(rest, group->budget / POLICY_THERMOSTAT_SWAP);
}

/**
 * policy_thermostat_classify() - choose the regions of a sample that leave
 * @t: the node
 * @sampled: the sample, with rates; the hotter ones stay in the list
 * @leaving: the others are added to it
 * @count: size of the sample when the period began
 * @regions: number of regions of which the sample was drawn
 *
 * The coldest leave, as many as the budget of each group allows if the others of which the
 * sample was drawn are like it (Thermostat, section 3.4). Contexts leave with them.
 */
void policy_thermostat_classify(struct policy_thermostat *t, struct list_head *sampled,
				struct list_head *leaving, unsigned long count,
				unsigned long regions)
{
	struct policy_thermostat_group *group;
	struct tiering_region *region, *next;
	unsigned int context = 0;

	policy_thermostat_grant(t);
	list_sort(NULL, sampled, policy_thermostat_by_rate);
	list_for_each_entry_safe(region, next, sampled, list) {
		u64 cost = mul_u64_u64_div_u64(policy_thermostat_cost(region->rate),
					       max(regions, count), max(count, 1UL));

		cond_resched();
		if (t->contexts)
			policy_thermostat_contexts_leave(t->contexts, &context,
							 policy_thermostat_region_density(region),
							 &t->others.left);
		group = region->group;
		/* The others of this group are hotter. */
		if (cost > group->left)
			continue;
		group->left -= cost;
		region->next = 0;
		list_move_tail(&region->list, leaving);
	}
	if (t->contexts)
		policy_thermostat_contexts_leave(t->contexts, &context, U64_MAX,
						 &t->others.left);
}

static void policy_thermostat_sum(struct policy_thermostat *t, struct list_head *cold)
{
	struct policy_thermostat_group *group;
	struct tiering_region *region;

	list_for_each_entry(group, &t->groups, list) {
		group->cost = 0;
		group->cold = 0;
	}
	if (policy_thermostat_has_contexts(t))
		t->others.cost = policy_thermostat_contexts_cost(t->contexts);
	list_for_each_entry(region, cold, list) {
		group = region->group;
		group->cost += policy_thermostat_cost(region->rate);
		group->cold++;
		cond_resched();
	}
}

/* Let contexts come back that are hotter than a region, if slow memory costs too much. */
static void policy_thermostat_return(struct policy_thermostat *t, unsigned int *context,
				     u64 density)
{
	struct policy_thermostat_group *group = &t->others;
	u64 excess, was;

	if (!t->contexts || group->cost <= group->budget)
		return;
	excess = group->cost - group->budget;
	was = excess;
	policy_thermostat_contexts_return(t->contexts, context, density, &excess);
	group->cost -= was - excess;
}

/*
 * Test whether a region should come back. Those without visits cost nothing: the excess is of
 * page cache, of which @spared cannot come back as contexts. Regions do not pay for that.
 */
static bool policy_thermostat_comes_back(const struct policy_thermostat *t,
					 const struct tiering_region *region, u64 spared)
{
	const struct policy_thermostat_group *group = region->group;
	u64 limit = group->budget + (group == &t->others ? spared : 0);

	return region->rate && group->cost > limit;
}

/* Publish the budgets, for readers. */
static void policy_thermostat_publish(struct policy_thermostat *t)
{
	struct policy_thermostat_group *group;

	spin_lock(&t->shown_lock);
	list_for_each_entry(group, &t->groups, list)
		group->shown = (struct policy_thermostat_shown) {
			.budget = group->budget,
			.cost = group->cost,
			.cold = group->cold,
			.came_back = group->came_back,
		};
	spin_unlock(&t->shown_lock);
}

/**
 * policy_thermostat_correct() - choose the regions of slow memory that come back
 * @t: the node
 * @cold: the regions, with rates
 * @back: those that come back are added to it
 *
 * The hottest of a group come back, until the others are within its budget (Thermostat,
 * section 3.5). The costs of the others are in the groups. Contexts come back with them.
 */
void policy_thermostat_correct(struct policy_thermostat *t, struct list_head *cold,
			       struct list_head *back)
{
	unsigned int context = t->contexts ? policy_thermostat_contexts_count(t->contexts) : 0;
	struct tiering_region *region, *next;
	u64 spared = 0;

	if (policy_thermostat_has_contexts(t))
		spared = policy_thermostat_contexts_fixed(t->contexts);
	policy_thermostat_sum(t, cold);
	list_sort(NULL, cold, policy_thermostat_by_rate);
	list_for_each_entry_safe_reverse(region, next, cold, list) {
		struct policy_thermostat_group *group = region->group;

		cond_resched();
		policy_thermostat_return(t, &context,
					 policy_thermostat_region_density(region));
		if (!policy_thermostat_comes_back(t, region, spared))
			continue;
		group->cost -= policy_thermostat_cost(region->rate);
		group->cold--;
		group->came_back++;
		region->next = 0;
		region->state = 0;
		list_move_tail(&region->list, back);
	}
	policy_thermostat_return(t, &context, 0);
	policy_thermostat_publish(t);
}

#ifdef CONFIG_TIERING_KUNIT_TEST
#include "tests/policy-thermostat-kunit.h"
#endif
