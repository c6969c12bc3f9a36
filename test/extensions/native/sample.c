/*
 * A sample of an extension in C, against Node-API alone: functions, an object, an ENUM, defaults, private data,
 * events, and the two ways to fail. It exports the same shape as the sample in JavaScript; only the making of
 * objects takes more words here. daemon/extensions/README.md explains the shape.
 *
 * Awkward: after a call into JavaScript that threw, an exception is pending and every other call fails; CHECK
 * then leaves at once, and the exception goes on to the proxy, which fails the transaction.
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <node_api.h>

#define ABI 1
#define MAX_ARGS 8
#define MAX_TEXT 1024

#define CHECK(call)                                                            \
	do {                                                                   \
		if ((call) != napi_ok)                                         \
			return broken(env);                                    \
	} while (0)

/* What the C side of an object holds. */
struct counter {
	int64_t value;
	int64_t step;
};

static napi_value
broken(napi_env env)
{
	bool pending = false;

	if (napi_is_exception_pending(env, &pending) == napi_ok && !pending)
		napi_throw_error(env, NULL, "Node-API call failed");
	return NULL;
}

static napi_status
arguments(napi_env env, napi_callback_info info, napi_value *args)
{
	size_t n = MAX_ARGS;

	/* What the caller left out is filled up with undefined. */
	return napi_get_cb_info(env, info, &n, args, NULL, NULL);
}

static napi_status
text_of(napi_env env, napi_value value, char *text)
{
	size_t n;

	return napi_get_value_string_latin1(env, value, text, MAX_TEXT, &n);
}

/* STRING greet(STRING name="world", ENUM {plain, loud} how=plain) */
static napi_value
greet(napi_env env, napi_callback_info info)
{
	napi_value args[MAX_ARGS], out;
	char name[MAX_TEXT], how[MAX_TEXT], text[MAX_TEXT + 16];

	CHECK(arguments(env, info, args));
	CHECK(text_of(env, args[1], name));
	CHECK(text_of(env, args[2], how));
	snprintf(text, sizeof text, "%s %s", strcmp(how, "loud") == 0 ? "HELLO" : "hello", name);
	CHECK(napi_create_string_latin1(env, text, NAPI_AUTO_LENGTH, &out));
	return out;
}

/* INT add(INT a, [INT b]) */
static napi_value
add(napi_env env, napi_callback_info info)
{
	napi_value args[MAX_ARGS], out;
	napi_valuetype type;
	int64_t a, b = 1;

	CHECK(arguments(env, info, args));
	CHECK(napi_get_value_int64(env, args[1], &a));
	CHECK(napi_typeof(env, args[2], &type));
	if (type != napi_undefined)
		CHECK(napi_get_value_int64(env, args[2], &b));
	CHECK(napi_create_int64(env, a + b, &out));
	return out;
}

/* Adds one to the number in a cell of private data. */
static napi_value
count(napi_env env, napi_callback_info info)
{
	napi_value args[MAX_ARGS], value;
	napi_valuetype type;
	int64_t n = 0;

	CHECK(arguments(env, info, args));
	CHECK(napi_get_named_property(env, args[1], "value", &value));
	CHECK(napi_typeof(env, value, &type));
	if (type == napi_number)
		CHECK(napi_get_value_int64(env, value, &n));
	CHECK(napi_create_int64(env, n + 1, &value));
	CHECK(napi_set_named_property(env, args[1], "value", value));
	return value;
}

/* VOID refuse(STRING why): by the context, which throws for us. */
static napi_value
refuse(napi_env env, napi_callback_info info)
{
	napi_value args[MAX_ARGS], fail;

	CHECK(arguments(env, info, args));
	CHECK(napi_get_named_property(env, args[0], "fail", &fail));
	CHECK(napi_call_function(env, args[0], fail, 1, &args[1], NULL));
	return NULL;
}

/* STRING throw_error() */
static napi_value
throw_error(napi_env env, napi_callback_info info)
{
	napi_throw_error(env, NULL, "thrown on purpose");
	return NULL;
}

/* STRING field(STRING name): a header field of the request, through the context. */
static napi_value
field(napi_env env, napi_callback_info info)
{
	napi_value args[MAX_ARGS], req, get, out;

	CHECK(arguments(env, info, args));
	CHECK(napi_get_named_property(env, args[0], "req", &req));
	CHECK(napi_get_named_property(env, req, "get", &get));
	CHECK(napi_call_function(env, req, get, 1, &args[1], &out));
	return out;
}

static void
forget(napi_env env, void *data, void *hint)
{
	free(data);
}

