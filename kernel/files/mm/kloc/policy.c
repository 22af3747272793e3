// SPDX-License-Identifier: GPL-2.0
/*
 * Contexts of files: what is decided.
 *
 * Nothing here looks at a page or a list, and nothing here does anything.
 */
#include <linux/bitops.h>
#include <linux/ctype.h>
#include <linux/kernel.h>
#include <linux/math64.h>
#include <linux/minmax.h>
#include <linux/mm.h>
#include <linux/string.h>
#include <linux/time64.h>

#include "knode.h"

/*
 * After this time half of the uses of a context are forgotten. On a machine
 * that is scaled down it is divided, too (/sys/kernel/mm/kloc/half_life_us).
 */
unsigned long kloc_half_life_us = 10 * USEC_PER_SEC;

/* A directory remembers no more than this of its files. */
#define MOST_SCORE	3

/* And believes it from here on. */
#define STREAM_SCORE	2

/* Ticks after which half of the uses of a page are forgotten: some 16 scans. */
#define PAGE_HALF_LIFE	128

/* Scans for which it is believed that a file is used as it was of late. */
#define HORIZON		64

/* Uses after which a promotion has paid. */
#define LEAST_USES	2

/* What has paid more than so many times over is not believed in for longer. */
#define MOST_PAID	8

/* What stays in fast memory may be used more often than can be counted. */
#define MOST_USES	(INT_MAX / 2)

/* Pages that a reason to promote is believed to have had before there are any. */
#define PRIOR		64

/* So many pages are looked at to find one that is demoted. */
#define LOOKED_AT_FOR_ONE	8

/* This part of a limit is kept free for what comes. */
#define LIMIT_PART	32

/* A page of a higher level, used four times at least, stays. */
#define MOST_DEMOTED_LEVEL	2

/**
 * kloc_name_hash() - hash what a file's name ends in
 * @name: the name
 * @length: of it
 *
 * The end is what follows the last dot; without a dot, the letters that the
 * name begins with: segment-0001 and segment-0002 are alike.
 *
 * Return: a number other than 0.
 */
u8 kloc_name_hash(const char *name, unsigned int length)
{
	unsigned int i, begin = length, hash = 0;

	while (begin && name[begin - 1] != '.')
		begin--;
	for (i = begin; i < length; i++) {
		if (!begin && !isalpha(name[i]))
			break;
		hash = hash * 31 + (unsigned char)name[i];
	}
	return 1 + hash % U8_MAX;
}

/**
 * kloc_stream_access() - a file is read or written in one place
 * @stream: what is known of it; changed
 * @write: true if it is written
 * @pos: first byte
 * @count: bytes
 */
void kloc_stream_access(struct kloc_stream *stream, bool write, u64 pos,
			u64 count)
{
	u8 flag = write ? KLOC_STREAM_WRITTEN : KLOC_STREAM_READ;
	u8 flags = stream->flags | flag;

	if (pos != stream->next || flags == (KLOC_STREAM_READ | KLOC_STREAM_WRITTEN))
		flags |= KLOC_STREAM_BROKEN;
	stream->flags = flags;
	stream->next = pos + count;
	stream->size += count;
}

/**
 * kloc_stream_use() - a file is read or written, wherever
 * @stream: what is known of it; changed
 * @count: bytes
 */
void kloc_stream_use(struct kloc_stream *stream, u64 count)
{
	stream->used = min(stream->used + DIV_ROUND_UP_ULL(count, KLOC_USED_UNIT),
			   U32_MAX);
}

/**
 * kloc_stream_scan() - a scan begins: how much is a file used for its size?
 * @stream: how it was read and written so far; changed
 * @pages: that the file has in memory
 *
 * Return: how often each page will be used in the next HORIZON scans, on average
 * and if it goes on like that.
 */
unsigned long kloc_stream_scan(struct kloc_stream *stream, unsigned long pages)
{
	u32 used = stream->used / (PAGE_SIZE / KLOC_USED_UNIT);

	stream->used = 0;
	stream->rate = min((3 * stream->rate + used) / 4, U16_MAX);
	return (unsigned long)stream->rate * HORIZON / max(pages, 1UL);
}

/**
 * kloc_is_dense() - is a context worth to be promoted whole?
 * @uses: how often each page is likely to be used
 *
 * Return: true if that is often enough.
 */
bool kloc_is_dense(unsigned long uses)
{
	return uses > LEAST_USES;
}

