/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What is decided about contexts, apart from how it is done: functions of what
 * they are given and nothing else.
 */
#ifndef _MM_KLOC_POLICY_H
#define _MM_KLOC_POLICY_H

#include <linux/atomic.h>
#include <linux/bits.h>
#include <linux/types.h>

struct knode;

/* Bits of kloc_stream.flags. */
#define KLOC_STREAM_READ	BIT(0)	/* has been read */
#define KLOC_STREAM_WRITTEN	BIT(1)	/* has been written */
#define KLOC_STREAM_BROKEN	BIT(2)	/* but not once, from front to back */

/**
 * struct kloc_stream - how a file is read and written
 * @next: byte after the last one that was read or written
 * @size: bytes that were read or written in sequence
 * @name: hash of what the file's name ends in, of one that was judged
 * @flags: KLOC_STREAM_*
 * @rate: pages' worth that was read or written in a scan, on average
 * @used: bytes that were since the last scan, in KLOC_USED_UNIT
 */
struct kloc_stream {
	u64 next;
	u64 size;
	u8 name;
	u8 flags;
	u16 rate;
	u32 used;
};

#define KLOC_USED_UNIT		512

/* Kinds of names that a directory remembers. */
#define KLOC_HISTORY_NAMES	8

/**
 * struct kloc_history - how the files of a directory fared
 * @name: hash of what their names end in, 0 for a free place
 * @score: above 0 the more of them were streams, below the more were not
 */
struct kloc_history {
	u8 name[KLOC_HISTORY_NAMES];
	s8 score[KLOC_HISTORY_NAMES];
};

/* What one use adds to the heat of a page. */
#define KLOC_USE	16

/*
 * Pages are told apart by their level: 0 if the uses that are not forgotten yet
 * do not add up to one, then the binary logarithm of these uses, and 1 more.
 * They are rounded: one use is one for a half-life.
 */
#define KLOC_LEVELS	6

/*
 * Why a page was promoted, for as long as it is there: for each reason it is
 * known whether that pays. From 1 to KLOC_LEVELS - 1 it is the level that the
 * page had; 0 is for pages that were not promoted.
 */
enum kloc_trial_reason {
	KLOC_TRIAL_WHOLE = KLOC_LEVELS,	/* its context has become active */
	KLOC_TRIAL_DENSE,		/* its context is used much for its size */
	KLOC_TRIALS,
};

/**
 * struct kloc_trial - how promotions fared that were made for one reason
 * @pages: that were promoted of late
 * @uses: of such pages, after they were promoted, of late
 */
struct kloc_trial {
	atomic_t pages;
	atomic_t uses;
};

/* Where pages of a context should go. */
enum kloc_place {
	KLOC_ANYWHERE,		/* as if there were no contexts */
	KLOC_FAST,
	KLOC_SLOW,
};

u8 kloc_name_hash(const char *name, unsigned int length);
void kloc_stream_access(struct kloc_stream *stream, bool write, u64 pos,
			u64 count);
void kloc_stream_use(struct kloc_stream *stream, u64 count);
bool kloc_stream_is_one(const struct kloc_stream *stream, u64 least);
unsigned long kloc_stream_scan(struct kloc_stream *stream, unsigned long pages);
bool kloc_is_dense(unsigned long uses);
void kloc_history_add(struct kloc_history *history, u8 name, bool stream);
bool kloc_history_says_stream(const struct kloc_history *history, u8 name);

extern unsigned long kloc_half_life_us;

u8 kloc_heat(u8 heat, u64 since);
enum kloc_place kloc_place(const struct knode *knode, bool pressure,
			   u64 longest_stream);
bool kloc_colder(const struct knode *a, const struct knode *b);
u8 kloc_page_heat(u8 heat, u16 ticks);
unsigned int kloc_page_level(u8 heat);
unsigned int kloc_demotion_level(const unsigned long fast[KLOC_LEVELS]);
void kloc_trial_begin(struct kloc_trial *trial, bool pays);
void kloc_trial_use(struct kloc_trial *trial, unsigned int pages);
bool kloc_trial_pays(const struct kloc_trial *trial);
void kloc_trial_forget(struct kloc_trial *trial);
unsigned long kloc_limit_slack(unsigned long max, unsigned long reserve);
long kloc_limited_room(unsigned long max, unsigned long used,
		       unsigned long reserve);
u64 kloc_next_look(long room, long taken, u64 since, u64 most);

#endif /* _MM_KLOC_POLICY_H */
