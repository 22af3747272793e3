/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The policy kloc, as far as its controls share it.
 */
#ifndef _MM_TIERING_POLICY_KLOC_H
#define _MM_TIERING_POLICY_KLOC_H

#include "tiering.h"

/* Takes the next contexts that should leave a node. As get_LRU_knodes(). */
typedef unsigned int (*policy_kloc_next_t)(unsigned int index,
					   struct knode **knodes,
					   unsigned int most);

int policy_kloc_init_node(struct tiering_node *tn);
void policy_kloc_exit_node(struct tiering_node *tn);
enum tiering_place policy_kloc_place(struct tiering_node *tn,
				     const struct tiering_alloc *alloc);
enum tiering_place policy_kloc_place_active(struct tiering_node *tn,
					    const struct tiering_alloc *alloc);
bool policy_kloc_used(struct tiering_node *tn, struct folio *folio,
		      unsigned int history);
void policy_kloc_knode_event(struct tiering_node *tn, struct knode *knode,
			     enum tiering_knode_event event);
void policy_kloc_period(struct tiering_node *tn);
long policy_kloc_fill_promote(struct tiering_node *tn, struct tiering_batch *b,
			      long room);
long policy_kloc_take_for_room(struct tiering_node *tn, struct tiering_batch *b,
			       policy_kloc_next_t next);

#endif /* _MM_TIERING_POLICY_KLOC_H */
