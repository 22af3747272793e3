/* SPDX-License-Identifier: GPL-2.0 */
/*
 * A JSON writer. Each function writes one value and takes its key, which is NULL
 * inside an array. All numbers are integers, so that identical runs give
 * identical bytes.
 */
#ifndef JSON_H
#define JSON_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

struct json {
	FILE *file;
	unsigned int depth;	/* of nesting; also the indentation */
	bool filled;		/* the innermost object or array is not empty */
};

void json_open_object(struct json *json, const char *key);
void json_close_object(struct json *json);
void json_open_array(struct json *json, const char *key);
void json_close_array(struct json *json);

void json_unsigned(struct json *json, const char *key, uint64_t value);
void json_signed(struct json *json, const char *key, int64_t value);
void json_bool(struct json *json, const char *key, bool value);
void json_string(struct json *json, const char *key, const char *value);

/* Write value as it is; it must be valid JSON. */
void json_raw(struct json *json, const char *key, const char *value);

#endif /* JSON_H */
