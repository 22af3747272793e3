// SPDX-License-Identifier: GPL-2.0
/*
 * The JSON writer nests, separates and escapes correctly.
 */
#include <stdlib.h>
#include <string.h>

#include "check.h"
#include "json.h"

static void writes_values_and_nests(void)
{
	char *text;
	size_t size;
	struct json json = { .file = open_memstream(&text, &size) };

	json_open_object(&json, NULL);
	json_unsigned(&json, "most", UINT64_MAX);
	json_signed(&json, "least", INT64_MIN);
	json_open_array(&json, "list");
	json_unsigned(&json, NULL, 1);
	json_bool(&json, NULL, true);
	json_open_object(&json, NULL);
	json_close_object(&json);
	json_raw(&json, NULL, "{}");
	json_close_array(&json);
	json_close_object(&json);
	fclose(json.file);
	CHECK(!strcmp(text, "{\n \"most\": 18446744073709551615,"
			    "\n \"least\": -9223372036854775808,"
			    "\n \"list\": [1,true,{},{}]}"));
	free(text);
}

static void escapes_strings(void)
{
	char *text;
	size_t size;
	struct json json = { .file = open_memstream(&text, &size) };

	json_string(&json, NULL, "a\"b\\c\n\x01\xc3/");
	fclose(json.file);
	CHECK(!strcmp(text, "\"a\\\"b\\\\c\\u000a\\u0001\\u00c3/\""));
	free(text);
}

void test_json(void)
{
	writes_values_and_nests();
	escapes_strings();
}
