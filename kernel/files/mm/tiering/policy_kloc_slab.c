// SPDX-License-Identifier: GPL-2.0
/*
 * The policy kloc: relocatable slabs of inodes and dentries.
 *
 * Objects of many contexts share a page. A page is demoted if none of its objects was
 * used in the eight scans of its history, or, together with the context of one object,
 * if none of the others was used in this scan or the last one. A page that is used in
 * enough scans to pay for its copies is promoted. A page that has left and come back
 * stays for a while, see slab.c.
 */
#include <linux/bitops.h>
#include <linux/compiler.h>

#include "../kloc/kloc.h"
#include "policy_kloc.h"

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
	return !history;
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
