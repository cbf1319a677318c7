/* A name is cut into pieces, each a list of alternatives; names are their product. */
#include "job/host_list.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "job/fields.h"

enum { MOST_PIECES = 17, MOST_DIGITS = 9, LONGEST_NAME = 253, MOST_SLOTS = 10000000 };

/* One comma-separated entry of a scalar. */
struct entry {
    struct reading *r;
    const struct node *node;
    char *text;    /* the entry, trimmed */
    size_t offset; /* of the entry in the scalar */
};

struct piece {
    const char **value;
    size_t n;
};

/* The scalar's column moved to a byte within it, where the file has it letter for letter. */
static struct place place_within(const struct entry *entry, size_t offset)
{
    const struct node *node = entry->node;
    struct place place = reading_place(entry->r, node->line, node->column);
    size_t before = (size_t)place.column - 1 + (node->quoted ? 1 : 0);
    if (place.line_text && strnlen(place.line_text, before) == before &&
        strncmp(place.line_text + before, node->text, offset) == 0)
        place.column = (int)(before + offset) + 1;
    return place;
}

static bool refuse(const struct entry *entry, const char *at, const char *message)
{
    struct place place = place_within(entry, entry->offset + (size_t)(at - entry->text));
    reading_refuse_at(entry->r, &place, NULL, "%s: %s (in '%s')", entry->node->name, message,
                      reading_shown(entry->r, entry->text));
    return false;
}

static bool parse_number(const char **text, unsigned long *number, size_t *n_digits)
{
    *n_digits = strspn(*text, "0123456789");
    if (*n_digits < 1 || *n_digits > MOST_DIGITS)
        return false;
    *number = strtoul(*text, NULL, 10);
    *text += *n_digits;
    return true;
}

struct range {
    unsigned long first, last;
    int width; /* zeros to this many digits */
};

static bool parse_range(const struct entry *entry, const char **text, struct range *range)
{
    static const char expected[] = "expected a number or a range such as 1-16 in brackets";
    const char *at = *text;
    size_t digits = 0, last_digits = 0;
    if (!parse_number(text, &range->first, &digits))
        return refuse(entry, at, expected);
    range->last = range->first;
    range->width = at[0] == '0' ? (int)digits : 0;
    if (**text != '-')
        return true;
    (*text)++;
    if (!parse_number(text, &range->last, &last_digits))
        return refuse(entry, *text, expected);
    if (range->last < range->first)
        return refuse(entry, at, "the range goes down");
    return true;
}

/* Counts names against what a list and a file may hold. */
static bool have_room(const struct entry *entry, const char *at, size_t n, size_t more)
{
    if (n + more > HOST_LIST_MOST)
        return refuse(entry, at, "more than 2 million names");
    if (entry->r->n_names + more > HOST_LIST_MOST_IN_FILE)
        return refuse(entry, at, "too many names in one file");
    entry->r->n_names += more;
    return true;
}

static char *padded(struct arena *arena, unsigned long number, int width)
{
    char digits[MOST_DIGITS + 1];
    int length = snprintf(digits, sizeof digits, "%0*lu", width, number);
    return arena_copy_n(arena, digits, (size_t)length);
}

static bool add_range(const struct entry *entry, const char *at, const struct range *range,
                      struct piece *piece)
{
    size_t more = range->last - range->first + 1;
    if (!have_room(entry, at, piece->n, more))
        return false;
    const char **value = memory_resize(piece->value, piece->n + more, sizeof *value);
    for (size_t i = 0; i < more; i++)
        value[piece->n + i] = padded(entry->r->arena, range->first + i, range->width);
    piece->value = value;
    piece->n += more;
    return true;
}

/* "[1-2,5]" at `*text`; moves behind it. */
static bool parse_group(const struct entry *entry, const char **text, struct piece *piece)
{
    do {
        (*text)++;
        const char *at = *text;
        struct range range = {0};
        if (!parse_range(entry, text, &range) || !add_range(entry, at, &range, piece))
            return false;
    } while (**text == ',');
    if (**text != ']')
        return refuse(entry, *text, "expected ',' or ']' in brackets");
    (*text)++;
    return true;
}

