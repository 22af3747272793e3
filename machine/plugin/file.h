/* SPDX-License-Identifier: GPL-2.0 */
#ifndef FILE_H
#define FILE_H

#include <stdbool.h>
#include <stdio.h>

/*
 * Write a file so that whoever reads it sees the old one or the new one and
 * nothing in between: to PATH.new, which is then renamed. False, with a
 * message, if that fails.
 */
bool file_replace(const char *path, void (*write)(FILE *file, const void *data),
		  const void *data);

#endif /* FILE_H */
