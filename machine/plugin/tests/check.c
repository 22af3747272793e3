// SPDX-License-Identifier: GPL-2.0
/*
 * Runs the unit tests of all parts of the model.
 */
#include <stdio.h>
#include <stdlib.h>

#include "check.h"
#include "units.h"

void check_that(bool holds, const char *condition, const char *file, int line)
{
	if (holds)
		return;
	printf("%s:%d: failed: %s\n", file, line, condition);
	exit(1);
}

static const struct {
	const char *name;
	void (*run)(void);
} tests[] = {
	{ "bandwidth", test_bandwidth },
	{ "cache", test_cache },
	{ "config", test_config },
	{ "filter", test_filter },
	{ "histogram", test_histogram },
	{ "json", test_json },
	{ "live", test_live },
	{ "machine", test_machine },
	{ "observer", test_observer },
	{ "overlap", test_overlap },
	{ "pages", test_pages },
	{ "sockets", test_sockets },
	{ "stream", test_stream },
	{ "tier", test_tier },
	{ "tlb", test_tlb },
};

int main(void)
{
	for (size_t i = 0; i < ARRAY_SIZE(tests); i++) {
		printf("%s\n", tests[i].name);
		fflush(stdout);
		tests[i].run();
	}
	printf("%zu passed\n", ARRAY_SIZE(tests));
	return 0;
}
