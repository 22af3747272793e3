/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The policy kloc, as far as its controls share it. They are registered after it.
 */
#ifndef _MM_TIERING_POLICY_KLOC_H
#define _MM_TIERING_POLICY_KLOC_H

#include "tiering.h"

/* Takes the next contexts that should leave a node. As get_LRU_knodes(). */
typedef unsigned int (*policy_kloc_next_t)(unsigned int index,
					   struct knode **knodes,
					   unsigned int most);

extern struct tiering_policy policy_kloc;

/**
 * struct policy_kloc_copies - what came of copies, and what follows from that
 * @first: the first reason for which they are made
 * @last: the last one
 * @least: of @value
 * @most: of @value
 * @value: the higher, the fewer pages are moved
 * @seen: what had come of them when that was looked at the last time
 */
struct policy_kloc_copies {
	enum tiering_reason first, last;
	unsigned int least, most, value;
	struct tiering_copies seen;
};

void policy_kloc_copies_forget(struct policy_kloc_copies *copies);
void policy_kloc_copies_adapt(struct policy_kloc_copies *copies);

/**
 * enum policy_kloc_groups - what is done with slab objects that will not be used much
 * @POLICY_KLOC_MIXED: they are on pages with others
 * @POLICY_KLOC_APART: they are on pages of their own
 * @POLICY_KLOC_FAR: which begin in slow memory, if fast memory is short
 */
enum policy_kloc_groups {
	POLICY_KLOC_MIXED,
	POLICY_KLOC_APART,
	POLICY_KLOC_FAR,
};

extern unsigned long policy_kloc_slab_groups;

enum tiering_place policy_kloc_place_cold_slab(struct tiering_node *tn);

bool policy_kloc_slab_may_leave(void);
void policy_kloc_slab_forget(void);
void policy_kloc_slab_adapt(void);
bool policy_kloc_slab_new_cold(struct tiering_node *tn,
			       const struct tiering_alloc *alloc);
bool policy_kloc_slab_cold(struct tiering_node *tn, unsigned int history);
bool policy_kloc_slab_hot(struct tiering_node *tn, unsigned int history);

enum tiering_place policy_kloc_place_active(struct tiering_node *tn,
					    const struct tiering_alloc *alloc);
long policy_kloc_take_for_room(struct tiering_node *tn, struct tiering_batch *b,
			       policy_kloc_next_t next);

#endif /* _MM_TIERING_POLICY_KLOC_H */