/**
 * kloc_stream_is_one() - is a file read or written once, from front to back?
 * @stream: how it was read and written so far
 * @least: bytes below which it does not matter
 *
 * Return: true if it is.
 */
bool kloc_stream_is_one(const struct kloc_stream *stream, u64 least)
{
	return stream->flags && !(stream->flags & KLOC_STREAM_BROKEN) &&
	       stream->size >= least;
}

/**
 * kloc_history_add() - remember how a file of a directory fared
 * @history: of the directory
 * @name: hash of what the file's name ends in
 * @stream: whether it was a stream
 */
void kloc_history_add(struct kloc_history *history, u8 name, bool stream)
{
	unsigned int i, place = name % KLOC_HISTORY_NAMES;

	for (i = 0; i < KLOC_HISTORY_NAMES; i++)
		if (history->name[i] == name)
			place = i;
	if (history->name[place] != name) {
		history->name[place] = name;
		history->score[place] = 0;
	}
	history->score[place] = clamp(history->score[place] + (stream ? 1 : -1),
				      -MOST_SCORE, MOST_SCORE);
}

/**
 * kloc_history_says_stream() - will a file of a directory be a stream?
 * @history: of the directory
 * @name: hash of what the file's name ends in
 *
 * Return: true if files with such names were.
 */
bool kloc_history_says_stream(const struct kloc_history *history, u8 name)
{
	unsigned int i;

	for (i = 0; i < KLOC_HISTORY_NAMES; i++)
		if (history->name[i] == name)
			return history->score[i] >= STREAM_SCORE;
	return false;
}

/**
 * kloc_heat() - how hot is a context that becomes active?
 * @heat: what it was when it became active the last time
 * @since: ns since it was used
 *
 * Return: the heat from now on, at least 1.
 */
u8 kloc_heat(u8 heat, u64 since)
{
	u64 half_life = (u64)READ_ONCE(kloc_half_life_us) * NSEC_PER_USEC;
	u64 half_lives = div64_u64(since, half_life);

	return min((heat >> min(half_lives, 8)) + 1, U8_MAX);
}

/**
 * kloc_place() - where should a new page of a context go?
 * @knode: the context
 * @pressure: is there too little fast memory for all that would like it?
 * @longest_stream: bytes after which what is only streamed has to leave
 *
 * Without pressure everything is welcome in fast memory.
 *
 * Return: where to try first.
 */
enum kloc_place kloc_place(const struct knode *knode, bool pressure,
			   u64 longest_stream)
{
	if (!pressure)
		return KLOC_FAST;
	if (test_bit(KNODE_SYSTEM, &knode->flags))
		return KLOC_FAST;
	if (!knode_inuse(knode))
		return KLOC_SLOW;
	if (test_bit(KNODE_STREAM, &knode->flags))
		return KLOC_SLOW;
	if (!test_bit(KNODE_DIRECTORY, &knode->flags) &&
	    kloc_stream_is_one(&knode->stream, longest_stream))
		return KLOC_SLOW;
	return KLOC_FAST;
}

/**
 * kloc_colder() - is one context colder than another?
 * @a: the one
 * @b: the other
 *
 * Inactive ones are colder than active ones; then the age tells (4.3), then the
 * time.
 *
 * Return: true if @a should leave fast memory before @b.
 */
bool kloc_colder(const struct knode *a, const struct knode *b)
{
	bool a_inuse = knode_inuse(a), b_inuse = knode_inuse(b);
	u8 a_age = READ_ONCE(a->age), b_age = READ_ONCE(b->age);

	if (a_inuse != b_inuse)
		return b_inuse;
	if (a_inuse && a_age != b_age)
		return a_age > b_age;
	return READ_ONCE(a->used) < READ_ONCE(b->used);
}

/**
 * kloc_page_heat() - how hot is a page by now?
 * @heat: that it had
 * @ticks: so many ticks ago
 *
 * It is halved in PAGE_HALF_LIFE ticks, and falls in a line meanwhile.
 *
 * Return: the heat that is left.
 */
u8 kloc_page_heat(u8 heat, u16 ticks)
{
	unsigned int left = heat >> min(ticks / PAGE_HALF_LIFE, 8);

	return left - left * (ticks % PAGE_HALF_LIFE) / (2 * PAGE_HALF_LIFE);
}

/**
 * kloc_page_level() - the level of a page
 * @heat: of the page
 *
 * Return: 0 to KLOC_LEVELS - 1.
 */
