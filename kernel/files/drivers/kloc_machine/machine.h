/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The two-tier machine: declarations that the driver's files share.
 */
#ifndef _KLOC_MACHINE_MACHINE_H
#define _KLOC_MACHINE_MACHINE_H

#include <linux/kloc_machine.h>
#include <linux/types.h>

/* What the model reads. Written only if the machine has a model. */
extern struct kloc_machine_page kloc_machine_page;

/**
 * kloc_machine_present() - check if the machine has a timing model
 *
 * Return: true if the command line has kloc_machine.model=1.
 */
static inline bool kloc_machine_present(void)
{
	return static_branch_unlikely(&kloc_machine_key);
}

/* migrate.c */
struct kloc_machine_slot *kloc_machine_slot_of(struct kloc_machine_slot *slots,
					       const char *comm);

#endif /* _KLOC_MACHINE_MACHINE_H */