static void parse_literal(const struct entry *entry, const char **text, struct piece *piece)
{
    size_t length = strcspn(*text, "[]");
    piece->value = memory_resize(NULL, 1, sizeof *piece->value);
    piece->value[0] = arena_copy_n(entry->r->arena, *text, length);
    piece->n = 1;
    *text += length;
}

static bool cut(const struct entry *entry, struct piece *piece, size_t *n)
{
    for (const char *text = entry->text; *text;) {
        if (*text == ']')
            return refuse(entry, text, "']' without '['");
        if (*n == MOST_PIECES)
            return refuse(entry, text, "too many brackets in one name");
        struct piece *next = &piece[(*n)++];
        if (*text != '[')
            parse_literal(entry, &text, next);
        else if (!parse_group(entry, &text, next))
            return false;
    }
    return true;
}

static void add_name(struct name_list *list, const char *name)
{
    if (list->n == list->capacity) {
        list->capacity = list->capacity ? 2 * list->capacity : 16;
        list->item = memory_resize(list->item, list->capacity, sizeof *list->item);
    }
    list->item[list->n++] = name;
}

/* Name number `index` of the product, the last piece fastest. */
static char *product_name(struct arena *arena, const struct piece *piece, size_t n, size_t index)
{
    const char *part[MOST_PIECES];
    size_t length = 0;
    for (size_t i = n; i-- > 0; index /= piece[i].n) {
        part[i] = piece[i].value[index % piece[i].n];
        length += strlen(part[i]);
    }
    char *name = ARENA_ARRAY(arena, length + 1, char);
    char *end = name;
    for (size_t i = 0; i < n; i++)
        end = stpcpy(end, part[i]);
    return name;
}

static bool add_product(const struct entry *entry, const struct piece *piece, size_t n,
                        struct name_list *list)
{
    size_t total = 1;
    for (size_t i = 0; i < n; i++) {
        total *= piece[i].n;
        if (total > HOST_LIST_MOST)
            return refuse(entry, entry->text, "more than 2 million names");
    }
    if (!have_room(entry, entry->text, list->n, total))
        return false;
    for (size_t i = 0; i < total; i++)
        add_name(list, product_name(entry->r->arena, piece, n, i));
    return true;
}

static bool expand_entry(const struct entry *entry, struct name_list *list)
{
    struct piece piece[MOST_PIECES] = {0};
    size_t n = 0;
    bool ok = cut(entry, piece, &n) && add_product(entry, piece, n, list);
    for (size_t i = 0; i < n; i++)
        free(piece[i].value);
    return ok;
}

/* Length of the text up to a comma outside brackets, or its end. */
static size_t entry_length(const char *text)
{
    bool inside = false;
    size_t i = 0;
    for (; text[i] && (inside || text[i] != ','); i++)
        inside = text[i] == '[' || (inside && text[i] != ']');
    return i;
}

typedef bool entry_reader(struct entry *entry, void *out);

static bool read_entry(struct reading *r, const struct node *node, size_t offset, size_t length,
                       entry_reader *read, void *out)
{
    const char *start = node->text + offset;
    size_t lead = 0;
    while (lead < length && start[lead] == ' ')
        lead++;
    while (length > lead && start[length - 1] == ' ')
        length--;
    struct entry entry = {.r = r, .node = node, .offset = offset + lead};
    entry.text = arena_copy_n(r->arena, start + lead, length - lead);
    if (!*entry.text)
        return refuse(&entry, entry.text, "a name is missing");
    return read(&entry, out);
}

static bool read_entries(struct reading *r, const struct node *node, entry_reader *read, void *out)
{
    if (!field_word(r, node))
        return false;
    for (size_t offset = 0;; offset++) {
        size_t length = entry_length(node->text + offset);
        if (!read_entry(r, node, offset, length, read, out))
            return false;
        offset += length;
        if (!node->text[offset])
            return true;
    }
}

static bool expand_as_names(struct entry *entry, void *out)
{
    return expand_entry(entry, out);
}

bool host_list_expand(struct reading *r, const struct node *node, struct name_list *list)
{
    return read_entries(r, node, expand_as_names, list);
}