unsigned int kloc_page_level(u8 heat)
{
	return min(fls((heat + KLOC_USE / 2) / KLOC_USE), KLOC_LEVELS - 1);
}

/**
 * kloc_demotion_level() - how hot may a page be that is demoted?
 * @fast: pages in fast memory that were looked at of late, by their level
 *
 * No hotter than it takes to find one page in LOOKED_AT_FOR_ONE, and no hotter
 * than that it may be worth it.
 *
 * Return: the highest level.
 */
unsigned int kloc_demotion_level(const unsigned long fast[KLOC_LEVELS])
{
	unsigned long total = 0, found = 0;
	unsigned int level;

	for (level = 0; level < KLOC_LEVELS; level++)
		total += fast[level];
	for (level = 0; level < MOST_DEMOTED_LEVEL; level++) {
		found += fast[level];
		if (found * LOOKED_AT_FOR_ONE >= total)
			break;
	}
	return level;
}

/**
 * kloc_trial_begin() - nothing is known of a reason to promote yet
 * @trial: of that reason
 * @pays: whether it is expected to pay
 */
void kloc_trial_begin(struct kloc_trial *trial, bool pays)
{
	atomic_set(&trial->pages, PRIOR);
	atomic_set(&trial->uses, pays ? 2 * LEAST_USES * PRIOR : PRIOR);
}

/**
 * kloc_trial_use() - pages are used that were promoted for a reason
 * @trial: of that reason
 * @pages: how many
 */
void kloc_trial_use(struct kloc_trial *trial, unsigned int pages)
{
	if (atomic_read(&trial->uses) < MOST_USES)
		atomic_add(pages, &trial->uses);
}

/**
 * kloc_trial_pays() - do promotions pay that are made for a reason?
 * @trial: of that reason
 *
 * A page is read from slow memory for its promotion, and another is written
 * there to make room for it.
 *
 * Return: true if pages that were promoted so were used LEAST_USES times or more.
 */
bool kloc_trial_pays(const struct kloc_trial *trial)
{
	return atomic_read(&trial->uses) >=
	       LEAST_USES * atomic_read(&trial->pages);
}

/**
 * kloc_trial_forget() - forget half of what is known of a reason
 * @trial: of that reason
 */
void kloc_trial_forget(struct kloc_trial *trial)
{
	/* What was queued and did not move is taken off, and was half forgotten. */
	int pages = max(atomic_read(&trial->pages), 0);
	int uses = min_t(s64, atomic_read(&trial->uses),
			 (s64)MOST_PAID * LEAST_USES * pages);

	/* Old knowledge is better than none. */
	if (pages > PRIOR) {
		pages /= 2;
		uses /= 2;
	}
	atomic_set(&trial->pages, pages);
	atomic_set(&trial->uses, uses);
}

/**
 * kloc_limit_slack() - how much of a limit is kept free for what comes?
 * @max: the limit, pages
 * @reserve: what is kept free of a node that has no limit, at least 1
 *
 * Return: pages, at least 1.
 */
unsigned long kloc_limit_slack(unsigned long max, unsigned long reserve)
{
	return clamp(max / LIMIT_PART, 1, reserve);
}

/**
 * kloc_limited_room() - how much room does a limit leave?
 * @max: the limit, pages
 * @used: pages that there are
 * @reserve: what is kept free of a node that has no limit, at least 1
 *
 * A small limit has less than the reserve for what comes. What is left of that
 * is given as the same part of the reserve, so that a limit is like a node that
 * is so small.
 *
 * Return: pages, at least @reserve if enough is free; 0 or less from @max on.
 */
long kloc_limited_room(unsigned long max, unsigned long used,
		       unsigned long reserve)
{
	long slack = kloc_limit_slack(max, reserve), left = max - used;

	return left <= 0 ? left : mult_frac(left, (long)reserve, slack);
}

/**
 * kloc_next_look() - when should a thread look again whether there is room?
 * @room: pages that are free for contexts
 * @taken: pages that were taken since it looked the last time
 * @since: ns since then
 * @most: ns that it waits if nothing is taken
 *
 * Return: ns until half of the room will be gone, if it goes on like that.
 */
u64 kloc_next_look(long room, long taken, u64 since, u64 most)
{
	if (taken <= 0)
		return most;
	return clamp(div64_u64(since * max(room, 0), 2 * taken), most / 32, most);
}
