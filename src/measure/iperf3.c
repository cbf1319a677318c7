/*
 * Versions 3.11 to 3.13 exit with 0 on errors, 3.9 prints them on standard error only, 3.16
 * and 3.17 can print the object twice.
 */
#include "measure/iperf3.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include <jansson.h>

#include "base/text.h"

/*
 * Of a CPU; and of a part of one, where both ends are held up in turns, so that neither uses up its
 * own (docs/formats.md, "The network").
 */
static const double CPU_BOUND = 0.9, PART_BOUND = 0.6;

/* The first brace that begins a line, else the first of all. */
static const char *find_object(const char *text)
{
    if (*text == '{')
        return text;
    const char *brace = strstr(text, "\n{");
    return brace ? brace + 1 : strchr(text, '{');
}

static bool fail(struct error *e, const char *what)
{
    error_set(e, ERROR_HOST, "iperf3: %s", what);
    return false;
}

/* The start of what was printed, on one line and safe to show. */
static bool fail_quoting(struct error *e, const char *what, const char *text)
{
    enum { SHOWN = 120 };
    struct arena arena = {0};
    size_t length = strcspn(text, "\r\n");
    const char *shown =
        text_printable(&arena, arena_copy_n(&arena, text, length < SHOWN ? length : SHOWN), 0);
    error_set(e, ERROR_HOST, "iperf3: %s (%s)", what, shown);
    arena_free(&arena);
    return false;
}

static bool parse_object(const char *text, json_t **root, struct error *e)
{
    const char *object = find_object(text);
    if (!object)
        return text[strspn(text, " \t\r\n")] == '\0'
                   ? fail(e, "it printed nothing")
                   : fail_quoting(e, "it printed no JSON", text + strspn(text, " \t\r\n"));
    json_error_t problem;
    *root = json_loads(object, JSON_DISABLE_EOF_CHECK, &problem);
    if (*root)
        return true;
    error_set(e, ERROR_HOST, "iperf3: its output is cut off or no JSON (line %d: %s)", problem.line,
              problem.text);
    return false;
}

/* "error - unable to connect to server:  " -> "unable to connect to server" */
static bool fail_with_its_words(struct error *e, const char *words)
{
    static const char lead[] = "error - ";
    if (strncmp(words, lead, sizeof lead - 1) == 0)
        words += sizeof lead - 1;
    size_t length = strlen(words);
    while (length > 0 && strchr(": \t\r\n", words[length - 1]))
        length--;
    struct arena arena = {0};
    const char *copy = text_printable(&arena, arena_copy_n(&arena, words, length), 0);
    fail(e, *copy ? copy : "an error without words");
    arena_free(&arena);
    return false;
}

/* A number at a path of keys ending with NULL; NAN where there is none. */
static double number_at(const json_t *json, const char *const *key)
{
    for (; json && *key; key++)
        json = json_object_get(json, *key);
    return json_is_number(json) ? json_number_value(json) : NAN;
}

#define NUMBER_AT(json, ...) number_at((json), (const char *const[]){__VA_ARGS__, NULL})

static double percent_or_unknown(double percent)
{
    return isfinite(percent) && percent >= 0 ? percent : -1;
}

/* An IPv4 address may be written as an IPv6 one. */
static void copy_address(char *out, const json_t *connected, const char *key)
{
    static const char mapped[] = "::ffff:";
    const char *address = json_string_value(json_object_get(connected, key));
    if (!address)
        return;
    if (strncmp(address, mapped, sizeof mapped - 1) == 0)
        address += sizeof mapped - 1;
    snprintf(out, IPERF3_ADDRESS_SIZE, "%s", address);
}

static void read_addresses(const json_t *root, struct iperf3_result *result)
{
    const json_t *connected =
        json_array_get(json_object_get(json_object_get(root, "start"), "connected"), 0);
    copy_address(result->reversed ? result->to : result->from, connected, "local_host");
    copy_address(result->reversed ? result->from : result->to, connected, "remote_host");
}

