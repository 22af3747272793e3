/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The policy kloc: the parts that its control policies share.
 */
#ifndef _MM_TIERING_POLICY_KLOC_H
#define _MM_TIERING_POLICY_KLOC_H

#include "policy.h"

/* Takes the next contexts to demote from a node, as get_LRU_knodes() does. */
typedef unsigned int (*policy_kloc_next_t)(unsigned int index,
					   struct knode **knodes,
					   unsigned int most);

/* Needs of a variant of kloc that has contexts and moves page cache. */
#define POLICY_KLOC_NEEDS	(TIERING_FILES | TIERING_USES | TIERING_MOVES | \
				 TIERING_KNODES | TIERING_TABLES | TIERING_NET | \
				 TIERING_READAHEAD)

/* Operations of such a variant, without placement and demotion. */
#define POLICY_KLOC_OPERATIONS					\
	.init		= policy_kloc_select,			\
	.init_node	= policy_kloc_init_node,		\
	.exit_node	= policy_kloc_exit_node,		\
	.used		= policy_kloc_used,			\
	.knode_active	= policy_kloc_knode_active,		\
	.period		= policy_kloc_period,			\
	.fill_promote	= policy_kloc_fill_promote,		\
	.waits		= policy_kloc_waits

/* Operations of a variant that also moves slabs. */
#define POLICY_KLOC_SLAB_OPERATIONS				\
	.slab_new_cold	= policy_kloc_slab_new_cold,		\
	.slab_cold	= policy_kloc_slab_cold,		\
	.slab_hot	= policy_kloc_slab_hot

/**
 * struct policy_kloc_copies - a threshold that adapts to the share of wasted copies
 * @first: first reason of the copies
 * @last: last reason of the copies
 * @least: smallest @value
 * @most: largest @value
 * @value: the threshold; a higher one moves fewer pages
 * @pause: length of the last pause before @value falls, halved in each interval that
 *         begins with the smallest @value and wastes no copies; intervals
 * @pause_left: rest of the pause; intervals
 * @seen: copies at the last adaptation
 */
struct policy_kloc_copies {
	enum tiering_reason first, last;
	unsigned int least, most, value;
	unsigned int pause, pause_left;
	struct tiering_copies seen;
};

void policy_kloc_copies_forget(struct policy_kloc_copies *copies);
void policy_kloc_copies_adapt(struct policy_kloc_copies *copies);

/**
 * enum policy_kloc_groups - the placement of slab objects that are expected to be cold
 * @POLICY_KLOC_MIXED: on the same pages as other objects
 * @POLICY_KLOC_APART: on pages of their own
 * @POLICY_KLOC_FAR: on pages of their own, in slow memory if fast memory is short
 */
enum policy_kloc_groups {
	POLICY_KLOC_MIXED,
	POLICY_KLOC_APART,
	POLICY_KLOC_FAR,
};

extern unsigned long policy_kloc_slab_groups;

enum tiering_place policy_kloc_place_cold_slab(struct tiering_node *tn);

bool policy_kloc_slab_new_cold(struct tiering_node *tn,
			       const struct tiering_alloc *alloc);
bool policy_kloc_slab_cold(struct tiering_node *tn, unsigned int history);
bool policy_kloc_slab_hot(struct tiering_node *tn, unsigned int history);

int policy_kloc_select(void);
int policy_kloc_init_node(struct tiering_node *tn);
void policy_kloc_exit_node(struct tiering_node *tn);
enum tiering_place policy_kloc_place_used(struct tiering_node *tn, enum ra_class class);
enum tiering_place policy_kloc_place(struct tiering_node *tn,
				     const struct tiering_alloc *alloc);
enum tiering_place policy_kloc_place_active(struct tiering_node *tn,
					    const struct tiering_alloc *alloc);
bool policy_kloc_used(struct tiering_node *tn, struct folio *folio,
		      unsigned int history);
bool policy_kloc_choose_clean(struct tiering_node *tn, struct folio *folio);
bool policy_kloc_choose_unused(struct tiering_node *tn, struct folio *folio);
void policy_kloc_knode_active(struct tiering_node *tn, struct knode *knode);
void policy_kloc_period(struct tiering_node *tn);
long policy_kloc_fill_demote(struct tiering_node *tn, struct tiering_batch *b,
			     long want);
long policy_kloc_fill_promote(struct tiering_node *tn, struct tiering_batch *b,
			      long room);
bool policy_kloc_waits(struct tiering_node *tn);
long policy_kloc_make_room(struct tiering_node *tn, struct tiering_batch *b,
			   long want);
long policy_kloc_take_for_room(struct tiering_node *tn, struct tiering_batch *b,
			       policy_kloc_next_t next);

#endif /* _MM_TIERING_POLICY_KLOC_H */
