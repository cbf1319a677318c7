#include "job/fields.h"

#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "base/units.h"

enum { MOST_DEVICES = 10000000, MOST_EPOCHS = 1000000000 };

struct known_keys {
    const char **word;
    const char *list; /* for messages */
};

static struct known_keys known_keys(struct reading *r, const struct field *field, size_t n)
{
    const char **word = ARENA_ARRAY(r->arena, n, const char *);
    for (size_t i = 0; i < n; i++)
        word[i] = field[i].key;
    return (struct known_keys){word,
                               arena_format(r->arena, "known here: %s", field_words(r, word, n))};
}

static bool is_field(const struct field *field, size_t n, const char *key)
{
    for (size_t i = 0; i < n; i++) {
        if (strcmp(field[i].key, key) == 0)
            return true;
    }
    return false;
}

static void refuse_unknown_keys(struct reading *r, const struct node *node,
                                const struct field *field, size_t n)
{
    struct known_keys known = {0};
    for (const struct node *value = node->first; value; value = value->next) {
        if (is_field(field, n, value->key->text))
            continue;
        if (!known.word)
            known = known_keys(r, field, n);
        const char *hint = reading_nearest(r, value->key->text, known.word, n);
        reading_refuse(r, value->key, hint ? hint : known.list, "unknown key '%s'", value->name);
    }
}

bool fields_read(struct reading *r, const struct node *node, const struct field *field, size_t n,
                 void *out)
{
    if (node->kind != NODE_MAPPING) {
        reading_refuse(r, node, NULL, "%s must be a mapping of keys to values (got %s)", node->name,
                       node_found(r, node));
        return false;
    }
    refuse_unknown_keys(r, node, field, n);
    for (size_t i = 0; i < n; i++) {
        const struct node *value = node_find(node, field[i].key);
        if (value)
            field[i].read(r, value, (char *)out + field[i].offset);
        else if (field[i].required)
            reading_refuse(r, node->key ? node->key : node, NULL, "'%s' is missing in %s",
                           field[i].key, node->name);
    }
    return true;
}

const char *field_words(struct reading *r, const char *const *word, size_t n)
{
    struct text list = {0};
    for (size_t i = 0; i < n; i++)
        text_format(&list, "%s%s", i == 0 ? "" : i + 1 == n ? " or " : ", ", word[i]);
    char *copy = arena_copy(r->arena, list.data ? list.data : "");
    text_free(&list);
    return copy;
}

static bool expect_scalar(struct reading *r, const struct node *node, const char *expected)
{
    if (node->kind == NODE_SCALAR && !node_is_null(node))
        return true;
    reading_refuse(r, node, NULL, "%s must be %s (got %s)", node->name, expected,
                   node_found(r, node));
    return false;
}

static bool has_control(const char *text)
{
    for (const char *s = text; *s; s++) {
        if ((unsigned char)*s < ' ' || *s == 0x7f || strncmp(s, "\xc2\x85", 2) == 0)
            return true;
    }
    return false;
}

const char *field_word(struct reading *r, const struct node *node)
{
    if (!expect_scalar(r, node, "text"))
        return NULL;
    if (!*node->text) {
        reading_refuse(r, node, NULL, "%s must not be empty", node->name);
        return NULL;
    }
    if (has_control(node->text)) {
        reading_refuse(r, node, NULL, "%s must be one line without control characters (got %s)",
                       node->name, node_found(r, node));
        return NULL;
    }
    return node->text;
}

void field_text(struct reading *r, const struct node *node, void *out)
{
    const char *text = field_word(r, node);
    if (text)
        *(const char **)out = text;
}

void field_option(struct reading *r, const struct node *node, void *out)
{
    const char *word = field_word(r, node);
    if (word && *word == '-')
        reading_refuse(r, node, NULL, "%s must not begin with '-' (got %s)", node->name,
                       node_found(r, node));
    else if (word)
        *(const char **)out = word;
}

