// SPDX-License-Identifier: GPL-2.0
/*
 * KUnit tests of the two-tier machine's driver. They do not need the machine.
 */
#include <kunit/test.h>
#include <linux/irq_work.h>
#include <linux/irqflags.h>
#include <linux/preempt.h>
#include <linux/sched.h>
#include <linux/slab.h>

/* struct slab is private to mm/. */
#include "../../mm/slab.h"
#include "machine.h"

/* Return the tag that a new page gets now. */
static unsigned long tag_of_new_page(void)
{
	struct page page = { .index = 1 };

	__kloc_machine_new_pages(&page, 0);
	return page.index;
}

static void new_page_has_tag_of_innermost_scope(struct kunit *test)
{
	unsigned long outer, inner;

	KUNIT_EXPECT_EQ(test, 0, tag_of_new_page());
	outer = __kloc_machine_tag_save(KLOC_MACHINE_TAG_FILE);
	KUNIT_EXPECT_EQ(test, KLOC_MACHINE_TAG_FILE, tag_of_new_page());

	inner = __kloc_machine_tag_save(KLOC_MACHINE_TAG_PAGETABLE);
	KUNIT_EXPECT_EQ(test, KLOC_MACHINE_TAG_PAGETABLE, tag_of_new_page());
	__kloc_machine_tag_restore(inner);

	inner = __kloc_machine_tag_save(0);
	KUNIT_EXPECT_EQ(test, 0, tag_of_new_page());
	__kloc_machine_tag_restore(inner);

	KUNIT_EXPECT_EQ(test, KLOC_MACHINE_TAG_FILE, tag_of_new_page());
	__kloc_machine_tag_restore(outer);
	KUNIT_EXPECT_EQ(test, 0, tag_of_new_page());
}

static void all_pages_of_an_allocation_have_the_tag(struct kunit *test)
{
	struct page pages[4] = {};
	unsigned long previous;
	unsigned int i;

	previous = __kloc_machine_tag_save(KLOC_MACHINE_TAG_ANON);
	__kloc_machine_new_pages(pages, 2);
	__kloc_machine_tag_restore(previous);
	for (i = 0; i < ARRAY_SIZE(pages); i++)
		KUNIT_EXPECT_EQ(test, KLOC_MACHINE_TAG_ANON, pages[i].index);
}

static void new_slab_page_has_its_cache(struct kunit *test)
{
	struct kmem_cache *cache = kmalloc_caches[KMALLOC_NORMAL][8];
	struct page page = {};
	unsigned long previous;

	previous = __kloc_machine_tag_save((unsigned long)cache);
	__kloc_machine_new_pages(&page, 0);
	__kloc_machine_tag_restore(previous);
	KUNIT_EXPECT_EQ(test, KLOC_MACHINE_TAG_SLAB, page.index);
	KUNIT_EXPECT_PTR_EQ(test, cache, page_slab(&page)->slab_cache);
}

static unsigned long tag_in_interrupt, tag_in_scope_of_interrupt;

static void allocate_in_interrupt(struct irq_work *work)
{
	unsigned long previous;

	tag_in_interrupt = tag_of_new_page();
	previous = __kloc_machine_tag_save(KLOC_MACHINE_TAG_SOCKET);
	tag_in_scope_of_interrupt = tag_of_new_page();
	__kloc_machine_tag_restore(previous);
}

static void interrupt_does_not_take_the_tag_of_the_task(struct kunit *test)
{
	struct irq_work work = IRQ_WORK_INIT_HARD(allocate_in_interrupt);
	unsigned long previous;

	previous = __kloc_machine_tag_save(KLOC_MACHINE_TAG_ANON);
	tag_in_interrupt = 1;
	/* The interrupt comes when interrupts are enabled, in this task. */
	preempt_disable();
	local_irq_disable();
	irq_work_queue(&work);
	local_irq_enable();
	preempt_enable();
	irq_work_sync(&work);

	KUNIT_EXPECT_EQ(test, 0, tag_in_interrupt);
	KUNIT_EXPECT_EQ(test, KLOC_MACHINE_TAG_SOCKET,
			tag_in_scope_of_interrupt);
	KUNIT_EXPECT_EQ(test, KLOC_MACHINE_TAG_ANON, tag_of_new_page());
	__kloc_machine_tag_restore(previous);
}

static void threads_of_a_name_share_a_slot(struct kunit *test)
{
	struct kloc_machine_slot *slots;

	slots = kunit_kcalloc(test, KLOC_MACHINE_SLOTS, sizeof(*slots),
			      GFP_KERNEL);
	KUNIT_ASSERT_NOT_NULL(test, slots);
	KUNIT_EXPECT_PTR_EQ(test, slots,
			    kloc_machine_slot_of(slots, "kswapd0"));
	KUNIT_EXPECT_PTR_EQ(test, slots + 1,
			    kloc_machine_slot_of(slots, "kswapd1"));
	KUNIT_EXPECT_PTR_EQ(test, slots,
			    kloc_machine_slot_of(slots, "kswapd0"));
	KUNIT_EXPECT_STREQ(test, "kswapd0", slots[0].comm);
}

static void last_slot_is_of_all_other_threads(struct kunit *test)
{
	struct kloc_machine_slot *slots, *last;
	char comm[TASK_COMM_LEN];
	int i;

	slots = kunit_kcalloc(test, KLOC_MACHINE_SLOTS, sizeof(*slots),
			      GFP_KERNEL);
	KUNIT_ASSERT_NOT_NULL(test, slots);
	last = slots + KLOC_MACHINE_SLOTS - 1;
	for (i = 0; i < KLOC_MACHINE_SLOTS - 1; i++) {
		scnprintf(comm, sizeof(comm), "thread%d", i);
		KUNIT_EXPECT_PTR_EQ(test, slots + i,
				    kloc_machine_slot_of(slots, comm));
	}
	KUNIT_EXPECT_PTR_EQ(test, last, kloc_machine_slot_of(slots, "one"));
	KUNIT_EXPECT_PTR_EQ(test, last, kloc_machine_slot_of(slots, "more"));
	KUNIT_EXPECT_STREQ(test, "others", last->comm);
}

static struct kunit_case kloc_machine_cases[] = {
	KUNIT_CASE(new_page_has_tag_of_innermost_scope),
	KUNIT_CASE(all_pages_of_an_allocation_have_the_tag),
	KUNIT_CASE(new_slab_page_has_its_cache),
	KUNIT_CASE(interrupt_does_not_take_the_tag_of_the_task),
	KUNIT_CASE(threads_of_a_name_share_a_slot),
	KUNIT_CASE(last_slot_is_of_all_other_threads),
	{}
};

static struct kunit_suite kloc_machine_suite = {
	.name = "kloc_machine",
	.test_cases = kloc_machine_cases,
};

kunit_test_suite(kloc_machine_suite);
