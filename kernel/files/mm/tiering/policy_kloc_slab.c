// SPDX-License-Identifier: GPL-2.0
/*
 * The policy kloc: inodes and dentries, if they can move.
 *
 * The objects of many contexts share a page, so a page leaves if none of them is used:
 * after as many scans as there are in its history, or with the context of one of its
 * objects if nobody has used the others in this scan or the last one. A page that is
 * used in enough scans to pay for its copies comes back.
 *
 * Where all files are used alike, what leaves comes back, and each copy has stopped all
 * CPUs. Then none leaves for a while, and for twice as long if it happens again.
 */
#include <linux/bitops.h>
#include <linux/compiler.h>
#include <linux/minmax.h>

#include "../kloc/kloc.h"
#include "policy_kloc.h"

/* One in so many pages may come back. */
#define POLICY_KLOC_SLAB_WASTE	8

/* No page leaves for so many times ten scans, at most. */
#define POLICY_KLOC_SLAB_REST	64U

/* How often that is if pages come back now, and how often it still is. */
static unsigned int policy_kloc_slab_rest, policy_kloc_slab_left;

/* What had left and come back when that was looked at the last time. */
static unsigned long policy_kloc_slab_gone, policy_kloc_slab_back;

/**
 * policy_kloc_slab_may_leave() - may slabs leave fast memory now?
 *
 * Return: false if too many of those that left came back.
 */
bool policy_kloc_slab_may_leave(void)
{
	return !READ_ONCE(policy_kloc_slab_left);
}

static unsigned long policy_kloc_slab_moved(enum tiering_reason one,
					    enum tiering_reason other)
{
	return tiering_counted(TIERING_MOVED + one, TIERING_SLAB) +
	       tiering_counted(TIERING_MOVED + other, TIERING_SLAB);
}

/* What has left, and what has come back, since boot. */
static unsigned long policy_kloc_slab_gone_now(void)
{
	return policy_kloc_slab_moved(TIERING_DEMOTED_INACTIVE, TIERING_DEMOTED_UNUSED) +
	       tiering_counted(TIERING_MOVED + TIERING_DEMOTED_LIMIT, TIERING_SLAB);
}

static unsigned long policy_kloc_slab_back_now(void)
{
	return policy_kloc_slab_moved(TIERING_PROMOTED_ACTIVE, TIERING_PROMOTED_USED);
}

/**
 * policy_kloc_slab_forget() - begin anew
 */
void policy_kloc_slab_forget(void)
{
	policy_kloc_slab_gone = policy_kloc_slab_gone_now();
	policy_kloc_slab_back = policy_kloc_slab_back_now();
	policy_kloc_slab_rest = 0;
	WRITE_ONCE(policy_kloc_slab_left, 0);
}

/**
 * policy_kloc_slab_adapt() - see how many slabs have left and come back
 *
 * Called every ten scans.
 */
void policy_kloc_slab_adapt(void)
{
	unsigned long gone = policy_kloc_slab_gone_now();
	unsigned long back = policy_kloc_slab_back_now();
	unsigned long left = gone - policy_kloc_slab_gone;
	unsigned long came = back - policy_kloc_slab_back;

	policy_kloc_slab_gone = gone;
	policy_kloc_slab_back = back;
	if (came > max(left, 1UL * TIERING_BATCH) / POLICY_KLOC_SLAB_WASTE) {
		policy_kloc_slab_rest = clamp(2 * policy_kloc_slab_rest, 1U,
					      POLICY_KLOC_SLAB_REST);
		WRITE_ONCE(policy_kloc_slab_left, policy_kloc_slab_rest);
	} else if (policy_kloc_slab_left) {
		WRITE_ONCE(policy_kloc_slab_left, policy_kloc_slab_left - 1);
	} else {
		policy_kloc_slab_rest /= 2;
	}
}

/* Which objects are apart? */
unsigned long policy_kloc_slab_groups = POLICY_KLOC_APART;

/**
 * policy_kloc_slab_new_cold() - will new objects of slabs not be used much?
 * @tn: the node
 * @alloc: the objects
 *
 * Those of a context are what the context is. A file that is looked up is not in use
 * until somebody opens it.
 *
 * Return: true if so.
 */
bool policy_kloc_slab_new_cold(struct tiering_node *tn,
			       const struct tiering_alloc *alloc)
{
	const struct knode *knode = alloc->knode;

	if (READ_ONCE(policy_kloc_slab_groups) == POLICY_KLOC_MIXED ||
	    (knode && !kloc_takes_part(knode)))
		return false;
	if (alloc->lookup || alloc->stream)
		return true;
	return knode && (test_bit(KNODE_STREAM, &knode->flags) || !knode_inuse(knode));
}

/**
 * policy_kloc_place_cold_slab() - where should a page of cold objects go?
 * @tn: the node
 *
 * Return: one of enum tiering_place.
 */
enum tiering_place policy_kloc_place_cold_slab(struct tiering_node *tn)
{
	return READ_ONCE(policy_kloc_slab_groups) == POLICY_KLOC_FAR &&
	       tiering_is_short(tn->nid) ? TIERING_BOTTOM_FIRST : TIERING_LOCAL;
}

/**
 * policy_kloc_slab_cold() - should a page of a slab leave the node?
 * @tn: the node
 * @history: in which of the last eight scans it was used
 *
 * Return: true if it should.
 */
bool policy_kloc_slab_cold(struct tiering_node *tn, unsigned int history)
{
	return !history && policy_kloc_slab_may_leave();
}

/**
 * policy_kloc_slab_hot() - should a page of a slab come to the node?
 * @tn: the node
 * @history: in which of the last eight scans it was used
 *
 * Return: true if it should.
 */
bool policy_kloc_slab_hot(struct tiering_node *tn, unsigned int history)
{
	return hweight_long(history) >= TIERING_USES_TO_PAY;
}
