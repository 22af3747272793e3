// SPDX-License-Identifier: GPL-2.0
/*
 * known_tlb FIRST SECOND WALK HUGE_FIRST HUGE_SECOND HUGE_WALK: the reach of the TLB, by
 * chases on core 0 over so many pages. One line of each page is accessed.
 *
 *	tlb.small.first, tlb.small.second, tlb.small.walk	ns a load, pages of 4 KiB
 *	tlb.huge.first, tlb.huge.second, tlb.huge.walk		ns a load, pages of 2 MiB
 *
 * Page-table entries of GROUP pages share a line. The chase visits one page of each
 * group, then the next page of each, so that with many groups each visit finds the
 * line of the entry outside of the L1. It visits all groups of a page table before
 * those of the next one, so that the directories above need not be read.
 *
 * Numbers of pages are multiples of GROUP, and above TABLE multiples of TABLE.
 *
 * The lines themselves are in the last-level cache, and never in the L1: they are
 * spread over so few of its SETS sets that each has at least CROWD of them.
 */
#include "chases.h"

#define GROUP	8UL
#define TABLE	512UL	/* pages of a page table */
#define SETS	64UL
#define CROWD	32UL
#define LOADS	(32UL << 10)

#define PAGES_MAX	65536

/* Pages of one size, each at its own virtual address, whose lines share some sets of the L1. */
struct pages {
	char *memory;
	size_t count, bytes, sets;
};

/* Return how many sets the lines of so many pages share, a power of two. */
static size_t sets_of(size_t count)
{
	size_t sets = 1;

	while (sets < SETS && 2 * sets * CROWD <= count)
		sets *= 2;
	return sets;
}

/* Return the line of a page that is accessed. Lines of huge pages are all different. */
static void **line_of(const struct pages *pages, size_t page)
{
	size_t group = page / GROUP, member = page % GROUP;
	size_t number = (group / SETS * GROUP + member) * SETS +
			(group + member * GROUP) % SETS;
	size_t line = number / pages->sets * SETS + number % pages->sets;

	return (void **)(pages->memory + page * pages->bytes + line * LINE % pages->bytes);
}

/* Return how many groups of pages have their entries in one page table. */
static size_t groups_of_table(const struct pages *pages)
{
	return (pages->count < TABLE ? pages->count : TABLE) / GROUP;
}

/*
 * Return the page that is visited at this place of the cycle. order are the groups of a
 * page table as they are visited.
 */
static size_t page_at(const struct pages *pages, const uint32_t *order, size_t place)
{
	size_t groups = pages->count / GROUP, groups_each = groups_of_table(pages);
	size_t table = place % groups / groups_each;
	size_t group = table * groups_each + order[place % groups_each];

	return group * GROUP + (place / groups + group) % GROUP;
}

static double measure(const struct pages *pages)
{
	uint32_t *order = shuffled(groups_of_table(pages));
	void **at = line_of(pages, page_at(pages, order, 0));
	uint64_t begin;

	for (size_t place = 0; place < pages->count; place++) {
		size_t next = (place + 1) % pages->count;

		*line_of(pages, page_at(pages, order, place)) =
			line_of(pages, page_at(pages, order, next));
	}
	free(order);
	at = chase(at, 2 * pages->count / UNROLLED + 1);
	begin = now_ns();
	at = chase(at, LOADS / UNROLLED);
	__asm__ volatile("" : : "r"(at));
	return (double)(now_ns() - begin) / LOADS;
}

static double measure_small(size_t count)
{
	struct pages pages = { .count = count, .bytes = SMALL_PAGE, .sets = sets_of(count) };
	double ns;

	pages.memory = memory_on(0, count * SMALL_PAGE, false);
	ns = measure(&pages);
	release(pages.memory, count * SMALL_PAGE);
	return ns;
}

/* Map the same huge page of the file count times: the TLB knows virtual addresses only. */
static double measure_huge(int file, size_t count)
{
	struct pages pages = { .count = count, .bytes = HUGE_PAGE, .sets = sets_of(count) };
	size_t table = TABLE * HUGE_PAGE, bytes = count * HUGE_PAGE + table;
	char *space = mmap(NULL, bytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE,
			   -1, 0);
	double ns;

	if (space == MAP_FAILED)
		fail("mmap");
	pages.memory = (char *)(((uintptr_t)space + table - 1) & ~(table - 1));
	for (size_t page = 0; page < count; page++)
		if (mmap(pages.memory + page * HUGE_PAGE, HUGE_PAGE, PROT_READ | PROT_WRITE,
			 MAP_SHARED | MAP_FIXED, file, 0) == MAP_FAILED)
			fail("mmap of a huge page");
	ns = measure(&pages);
	release(space, bytes);
	return ns;
}

int main(int argc, char **argv)
{
	static const char *const names[] = { "first", "second", "walk" };
	const char usage[] = "FIRST SECOND WALK HUGE_FIRST HUGE_SECOND HUGE_WALK";
	int file = memfd_create("known_tlb", MFD_HUGETLB);

	if (file < 0 || ftruncate(file, HUGE_PAGE))
		fail("memfd_create");
	pin(0);
	for (int i = 0; i < 6; i++) {
		size_t count = (size_t)argument(argc, argv, i + 1, GROUP, PAGES_MAX, usage);

		if (count % (count < TABLE ? GROUP : TABLE)) {
			fprintf(stderr, "%zu pages do not fill their groups\n", count);
			return 2;
		}
		if (i < 3)
			result(measure_small(count), "ns", "tlb.small.%s", names[i]);
		else
			result(measure_huge(file, count), "ns", "tlb.huge.%s", names[i - 3]);
	}
	return 0;
}
