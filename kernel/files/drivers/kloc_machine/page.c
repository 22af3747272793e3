// SPDX-License-Identifier: GPL-2.0
/*
 * The two-tier machine: what the timing model has to know of the kernel.
 */
#define pr_fmt(fmt) "kloc_machine: " fmt

#include <linux/cache.h>
#include <linux/fs.h>
#include <linux/init.h>
#include <linux/io.h>
#include <linux/jump_label.h>
#include <linux/kstrtox.h>
#include <linux/linkage.h>
#include <linux/mm.h>
#include <linux/mmzone.h>
#include <linux/pgtable.h>

/* struct slab and struct kmem_cache are private to mm/. */
#include "../../mm/slab.h"
#include "machine.h"

DEFINE_STATIC_KEY_FALSE_RO(kloc_machine_key);

struct kloc_machine_page kloc_machine_page __page_aligned_bss;

/* The first page that is allocated already has a tag, so this is early. */
static int __init enable_model(char *value)
{
	bool enable = true;
	int error = value ? kstrtobool(value, &enable) : 0;

	if (!error && enable)
		static_branch_enable(&kloc_machine_key);
	return error;
}
early_param("kloc_machine.model", enable_model);

/* Execute a NOP that the model recognizes, with the address of the page. */
static void __init call_layout(void)
{
	asm volatile(".byte 0x0f, 0x1f, 0x80, %c0, %c1, %c2, %c3"
		     : : "i" (KLOC_MACHINE_LAYOUT), "i" (KLOC_MACHINE_NOP_1),
			 "i" (KLOC_MACHINE_NOP_2), "i" (KLOC_MACHINE_NOP_3),
			 "a" (__pa_symbol(&kloc_machine_page))
		     : "memory");
}

/*
 * Return the physical address of a section's struct pages, 0 if they are not
 * contiguous: they fill a 2 MiB page, unless none could be allocated at boot.
 */
static phys_addr_t __init memmap_of(unsigned long section)
{
	struct page *first = pfn_to_page(section_nr_to_pfn(section));
	struct page *last = first + PAGES_PER_SECTION - 1;
	phys_addr_t start = slow_virt_to_phys(first);

	if (slow_virt_to_phys(last) - start != (void *)last - (void *)first) {
		pr_warn("the model does not see the pages of section %lu\n",
			section);
		return 0;
	}
	return start;
}

static void __init describe_memmap(struct kloc_machine_layout *layout)
{
	unsigned long section;

	BUILD_BUG_ON(SECTION_SIZE_BITS != KLOC_MACHINE_SECTION_SHIFT);

	for (section = 0; section < KLOC_MACHINE_SECTIONS; section++)
		if (present_section_nr(section))
			layout->memmap[section] = memmap_of(section);
}

static int __init describe_layout(void)
{
	struct kloc_machine_layout *layout = &kloc_machine_page.layout;

	if (!kloc_machine_present())
		return 0;

	layout->page_offset = PAGE_OFFSET;
	layout->kernel_map = __START_KERNEL_map;
	layout->kernel_phys = phys_base;
	layout->page_size = sizeof(struct page);
	layout->slab_cache = offsetof(struct slab, slab_cache);
	layout->cache_name = offsetof(struct kmem_cache, name);
	layout->page_type = offsetof(struct page, page_type);
	layout->page_mapping = offsetof(struct page, mapping);
	layout->page_private = offsetof(struct page, private);
	layout->page_index = offsetof(struct page, index);
	layout->page_head = offsetof(struct page, compound_head);
	layout->mapping_host = offsetof(struct address_space, host);
	layout->inode_mode = offsetof(struct inode, i_mode);
	layout->type_buddy = PGTY_buddy;
	layout->type_table = PGTY_table;
	layout->type_slab = PGTY_slab;
	layout->flag_reserved = PG_reserved;
	layout->flag_swapbacked = PG_swapbacked;
	layout->flag_head = PG_head;
	layout->memmap_base = (unsigned long)pfn_to_page(0);
	describe_memmap(layout);

	kloc_machine_page.magic = KLOC_MACHINE_MAGIC;
	kloc_machine_page.version = KLOC_MACHINE_VERSION;
	call_layout();
	return 0;
}
late_initcall(describe_layout);
