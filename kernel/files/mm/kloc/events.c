// SPDX-License-Identifier: GPL-2.0
/*
 * Contexts of files: what happened how often.
 */
#include <linux/percpu.h>

#include "kloc.h"

static DEFINE_PER_CPU(unsigned long [KLOC_EVENTS][KLOC_KINDS], counts);

/**
 * kloc_kind() - what kind of objects does a context have?
 * @knode: the context; NULL for pages that are looked at one by one
 *
 * Return: the kind.
 */
enum kloc_kind kloc_kind(const struct knode *knode)
{
	return knode && test_bit(KNODE_SYSTEM, &knode->flags) ?
	       KLOC_KIND_BLOCKDEV : KLOC_KIND_FILE;
}

/**
 * kloc_has_kind() - does a context take part?
 * @knode: the context
 *
 * Return: true if its kind of objects does.
 */
bool kloc_has_kind(const struct knode *knode)
{
	return READ_ONCE(kloc_settings.kinds) & BIT(kloc_kind(knode));
}

/**
 * kloc_count() - count
 * @event: what
 * @knode: whose, as for kloc_kind()
 * @count: how much
 */
void kloc_count(enum kloc_event event, const struct knode *knode, long count)
{
	this_cpu_add(counts[event][kloc_kind(knode)], count);
}

/**
 * kloc_events() - what was counted?
 * @event: what
 * @kind: of which objects
 *
 * Return: the sum over all CPUs, since boot.
 */
unsigned long kloc_events(enum kloc_event event, enum kloc_kind kind)
{
	unsigned long sum = 0;
	unsigned int cpu;

	for_each_possible_cpu(cpu)
		sum += per_cpu(counts, cpu)[event][kind];
	return sum;
}