static bool is_a_part(double cpus)
{
    return cpus > 0 && cpus < 1;
}

/* A receiver uses up its part even where the wire is the limit, in many small reads: it tells
 * nothing. */
void iperf3_judge_cpus(struct iperf3_result *result, double sender_cpus, double receiver_cpus)
{
    bool part = is_a_part(sender_cpus);
    double sender_percent = 100 * (part ? PART_BOUND * sender_cpus : CPU_BOUND);
    result->cpu_bound =
        result->sender_cpu_percent > sender_percent ||
        (!is_a_part(receiver_cpus) && result->receiver_cpu_percent > 100 * CPU_BOUND);
}

static struct iperf3_result make_result(const json_t *root, double bits_per_second)
{
    double host =
        percent_or_unknown(NUMBER_AT(root, "end", "cpu_utilization_percent", "host_total"));
    double remote =
        percent_or_unknown(NUMBER_AT(root, "end", "cpu_utilization_percent", "remote_total"));
    bool reversed = NUMBER_AT(root, "start", "test_start", "reverse") > 0;
    struct iperf3_result result = {
        .bandwidth_Bps = bits_per_second / 8,
        .sender_cpu_percent = reversed ? remote : host,
        .receiver_cpu_percent = reversed ? host : remote,
        .reversed = reversed,
    };
    iperf3_judge_cpus(&result, 0, 0);
    return result;
}

/* Versions before 3.10 give sum_received twice with --bidir, once for each direction. */
static bool is_ambiguous(const json_t *root)
{
    const json_t *end = json_object_get(root, "end"), *stream;
    bool sends = false, receives = false;
    size_t i;
    json_array_foreach(json_object_get(end, "streams"), i, stream)
    {
        const json_t *sender = json_object_get(json_object_get(stream, "sender"), "sender");
        sends |= json_is_true(sender);
        receives |= json_is_false(sender);
    }
    return sends && receives && !json_object_get(end, "sum_received_bidir_reverse");
}

static bool read_root(const json_t *root, struct iperf3_result *result, struct error *e)
{
    const json_t *words = json_object_get(root, "error");
    if (json_is_string(words))
        return fail_with_its_words(e, json_string_value(words));
    if (words)
        return fail(e, "an error without words");
    if (json_object_get(root, "event"))
        return fail(e, "this is the output of --json-stream; --json is read here");
    const json_t *start = json_object_get(json_object_get(root, "start"), "test_start");
    const char *protocol = json_string_value(json_object_get(start, "protocol"));
    if (protocol && strcmp(protocol, "TCP") != 0)
        return fail(e, "a TCP test is needed; others send at a set rate");
    if (is_ambiguous(root))
        return fail(e, "both directions of a --bidir test have one name in versions before 3.10");
    double bits_per_second = NUMBER_AT(root, "end", "sum_received", "bits_per_second");
    if (isnan(bits_per_second))
        return fail(e, "it ended without a result");
    if (!isfinite(bits_per_second) || bits_per_second <= 0)
        return fail(e, "no data arrived");
    *result = make_result(root, bits_per_second);
    read_addresses(root, result);
    return true;
}

/* Version 3.9 gives its reason beside the object, as a line "iperf3: error - ...". */
static void add_words_beside(const char *text, struct error *e)
{
    enum { LONGEST = 200 };
    static const char lead[] = "iperf3: error - ";
    const char *words = strstr(text, lead);
    if (!words)
        return;
    struct arena arena = {0};
    words += sizeof lead - 1;
    size_t length = strcspn(words, "\r\n");
    error_hint(e, "it also said: %s",
               text_printable(&arena,
                              arena_copy_n(&arena, words, length < LONGEST ? length : LONGEST), 0));
    arena_free(&arena);
}

bool iperf3_read(const char *text, struct iperf3_result *result, struct error *e)
{
    json_t *root = NULL;
    bool ok = parse_object(text, &root, e) && read_root(root, result, e);
    if (!ok)
        add_words_beside(text, e);
    if (root)
        json_decref(root);
    return ok;
}
