/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The arena of relocatable slabs on x86-64: its range, its PTEs and its TLB flushes.
 */
#ifndef _ASM_X86_RELOC_H
#define _ASM_X86_RELOC_H

#include <linux/bitops.h>
#include <linux/const.h>
#include <linux/pgtable.h>
#include <asm/tlbflush.h>

/*
 * The hole between cpu_entry_area and the %esp fixup stacks, which is at the same
 * place with 4 and with 5 levels of page tables and is not randomized. Nothing
 * else is in its entry of the top level, so page tables of user space never have
 * it with PTI.
 */
#define RELOC_START	(_AC(-3, UL) << P4D_SHIFT)
#define RELOC_SIZE	(_AC(1, UL) << 38)

/* The CPU sets a dirty bit in the PTE when it writes to the page. */
#define RELOC_HAS_DIRTY_BIT	1

/* Clear the dirty bit of a PTE. TLBs may still have the page as dirty. */
static inline void reloc_pte_clean(pte_t *ptep)
{
	/* The CPU sets the bit atomically. */
	clear_bit(_PAGE_BIT_DIRTY, (unsigned long *)&ptep->pte);
}

/*
 * Test and clear the accessed bit of a PTE. TLBs may still have the page as accessed.
 */
static inline bool reloc_pte_test_and_clear_young(pte_t *ptep)
{
	return test_and_clear_bit(_PAGE_BIT_ACCESSED, (unsigned long *)&ptep->pte);
}

/* Modules move no pages, and <asm/tlbflush.h> has no flushes for them. */
#ifndef MODULE

/* The largest number of pages that a CPU flushes one by one. */
#define RELOC_FLUSH_SINGLE	32

/* Flush a page from the TLB of this CPU. Interrupts are off. */
static inline void reloc_flush_page(unsigned long addr)
{
	flush_tlb_one_kernel(addr);
}

/* Flush the whole TLB of this CPU. Interrupts are off. */
static inline void reloc_flush_all(void)
{
	__flush_tlb_all();
}

#endif /* !MODULE */

#endif /* _ASM_X86_RELOC_H */