/* The items of a list, or the one scalar that stands for a list of one. */
static struct text_list texts_of(struct reading *r, const struct node *node)
{
    size_t n = node->kind == NODE_LIST ? node->n : 1;
    struct text_list list = {.item = ARENA_ARRAY(r->arena, n, const char *)};
    const struct node *item = node->kind == NODE_LIST ? node->first : node;
    for (size_t i = 0; i < n; i++, item = item->next) {
        const char *text = field_word(r, item);
        if (text)
            list.item[list.n++] = text;
    }
    return list;
}

void field_texts(struct reading *r, const struct node *node, void *out)
{
    *(struct text_list *)out = texts_of(r, node);
}

void field_bool(struct reading *r, const struct node *node, void *out)
{
    static const char *const word[] = {"true", "false"};
    for (size_t i = 0; i < 2 && node->kind == NODE_SCALAR && !node->quoted; i++) {
        if (strcmp(node->text, word[i]) == 0) {
            *(bool *)out = i == 0;
            return;
        }
    }
    reading_refuse(r, node, NULL, "%s must be true or false (got %s)", node->name,
                   node_found(r, node));
}

/* Decimal digits only: no sign, point, exponent, underscore or leading zero. */
static bool is_whole(const char *text)
{
    return *text && !text[strspn(text, "0123456789")] && (text[0] != '0' || !text[1]);
}

static bool parse_whole(const char *text, uint64_t *value)
{
    errno = 0;
    *value = is_whole(text) ? strtoull(text, NULL, 10) : 0;
    return is_whole(text) && errno == 0;
}

bool field_whole(struct reading *r, const struct node *node, uint64_t least, uint64_t most,
                 uint64_t *value)
{
    uint64_t number = 0;
    bool whole = node->kind == NODE_SCALAR && is_whole(node->text);
    bool read = whole && parse_whole(node->text, &number);
    if (read && !node->quoted && number >= least && number <= most) {
        *value = number;
        return true;
    }
    if (whole && (!read || number > most))
        reading_refuse(r, node, NULL, "%s must be at most %llu (got %s)", node->name,
                       (unsigned long long)most, node_found(r, node));
    else
        reading_refuse(r, node, read && node->quoted ? "write it without quotes" : NULL,
                       "%s must be a whole number, %llu or more (got %s)", node->name,
                       (unsigned long long)least, node_found(r, node));
    return false;
}

void field_count(struct reading *r, const struct node *node, void *out)
{
    uint64_t value = 0;
    if (field_whole(r, node, 1, MOST_DEVICES, &value))
        *(int64_t *)out = (int64_t)value;
}

void field_small_count(struct reading *r, const struct node *node, void *out)
{
    uint64_t value = 0;
    if (field_whole(r, node, 1, MOST_DEVICES, &value))
        *(int *)out = (int)value;
}

void field_natural(struct reading *r, const struct node *node, void *out)
{
    uint64_t value = 0;
    if (field_whole(r, node, 0, MOST_DEVICES, &value))
        *(int *)out = (int)value;
}

void field_epochs(struct reading *r, const struct node *node, void *out)
{
    uint64_t value = 0;
    if (field_whole(r, node, 1, MOST_EPOCHS, &value))
        *(double *)out = (double)value;
}

void field_samples(struct reading *r, const struct node *node, void *out)
{
    uint64_t value = 0;
    if (field_whole(r, node, 1, UINT64_C(1) << 53, &value))
        *(double *)out = (double)value;
}

void field_seed(struct reading *r, const struct node *node, void *out)
{
    uint64_t value = 0;
    if (field_whole(r, node, 0, UINT64_MAX, &value))
        *(uint64_t *)out = value;
}