/* counter(INT start=0, ENUM {up, down} direction=up) */
static napi_value
counter_create(napi_env env, napi_callback_info info)
{
	napi_value args[MAX_ARGS], self;
	char direction[MAX_TEXT];
	struct counter *c;

	CHECK(arguments(env, info, args));
	CHECK(text_of(env, args[3], direction));
	c = calloc(1, sizeof *c);
	if (c == NULL)
		return broken(env);
	c->step = strcmp(direction, "down") == 0 ? -1 : 1;
	if (napi_get_value_int64(env, args[2], &c->value) != napi_ok ||
	    napi_create_object(env, &self) != napi_ok ||
	    napi_wrap(env, self, c, forget, NULL, NULL) != napi_ok) {
		free(c);
		return broken(env);
	}
	return self;
}

/* INT next() */
static napi_value
counter_next(napi_env env, napi_callback_info info)
{
	napi_value args[MAX_ARGS], out;
	void *data;
	struct counter *c;

	CHECK(arguments(env, info, args));
	CHECK(napi_unwrap(env, args[1], &data));
	c = data;
	c->value += c->step;
	CHECK(napi_create_int64(env, c->value, &out));
	return out;
}

/* Refuses to be loaded by a program that is called "unwanted". */
static napi_value
event(napi_env env, napi_callback_info info)
{
	napi_value args[MAX_ARGS], program, out = NULL;
	char name[MAX_TEXT], what[MAX_TEXT];

	CHECK(arguments(env, info, args));
	CHECK(napi_get_named_property(env, args[0], "program", &program));
	CHECK(text_of(env, program, name));
	CHECK(text_of(env, args[1], what));
	if (strcmp(what, "load") == 0 && strcmp(name, "unwanted") == 0)
		CHECK(napi_create_string_latin1(env, "not this program", NAPI_AUTO_LENGTH, &out));
	return out;
}

static napi_status
set_text(napi_env env, napi_value object, const char *key, const char *text)
{
	napi_value value;
	napi_status s = napi_create_string_latin1(env, text, NAPI_AUTO_LENGTH, &value);

	return s != napi_ok ? s : napi_set_named_property(env, object, key, value);
}

static napi_status
set_function(napi_env env, napi_value object, const char *key, napi_callback code)
{
	napi_value value;
	napi_status s = napi_create_function(env, key, NAPI_AUTO_LENGTH, code, NULL, &value);

	return s != napi_ok ? s : napi_set_named_property(env, object, key, value);
}

/* One row: { signature, call } under the name of the function. */
static napi_status
set_row(napi_env env, napi_value rows, const char *name, const char *signature, const char *key, napi_callback code,
    napi_value *row)
{
	napi_status s = napi_create_object(env, row);

	if (s == napi_ok)
		s = set_text(env, *row, "signature", signature);
	if (s == napi_ok)
		s = set_function(env, *row, key, code);
	return s != napi_ok ? s : napi_set_named_property(env, rows, name, *row);
}

static const struct {
	const char *name;
	const char *signature;
	napi_callback call;
} functions[] = {
	{ "greet", "STRING greet(STRING name=\"world\", ENUM {plain, loud} how=plain)", greet },
	{ "add", "INT add(INT a, [INT b])", add },
	{ "calls", "INT calls(PRIV_CALL)", count },
	{ "of_program", "INT of_program(PRIV_VCL)", count },
	{ "of_task", "INT of_task(PRIV_TASK)", count },
	{ "of_top", "INT of_top(PRIV_TOP)", count },
	{ "refuse", "VOID refuse(STRING why)", refuse },
	{ "throw_error", "STRING throw_error()", throw_error },
	{ "field", "STRING field(STRING name)", field },
};

NAPI_MODULE_INIT()
{
	napi_value abi, rows, row, objects, object, methods;

	CHECK(napi_create_int32(env, ABI, &abi));
	CHECK(napi_set_named_property(env, exports, "abi", abi));
	CHECK(set_text(env, exports, "name", "sample_c"));
	CHECK(napi_create_object(env, &rows));
	for (size_t i = 0; i < sizeof functions / sizeof functions[0]; i++)
		CHECK(set_row(env, rows, functions[i].name, functions[i].signature, "call", functions[i].call, &row));
	CHECK(napi_set_named_property(env, exports, "functions", rows));
	CHECK(napi_create_object(env, &objects));
	CHECK(set_row(env, objects, "counter", "counter(INT start=0, ENUM {up, down} direction=up)", "create",
	    counter_create, &object));
	CHECK(napi_create_object(env, &methods));
	CHECK(set_row(env, methods, "next", "INT next()", "call", counter_next, &row));
	CHECK(napi_set_named_property(env, object, "methods", methods));
	CHECK(napi_set_named_property(env, exports, "objects", objects));
	CHECK(set_function(env, exports, "event", event));
	return exports;
}
