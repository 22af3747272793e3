/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The selection of the oldest folios, for policies that demote by LRU order.
 */
#ifndef _MM_TIERING_POLICY_LRU_H
#define _MM_TIERING_POLICY_LRU_H

#include "policy.h"

long policy_lru_take_few(struct tiering_node *tn, struct tiering_batch *b,
			 struct mem_cgroup *root, enum tiering_kind kind,
			 tiering_choose_t choose, unsigned int most);
long policy_lru_take(struct tiering_node *tn, struct tiering_batch *b,
		     struct mem_cgroup *root, enum tiering_kind kind,
		     tiering_choose_t choose);
void policy_lru_skip(struct tiering_node *tn);

#endif /* _MM_TIERING_POLICY_LRU_H */
