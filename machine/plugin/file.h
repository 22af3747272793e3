/* SPDX-License-Identifier: GPL-2.0 */
#ifndef FILE_H
#define FILE_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

/*
 * Map bytes of a file from offset on, shared with whoever else has it. NULL,
 * with a message that names the key, if that fails or the file is shorter.
 */
void *file_map(const char *key, const char *path, uint64_t offset, uint64_t bytes,
	       bool writable);

/*
 * Write a file so that whoever reads it sees the old one or the new one and
 * nothing in between: to PATH.new, which is then renamed. False, with a
 * message, if that fails.
 */
bool file_replace(const char *path, void (*write)(FILE *file, const void *data),
		  const void *data);

#endif /* FILE_H */
