/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Classes of readahead windows.
 */
#ifndef _LINUX_RA_CLASS_H
#define _LINUX_RA_CLASS_H

/**
 * enum ra_class - the reason of a readahead window
 * @RA_CLASS_OTHER: no decision of readahead: requested pages, or no window
 * @RA_CLASS_START: a first window: start of a file, large read, or sequential miss
 * @RA_CLASS_GROW: the next window of a reader that may read sequentially
 * @RA_CLASS_STREAM: the next window of a reader that has read a full window to its mark
 * @RA_CLASS_AROUND: a window around a page fault
 * @RA_CLASS_RANDOM: a random read, without readahead
 * @RA_CLASS_ONCE: any window of an open file with POSIX_FADV_NOREUSE
 */
enum ra_class {
	RA_CLASS_OTHER,
	RA_CLASS_START,
	RA_CLASS_GROW,
	RA_CLASS_STREAM,
	RA_CLASS_AROUND,
	RA_CLASS_RANDOM,
	RA_CLASS_ONCE,
};

#endif /* _LINUX_RA_CLASS_H */