/* Moves a message of units_parse to the node it is about. */
static void refuse_quantity(struct reading *r, const struct node *node, struct error *e)
{
    char *message = text_printable(r->arena, e->text, 1);
    char *hint = strstr(message, "\n  hint: ");
    if (hint) {
        *hint = '\0';
        hint += strlen("\n  hint: ");
    }
    reading_refuse(r, node, hint, "%s: %s", node->name, message);
    error_clear(e);
}

static bool read_quantity(struct reading *r, const struct node *node, enum dimension dimension,
                          double *value)
{
    if (!expect_scalar(r, node, units_example(dimension)))
        return false;
    struct error e = {0};
    if (strlen(node->text) <= 64 && units_parse(node->text, dimension, value, &e))
        return true;
    if (!e.text)
        error_set(&e, ERROR_INPUT, "'%s' is not %s", reading_shown(r, node->text),
                  units_example(dimension));
    refuse_quantity(r, node, &e);
    return false;
}

static bool read_positive(struct reading *r, const struct node *node, enum dimension dimension,
                          double *value)
{
    double quantity = 0;
    if (!read_quantity(r, node, dimension, &quantity))
        return false;
    if (!(quantity > 0)) {
        reading_refuse(r, node, NULL, "%s must be above 0 (got %s)", node->name,
                       node_found(r, node));
        return false;
    }
    *value = quantity;
    return true;
}

void field_bytes(struct reading *r, const struct node *node, void *out)
{
    read_positive(r, node, DIMENSION_BYTES, out);
}

void field_bandwidth(struct reading *r, const struct node *node, void *out)
{
    read_positive(r, node, DIMENSION_BANDWIDTH, out);
}

void field_duration(struct reading *r, const struct node *node, void *out)
{
    read_positive(r, node, DIMENSION_TIME, out);
}

void field_latency(struct reading *r, const struct node *node, void *out)
{
    double time = 0;
    if (!read_quantity(r, node, DIMENSION_TIME, &time))
        return;
    if (time < 0)
        reading_refuse(r, node, NULL, "%s must be 0 or more (got %s)", node->name,
                       node_found(r, node));
    else
        *(double *)out = time;
}

void field_share(struct reading *r, const struct node *node, void *out)
{
    double share = 0;
    if (!read_quantity(r, node, DIMENSION_SHARE, &share))
        return;
    if (share < 0 || share >= 1)
        reading_refuse(r, node, NULL, "%s must be from 0 to below 100 %% (got %s)", node->name,
                       node_found(r, node));
    else
        *(double *)out = share;
}

void field_price(struct reading *r, const struct node *node, void *out)
{
    double per_s = 0;
    if (!read_quantity(r, node, DIMENSION_PRICE, &per_s))
        return;
    if (per_s < 0)
        reading_refuse(r, node, NULL, "%s must be 0 or more (got %s)", node->name,
                       node_found(r, node));
    else
        *(struct price *)out = (struct price){true, per_s};
}

/* "20000 samples": the digits before the word, or 0 where the text is no number of samples. */
static size_t samples_digits(const char *text)
{
    size_t digits = strspn(text, "0123456789");
    const char *word = text + digits + strspn(text + digits, " ");
    bool named = strcmp(word, "samples") == 0 || strcmp(word, "sample") == 0;
    return named ? digits : 0;
}

static void read_samples(struct reading *r, const struct node *node, struct amount *amount)
{
    char *digits = arena_copy_n(r->arena, node->text, samples_digits(node->text));
    uint64_t value = 0;
    if (!parse_whole(digits, &value) || value < 1 || value > UINT64_C(1) << 53)
        reading_refuse(r, node, NULL, "%s must be a whole number of samples, 1 or more (got %s)",
                       node->name, node_found(r, node));
    else
        *amount = (struct amount){(double)value, AMOUNT_SAMPLES};
}

