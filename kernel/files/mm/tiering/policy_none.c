// SPDX-License-Identifier: GPL-2.0
/*
 * The policy none: the kernel behaves as without policies. It is selected at boot.
 */
#include <linux/init.h>

#include "policy.h"

static struct tiering_policy policy_none = {
	.name = "none",
};

static int __init policy_none_init(void)
{
	return tiering_register(&policy_none);
}
subsys_initcall_sync(policy_none_init);
