/* SPDX-License-Identifier: GPL-2.0 */
/* Files that the model shares with QEMU, the guest and the kloc command. */
#ifndef FILE_H
#define FILE_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

/*
 * Map a range of bytes of the file at path, shared with its other users. On failure, or
 * if the file is shorter, print a message that names key and return NULL.
 */
void *file_map(const char *key, const char *path, uint64_t offset, uint64_t bytes,
	       bool writable);

/*
 * Write a file atomically: write PATH.new and rename it, so that a reader sees
 * either the old or the new content. On failure print a message and return
 * false.
 */
bool file_replace(const char *path, void (*write)(FILE *file, const void *data),
		  const void *data);

#endif /* FILE_H */
