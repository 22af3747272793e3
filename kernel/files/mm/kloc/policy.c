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

/* Scans after which half of the uses of a page are forgotten. */
#define PAGE_HALF_LIFE	8

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
 * kloc_stream_access() - a file is read or written
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
	if (!READ_ONCE(knode->inuse))
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
	bool a_inuse = READ_ONCE(a->inuse), b_inuse = READ_ONCE(b->inuse);
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
 * @scans: so many scans ago
 *
 * It is halved in PAGE_HALF_LIFE scans, and falls in a line meanwhile.
 *
 * Return: the heat that is left.
 */
u16 kloc_page_heat(u16 heat, u8 scans)
{
	unsigned int left = heat >> min(scans / PAGE_HALF_LIFE, 16);

	return left - left * (scans % PAGE_HALF_LIFE) / (2 * PAGE_HALF_LIFE);
}

/**
 * kloc_page_level() - the level of a page
 * @heat: of the page
 *
 * Return: 0 to KLOC_LEVELS - 1.
 */
unsigned int kloc_page_level(u16 heat)
{
	return min(fls((heat + KLOC_USE / 2) / KLOC_USE), KLOC_LEVELS - 1);
}

/**
 * kloc_promotion_level() - how hot must a page be to be worth promoting?
 * @fast: pages in fast memory that could leave it, by their level
 * @room: pages that would like to come
 *
 * The copy of the page that comes, and of the one that leaves, is paid by the
 * difference: who comes must be used several times as often as who leaves.
 *
 * Return: the least level, KLOC_LEVELS if none is.
 */
unsigned int kloc_promotion_level(const unsigned long fast[KLOC_LEVELS],
				  unsigned long room)
{
	unsigned int level;

	for (level = 0; level < KLOC_LEVELS - 2; level++) {
		if (fast[level] >= room)
			break;
		room -= fast[level];
	}
	return min(level + 2, KLOC_LEVELS);
}

/**
 * kloc_demotion_level() - how hot may a page be that is demoted?
 * @fast: pages in fast memory, by their level
 * @missing: pages that have to leave
 *
 * No hotter than it takes, and no hotter than that it may be worth it.
 *
 * Return: the highest level.
 */
unsigned int kloc_demotion_level(const unsigned long fast[KLOC_LEVELS],
				 unsigned long missing)
{
	unsigned int level;

	for (level = 0; level < MOST_DEMOTED_LEVEL; level++) {
		if (fast[level] >= missing)
			break;
		missing -= fast[level];
	}
	return level;
}

/**
 * kloc_promotion_pays() - is it worth to promote all that a context has?
 * @knode: the context, which has become active
 * @least_heat: how often it must have become active of late
 * @pages: pages that it has
 * @most_pages: of a larger one pages are promoted one by one, as they are used
 *
 * Return: true if it is.
 */
bool kloc_promotion_pays(const struct knode *knode, u8 least_heat,
			 unsigned long pages, unsigned long most_pages)
{
	return READ_ONCE(knode->heat) >= least_heat && pages <= most_pages &&
	       !test_bit(KNODE_STREAM, &knode->flags);
}
