/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Writes JSON. Every value takes the key it stands under, or NULL within an
 * array. Numbers are whole, so that equal runs give equal bytes.
 */
#ifndef JSON_H
#define JSON_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

struct json {
	FILE *file;
	unsigned int depth;
	bool filled;		/* the innermost object or array has something in it */
};

void json_open_object(struct json *json, const char *key);
void json_close_object(struct json *json);
void json_open_array(struct json *json, const char *key);
void json_close_array(struct json *json);

void json_unsigned(struct json *json, const char *key, uint64_t value);
void json_signed(struct json *json, const char *key, int64_t value);
void json_bool(struct json *json, const char *key, bool value);
void json_string(struct json *json, const char *key, const char *value);

/* Text that is JSON already. */
void json_raw(struct json *json, const char *key, const char *value);

#endif /* JSON_H */
