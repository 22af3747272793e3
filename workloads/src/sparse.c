// SPDX-License-Identifier: GPL-2.0
/*
 * sparse ROWS FEATURES PER_ROW
 *
 * Prints a data set of two classes in LIBSVM's format, like a bag of words of short
 * texts. Each row has up to PER_ROW of FEATURES features, drawn by Zipf's law, with
 * the value 1; a feature that is drawn twice is printed once. Each feature has a
 * weight, and the sum of a row's weights plus noise gives its class. The same
 * arguments always print the same data set.
 */
#include <math.h>

#include "files.h"

/* Compare two unsigned ints, for qsort(). */
static int compare(const void *one, const void *other)
{
	unsigned int a = *(const unsigned int *)one, b = *(const unsigned int *)other;

	return (a > b) - (a < b);
}

/*
 * Draw a feature, from 1 to @features. exp() of a uniform number follows Zipf's law. The
 * rank is then multiplied to scatter the frequent features over all numbers, and so over
 * liblinear's array of weights.
 */
static unsigned int draw_feature(struct random *random, unsigned long features)
{
	double uniform = draw(random, 1ull << 32) / 4294967296.0;
	uint64_t rank = exp(uniform * log(features));

	return 1 + rank * 0x9e3779b1ull % features;
}

/* Write @value at @at in decimal and return its end. printf() would take most of the run time. */
static char *put(char *at, unsigned int value)
{
	char digits[10];
	int count = 0;

	do {
		digits[count++] = '0' + value % 10;
		value /= 10;
	} while (value);
	while (count)
		*at++ = digits[--count];
	return at;
}

/* Draw a row and print it as "CLASS FEATURE:1 ...", features in ascending order. */
static void print_row(struct random *random, unsigned long features, unsigned long per_row)
{
	static unsigned int row[4096];
	static char line[4096 * 13];
	double sum = 0;
	char *at;

	for (unsigned long i = 0; i < per_row; i++) {
		row[i] = draw_feature(random, features);
		sum += (double)mix(row[i]) / UINT64_MAX - 0.5;
	}
	qsort(row, per_row, sizeof(row[0]), compare);
	sum += 2 * ((double)draw(random, 1 << 20) / (1 << 20) - 0.5);
	at = stpcpy(line, sum > 0 ? "+1" : "-1");
	for (unsigned long i = 0; i < per_row; i++) {
		if (i && row[i] == row[i - 1])
			continue;
		*at++ = ' ';
		at = stpcpy(put(at, row[i]), ":1");
	}
	*at++ = '\n';
	fwrite(line, 1, at - line, stdout);
}

int main(int argc, char **argv)
{
	struct random random = { 1 };
	unsigned long rows, features, per_row;

	if (argc != 4)
		errx(2, "usage: sparse ROWS FEATURES PER_ROW");
	rows = number(argv[1]);
	features = number(argv[2]);
	per_row = number(argv[3]);
	if (!features || per_row > 4096)
		errx(2, "at least 1 feature, and at most 4096 a row");
	while (rows--)
		print_row(&random, features, per_row);
	if (fflush(stdout))
		err(1, "writing");
	return 0;
}
