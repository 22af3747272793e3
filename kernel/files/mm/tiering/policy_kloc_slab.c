// SPDX-License-Identifier: GPL-2.0
/*
 * The policy kloc: relocatable slabs of inodes and dentries.
 *
 * Objects of many contexts share a page. A page is demoted if none of its objects was
 * used in the eight scans of its history, or, together with the context of one object,
 * if none of the others was used in this scan or the last one. A page that is used in
 * enough scans to pay for its copies is promoted.
 *
 * If all files are equally hot, demoted pages come back, and each copy has stopped all
 * CPUs in vain. Then demotion pauses, and for twice as long if that happens again.
 */
#include <linux/bitops.h>
#include <linux/compiler.h>
#include <linux/minmax.h>

#include "../kloc/kloc.h"
#include "policy_kloc.h"

/* One in this many demoted pages may be promoted again. */
#define POLICY_KLOC_SLAB_WASTE	8

/* The longest pause, in intervals of ten scans. */
#define POLICY_KLOC_SLAB_PAUSE	64U

/**
 * struct policy_kloc_slab_moves - moves of slab pages, and pauses of demotion
 * @demoted: pages demoted since boot, at the last check
 * @promoted: pages promoted since boot, at the last check
 * @pause: length of the last pause, halved in each interval after it; intervals
 * @pause_left: rest of the pause; intervals
 */
struct policy_kloc_slab_moves {
	unsigned long demoted, promoted;
	unsigned int pause, pause_left;
};

static struct policy_kloc_slab_moves policy_kloc_slab_moves;

/**
 * policy_kloc_slab_may_leave() - test whether slab pages may be demoted now
 *
 * Return: false during a pause, after too many demoted pages came back.
 */
bool policy_kloc_slab_may_leave(void)
{
	return !READ_ONCE(policy_kloc_slab_moves.pause_left);
}

static unsigned long policy_kloc_slab_moved(enum tiering_reason why)
{
	return tiering_counted(TIERING_MOVED + why, TIERING_SLAB);
}

/* Count the slab pages demoted since boot. */
static unsigned long policy_kloc_slab_demoted(void)
{
	return policy_kloc_slab_moved(TIERING_DEMOTED_INACTIVE) +
	       policy_kloc_slab_moved(TIERING_DEMOTED_UNUSED) +
	       policy_kloc_slab_moved(TIERING_DEMOTED_LIMIT);
}

/* Count the slab pages promoted since boot. */
static unsigned long policy_kloc_slab_promoted(void)
{
	return policy_kloc_slab_moved(TIERING_PROMOTED_ACTIVE) +
	       policy_kloc_slab_moved(TIERING_PROMOTED_USED);
}

/**
 * policy_kloc_slab_forget() - reset the pauses of demotion
 */
void policy_kloc_slab_forget(void)
{
	policy_kloc_slab_moves.demoted = policy_kloc_slab_demoted();
	policy_kloc_slab_moves.promoted = policy_kloc_slab_promoted();
	policy_kloc_slab_moves.pause = 0;
	WRITE_ONCE(policy_kloc_slab_moves.pause_left, 0);
}

/* End an interval. @demoted and @promoted are pages since boot. */
static void policy_kloc_slab_count(struct policy_kloc_slab_moves *moves,
				   unsigned long demoted, unsigned long promoted)
{
	unsigned long left = demoted - moves->demoted;
	unsigned long came = promoted - moves->promoted;

	moves->demoted = demoted;
	moves->promoted = promoted;
	if (came > max(left, 1UL * TIERING_BATCH) / POLICY_KLOC_SLAB_WASTE) {
		moves->pause = clamp(2 * moves->pause, 1U, POLICY_KLOC_SLAB_PAUSE);
		WRITE_ONCE(moves->pause_left, moves->pause);
	} else if (moves->pause_left) {
		WRITE_ONCE(moves->pause_left, moves->pause_left - 1);
	} else {
		moves->pause /= 2;
	}
}

/**
 * policy_kloc_slab_adapt() - pause demotion if too many demoted pages came back
 *
 * Called every ten scans.
 */
void policy_kloc_slab_adapt(void)
{
	policy_kloc_slab_count(&policy_kloc_slab_moves, policy_kloc_slab_demoted(),
			       policy_kloc_slab_promoted());
}

/* Placement of cold objects, enum policy_kloc_groups. */
unsigned long policy_kloc_slab_groups = POLICY_KLOC_APART;

/**
 * policy_kloc_slab_new_cold() - predict whether new slab objects are cold
 * @tn: the node
 * @alloc: the objects
 *
 * Objects of an inactive context are cold, as are the inode and dentry of a lookup: a
 * file is not in use until it is opened.
 *
 * Return: true if few uses are expected.
 */
bool policy_kloc_slab_new_cold(struct tiering_node *tn,
			       const struct tiering_alloc *alloc)
{
	const struct knode *knode = alloc->knode;

	if (READ_ONCE(policy_kloc_slab_groups) == POLICY_KLOC_MIXED ||
	    (knode && !kloc_takes_part(knode)))
		return false;
	if (alloc->lookup || alloc->class == RA_CLASS_ONCE)
		return true;
	return knode && !knode_inuse(knode);
}

/**
 * policy_kloc_place_cold_slab() - choose a tier for a new slab page of cold objects
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
 * policy_kloc_slab_cold() - decide whether to demote a slab page
 * @tn: the node
 * @history: the scans of the last eight with a use of the page
 *
 * Return: true if the page should be demoted.
 */
bool policy_kloc_slab_cold(struct tiering_node *tn, unsigned int history)
{
	return !history && policy_kloc_slab_may_leave();
}

/**
 * policy_kloc_slab_hot() - decide whether to promote a slab page
 * @tn: the node
 * @history: the scans of the last eight with a use of the page
 *
 * Return: true if the page should be promoted.
 */
bool policy_kloc_slab_hot(struct tiering_node *tn, unsigned int history)
{
	return hweight_long(history) >= TIERING_USES_TO_PAY;
}

#ifdef CONFIG_TIERING_KUNIT_TEST
#include "tests/policy-kloc-slab-kunit.h"
#endif
