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

enum tiering_place policy_kloc_place_active(struct tiering_node *tn,
					    const struct tiering_alloc *alloc);
long policy_kloc_take_for_room(struct tiering_node *tn, struct tiering_batch *b,
			       policy_kloc_next_t next);

#endif /* _MM_TIERING_POLICY_KLOC_H */