static bool is_address(const char *name)
{
    const char *colon = strchr(name, ':');
    return colon && strchr(colon + 1, ':') &&
           name[strspn(name, ":%._0123456789abcdefABCDEF")] == '\0';
}

static bool check_host_name(const struct entry *entry, const char *name)
{
    static const char allowed[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
                                  "0123456789._-";
    if (name[0] == '-')
        return refuse(entry, entry->text, "a host's name must not start with '-'");
    if (strlen(name) > LONGEST_NAME)
        return refuse(entry, entry->text, "a host's name has at most 253 characters");
    if (name[strspn(name, allowed)] == '\0' || is_address(name))
        return true;
    return refuse(entry, entry->text, "a host's name has letters, digits, '.', '_' and '-' only");
}

/* Cuts ":8" off the entry. */
static bool take_slots(struct entry *entry, int *n_devices)
{
    char *colon = strrchr(entry->text, ':');
    *n_devices = 1;
    if (!colon || strchr(colon, ']'))
        return true;
    const char *digits = colon + 1;
    unsigned long slots = 0;
    size_t n_digits = 0;
    if (!parse_number(&digits, &slots, &n_digits) || *digits || slots < 1 || slots > MOST_SLOTS)
        return refuse(entry, colon, "expected a number of devices, 1 or more, after ':'");
    *colon = '\0';
    *n_devices = (int)slots;
    return true;
}

static bool add_host(const struct entry *entry, const char *name, int n_devices,
                     struct host_list *list)
{
    if (!check_host_name(entry, name))
        return false;
    if (list->n == HOST_LIST_MOST)
        return refuse(entry, entry->text, "more than 2 million hosts");
    if (list->n == list->capacity) {
        list->capacity = list->capacity ? 2 * list->capacity : 16;
        list->item = memory_resize(list->item, list->capacity, sizeof *list->item);
    }
    list->item[list->n++] = (struct job_host){.name = name, .n_devices = n_devices};
    return true;
}

/* An IPv6 address has two colons or more before any bracket closes: "::1", "[::1]:4". */
static bool is_ipv6_entry(const char *text)
{
    size_t head = strcspn(text, "]");
    const char *colon = strchr(text, ':');
    return colon && (size_t)(colon - text) < head && strchr(colon + 1, ':');
}

static bool read_ipv6(struct entry *entry, struct host_list *list)
{
    int n_devices = 1;
    if (entry->text[0] != '[')
        return add_host(entry, entry->text, n_devices, list);
    if (!take_slots(entry, &n_devices))
        return false;
    size_t length = strcspn(entry->text, "]");
    if (!entry->text[length] || entry->text[length + 1])
        return refuse(entry, entry->text, "expected an address such as [::1]:4");
    return add_host(entry, arena_copy_n(entry->r->arena, entry->text + 1, length - 1), n_devices,
                    list);
}

static bool read_host(struct entry *entry, void *out)
{
    if (is_ipv6_entry(entry->text))
        return read_ipv6(entry, out);
    int n_devices = 1;
    if (!take_slots(entry, &n_devices))
        return false;
    struct name_list names = {0};
    bool ok = expand_entry(entry, &names);
    for (size_t i = 0; ok && i < names.n; i++)
        ok = add_host(entry, names.item[i], n_devices, out);
    free(names.item);
    return ok;
}

static bool read_all(struct reading *r, const struct node *node, struct host_list *list)
{
    if (node->kind != NODE_LIST)
        return read_entries(r, node, read_host, list);
    bool ok = node->n > 0;
    if (!ok)
        reading_refuse(r, node, NULL, "%s is an empty list", node->name);
    for (const struct node *item = node->first; item; item = item->next)
        ok = read_entries(r, item, read_host, list) && ok;
    return ok;
}

void host_list_read(struct reading *r, const struct node *node, void *out)
{
    struct host_list list = {0};
    if (read_all(r, node, &list) && list.item) {
        struct job_host *item = ARENA_ARRAY(r->arena, list.n, struct job_host);
        memcpy(item, list.item, list.n * sizeof *item);
        *(struct host_list *)out = (struct host_list){.item = item, .n = list.n};
    }
    free(list.item);
}
