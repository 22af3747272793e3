// SPDX-License-Identifier: GPL-2.0
/*
 * The two-tier machine: the page that the kernel shares with the timing model.
 */
#define pr_fmt(fmt) "kloc_machine: " fmt

#include <linux/fs.h>
#include <linux/init.h>
#include <linux/io.h>
#include <linux/jump_label.h>
#include <linux/mm.h>
#include <linux/mmzone.h>
#include <linux/pci.h>
#include <linux/pgtable.h>

/* struct slab and struct kmem_cache are private to mm/. */
#include "../../mm/slab.h"
#include "machine.h"

#define IVSHMEM_VENDOR	PCI_VENDOR_ID_REDHAT_QUMRANET
#define IVSHMEM_DEVICE	0x1110
#define IVSHMEM_BAR	2

static struct kloc_machine_page no_page;
struct kloc_machine_page *kloc_machine_page __ro_after_init = &no_page;
static phys_addr_t page_physical __ro_after_init;

/* Enabled when the model is found: pages are tagged with what they are for. */
DEFINE_STATIC_KEY_FALSE(kloc_machine_key);

/**
 * kloc_machine_present() - check if there is a timing model
 *
 * Return: true if the shared page was found and has this driver's version.
 */
bool kloc_machine_present(void)
{
	return kloc_machine_page != &no_page;
}

/**
 * kloc_machine_pci() - find and enable one of the machine's memory devices
 * @number: PCI device number on bus 0, KLOC_MACHINE_PCI_*
 *
 * Return: the enabled device, with a reference that the caller must drop. Its
 * memory is BAR 2. NULL if there is no such device.
 */
struct pci_dev *kloc_machine_pci(unsigned int number)
{
	struct pci_dev *pci;

	pci = pci_get_domain_bus_and_slot(0, 0, PCI_DEVFN(number, 0));
	if (!pci)
		return NULL;
	if (pci->vendor != IVSHMEM_VENDOR || pci->device != IVSHMEM_DEVICE ||
	    !pci_resource_len(pci, IVSHMEM_BAR) || pci_enable_device(pci)) {
		pci_dev_put(pci);
		return NULL;
	}
	return pci;
}

/**
 * kloc_machine_page_pfn() - get the frame of the shared page, for the vDSO
 *
 * Return: the page frame number, 0 if there is no timing model.
 */
unsigned long kloc_machine_page_pfn(void)
{
	return PHYS_PFN(page_physical);
}

static int __init page_init(void)
{
	struct kloc_machine_page *page;
	struct pci_dev *pci;

	pci = kloc_machine_pci(KLOC_MACHINE_PCI_PAGE);
	if (!pci)
		return 0;

	page = memremap(pci_resource_start(pci, IVSHMEM_BAR), sizeof(*page),
			MEMREMAP_WB);
	if (page && page->magic == KLOC_MACHINE_MAGIC &&
	    page->version == KLOC_MACHINE_VERSION) {
		kloc_machine_page = page;
		page_physical = pci_resource_start(pci, IVSHMEM_BAR);
		static_branch_enable(&kloc_machine_key);
		return 0;
	}

	pr_info("no timing model: time is the processor's own\n");
	if (page)
		memunmap(page);
	pci_disable_device(pci);
	pci_dev_put(pci);
	return 0;
}

/* As early as PCI resources allow; the clock (clock_init()) comes next. */
fs_initcall_sync(page_init);

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
	struct kloc_machine_layout *layout = &kloc_machine_page->layout;

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

	kloc_machine_call(KLOC_MACHINE_LAYOUT);
	return 0;
}
late_initcall(describe_layout);
