# SPDX-License-Identifier: GPL-2.0
# Succeed if the warm-up has settled, by its slices: lines "SLICE NS MOVED-PAGES". `few` is 1 % of
# fast memory in pages.
#
# The medians of the last four slices and of the four before them must be alike, in duration and
# in moved pages: they differ by 5 %, or by three times the scatter of the eight slices around
# their median if that is more, but not by more than 15 %. Moved pages may also differ by `few`.
#
# A median ignores one noisy slice of four. A steady trend is no scatter: the medians differ by
# four steps from slice to slice, and the scatter is one step. Only integers are compared, so
# that every awk decides alike. kloc.results.settling has the same test.
function sort(values, count,    i, j, value) {
	for (i = 2; i <= count; i++) {
		value = values[i]
		for (j = i - 1; j > 0 && values[j] > value; j--)
			values[j + 1] = values[j]
		values[j + 1] = value
	}
}
# Twice the median of the four values from `first` on.
function median(values, first,    i, four) {
	for (i = 1; i <= 4; i++)
		four[i] = values[first + i - 1]
	sort(four, 4)
	return four[2] + four[3]
}
function distance(a, b) {
	return a > b ? a - b : b - a
}
function alike(values, few,    i, before, after, apart, far, scatter) {
	before = median(values, NR - 7)
	after = median(values, NR - 3)
	for (i = 1; i <= 8; i++)
		far[i] = distance(2 * values[NR - 8 + i], i <= 4 ? before : after)
	sort(far, 8)
	scatter = far[4] + far[5]
	apart = distance(before, after)
	return apart <= 2 * few || 20 * apart <= before ||
	       (2 * apart <= 3 * scatter && 20 * apart <= 3 * before)
}
{ time[NR] = $2; moved[NR] = $3 }
END { exit !(NR >= 8 && alike(time, 0) && alike(moved, few)) }
