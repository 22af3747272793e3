// SPDX-License-Identifier: GPL-2.0
/*
 * A writer of JSON that keeps track of commas and indentation, and of nothing else.
 */
#include <inttypes.h>

#include "json.h"

static void write_string(struct json *json, const char *text)
{
	fputc('"', json->file);
	for (; *text; text++) {
		unsigned char c = (unsigned char)*text;

		if (c == '"' || c == '\\')
			fprintf(json->file, "\\%c", c);
		else if (c < 0x20 || c >= 0x7f)
			fprintf(json->file, "\\u%04x", c);
		else
			fputc(c, json->file);
	}
	fputc('"', json->file);
}

/* Write the separator before a value: a comma, and for a member a new line and its key. */
static void begin_value(struct json *json, const char *key)
{
	if (json->filled)
		fputc(',', json->file);
	if (key) {
		fprintf(json->file, "\n%*s", (int)json->depth, "");
		write_string(json, key);
		fputs(": ", json->file);
	}
	json->filled = true;
}

static void open_bracket(struct json *json, const char *key, char bracket)
{
	begin_value(json, key);
	fputc(bracket, json->file);
	json->depth++;
	json->filled = false;
}

static void close_bracket(struct json *json, char bracket)
{
	json->depth--;
	json->filled = true;
	fputc(bracket, json->file);
}

void json_open_object(struct json *json, const char *key)
{
	open_bracket(json, key, '{');
}

void json_close_object(struct json *json)
{
	close_bracket(json, '}');
}

void json_open_array(struct json *json, const char *key)
{
	open_bracket(json, key, '[');
}

void json_close_array(struct json *json)
{
	close_bracket(json, ']');
}

void json_unsigned(struct json *json, const char *key, uint64_t value)
{
	begin_value(json, key);
	fprintf(json->file, "%" PRIu64, value);
}

void json_signed(struct json *json, const char *key, int64_t value)
{
	begin_value(json, key);
	fprintf(json->file, "%" PRId64, value);
}

void json_bool(struct json *json, const char *key, bool value)
{
	json_raw(json, key, value ? "true" : "false");
}

void json_string(struct json *json, const char *key, const char *value)
{
	begin_value(json, key);
	write_string(json, value);
}

void json_raw(struct json *json, const char *key, const char *value)
{
	begin_value(json, key);
	fputs(value, json->file);
}
