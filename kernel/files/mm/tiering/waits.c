// SPDX-License-Identifier: GPL-2.0
/*
 * Policies of memory tiers: how long tasks waited for promotions in hint faults, a
 * histogram (AutoTiering, USENIX ATC 2021, slide "Effect of hiding demotion latency").
 */
#include <linux/bitops.h>
#include <linux/debugfs.h>
#include <linux/minmax.h>
#include <linux/percpu.h>
#include <linux/seq_file.h>

#include "internal.h"

/* Four buckets for each power of two, so that a bound is within a fifth of a time. */
#define TIERING_WAIT_SHIFT	2
#define TIERING_WAIT_STEPS	BIT(TIERING_WAIT_SHIFT)

/* The last bucket has all times from 15 seconds up. */
#define TIERING_WAITS		(32 * TIERING_WAIT_STEPS)

static DEFINE_PER_CPU(unsigned long [TIERING_WAITS], tiering_waits);

/* Get the bucket of a time. */
static unsigned int tiering_wait_bucket(u64 ns)
{
	unsigned int shift;

	ns = max(ns, TIERING_WAIT_STEPS);
	shift = fls64(ns) - 1 - TIERING_WAIT_SHIFT;
	return min(shift * TIERING_WAIT_STEPS + (ns >> shift) - TIERING_WAIT_STEPS,
		   TIERING_WAITS - 1);
}

/* Get the shortest time of a bucket, ns. */
static u64 tiering_wait_least(unsigned int bucket)
{
	u64 steps = TIERING_WAIT_STEPS + bucket % TIERING_WAIT_STEPS;

	return steps << (bucket / TIERING_WAIT_STEPS);
}

/**
 * tiering_count_wait() - count a promotion by a hint fault
 * @ns: how long the task waited for it
 */
void tiering_count_wait(u64 ns)
{
	this_cpu_inc(tiering_waits[tiering_wait_bucket(ns)]);
}

static int tiering_waits_show(struct seq_file *file, void *unused)
{
	unsigned int bucket, cpu;

	for (bucket = 0; bucket < TIERING_WAITS; bucket++) {
		unsigned long count = 0;

		for_each_possible_cpu(cpu) {
			/* The CPU may change its count meanwhile. */
			count += data_race(per_cpu(tiering_waits, cpu)[bucket]);
		}
		if (count)
			seq_printf(file, "%llu %lu\n", tiering_wait_least(bucket),
				   count);
	}
	return 0;
}
DEFINE_SHOW_ATTRIBUTE(tiering_waits);

/**
 * tiering_waits_add() - create the file promotion_ns
 * @folder: parent folder, of debugfs
 */
void __init tiering_waits_add(struct dentry *folder)
{
	debugfs_create_file("promotion_ns", 0444, folder, NULL, &tiering_waits_fops);
}

#ifdef CONFIG_TIERING_KUNIT_TEST
#include "tests/waits-kunit.h"
#endif
