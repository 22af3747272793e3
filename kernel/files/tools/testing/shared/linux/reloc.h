/* SPDX-License-Identifier: GPL-2.0 */
/* Tests of radix trees in user space have no relocatable slabs. */
#ifndef _LINUX_RELOC_H
#define _LINUX_RELOC_H

static inline unsigned int reloc_slab_flag(const char *name)
{
	return 0;
}

#endif /* _LINUX_RELOC_H */