void field_size(struct reading *r, const struct node *node, void *out)
{
    double bytes = 0;
    if (node->kind == NODE_SCALAR && samples_digits(node->text) > 0)
        reading_refuse(r, node, "a number of samples has a key of its own: samples",
                       "%s must be %s (got %s)", node->name, units_example(DIMENSION_BYTES),
                       node_found(r, node));
    else if (read_positive(r, node, DIMENSION_BYTES, &bytes))
        *(struct amount *)out = (struct amount){bytes, AMOUNT_BYTES};
}

void field_amount(struct reading *r, const struct node *node, void *out)
{
    static const char expected[] = "an amount such as \"1 GB\" or \"20000 samples\"";
    if (!expect_scalar(r, node, expected))
        return;
    const char *text = node->text;
    if (text_ends_with(text, "sample") || text_ends_with(text, "samples"))
        read_samples(r, node, out);
    else if (*text && text[strspn(text, "0123456789.")] == '\0')
        reading_refuse(r, node, NULL, "%s: the unit is missing; expected %s", node->name, expected);
    else
        field_size(r, node, out);
}

static bool parse_cpu(const char **text, long *cpu)
{
    size_t digits = strspn(*text, "0123456789");
    if (digits < 1 || digits > 5)
        return false;
    *cpu = strtol(*text, NULL, 10);
    *text += digits;
    return true;
}

/* One part of a CPU list: "3" or "4-7". */
static bool parse_cpu_range(const char **text)
{
    long first = 0, last = 0;
    if (!parse_cpu(text, &first))
        return false;
    if (**text != '-')
        return true;
    (*text)++;
    return parse_cpu(text, &last) && last >= first;
}

static bool is_cpu_list(const char *text)
{
    while (parse_cpu_range(&text)) {
        if (!*text)
            return true;
        if (*text++ != ',')
            return false;
    }
    return false;
}

void field_cpu_lists(struct reading *r, const struct node *node, void *out)
{
    struct text_list list = texts_of(r, node);
    for (size_t i = 0; i < list.n; i++) {
        if (is_cpu_list(list.item[i]))
            continue;
        reading_refuse(r, node, NULL,
                       "%s must be CPU numbers such as \"0\", \"2-3\" or \"0,4-7\" "
                       "(got %s)",
                       node->name, reading_shown(r, list.item[i]));
        return;
    }
    if (list.n == 0 && node->kind == NODE_LIST)
        reading_refuse(r, node, NULL, "%s is an empty list", node->name);
    *(struct text_list *)out = list;
}

static const char *choice_words(struct reading *r, const struct choice *choice, size_t n)
{
    const char **word = ARENA_ARRAY(r->arena, n, const char *);
    size_t n_words = 0;
    for (size_t i = 0; i < n; i++) {
        if (!choice[i].later)
            word[n_words++] = choice[i].word;
    }
    return field_words(r, word, n_words);
}

static void refuse_choice(struct reading *r, const struct node *node, const struct choice *choice,
                          size_t n)
{
    const char *word[64];
    size_t n_words = 0;
    for (size_t i = 0; i < n && n_words < 64; i++)
        word[n_words++] = choice[i].word;
    char *hint = node->kind == NODE_SCALAR ? reading_nearest(r, node->text, word, n_words) : NULL;
    reading_refuse(r, node, hint, "%s must be %s (got %s)", node->name, choice_words(r, choice, n),
                   node_found(r, node));
}

bool field_choose(struct reading *r, const struct node *node, const struct choice *choice, size_t n,
                  int *value)
{
    for (size_t i = 0; i < n && node->kind == NODE_SCALAR; i++) {
        if (strcmp(choice[i].word, node->text) != 0)
            continue;
        if (choice[i].later) {
            reading_refuse(r, node, NULL,
                           "%s: '%s' comes in a later version of foretrain; this one has %s",
                           node->name, choice[i].word, choice_words(r, choice, n));
            return false;
        }
        *value = choice[i].value;
        return true;
    }
    refuse_choice(r, node, choice, n);
    return false;
}
