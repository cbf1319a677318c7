/* A network in memory: its names, its gaps, and its text. */
#include "network/network.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"

static const char *const source_name[] = {
    [LINK_UNKNOWN] = "unknown",
    [LINK_MEASURED] = "measured",
    [LINK_GIVEN] = "given",
    [LINK_FILLED] = "filled",
};

const char *link_source_name(enum link_source source)
{
    return source_name[source];
}

const char *link_source_word(const struct link *link)
{
    if (link->failed)
        return "failed";
    return link->at_least ? "measured>=" : source_name[link->source];
}

bool link_is_shared(const struct link *link)
{
    const double much_slower = 0.8;
    return link->together_Bps > 0 && link->together_Bps < much_slower * link->bandwidth_Bps;
}

double link_message_Bps(const struct link *link, double bytes)
{
    if (!link->curve || !(bytes > 0))
        return link->bandwidth_Bps;
    return bytes / curve_message_s(link->curve->point, link->curve->n, bytes);
}

static int compare_names(const void *a, const void *b)
{
    return strcmp(*(const char *const *)a, *(const char *const *)b);
}

long network_find(const struct network *network, const char *name)
{
    const char **found =
        network->n ? bsearch(&name, network->name, network->n, sizeof *network->name, compare_names)
                   : NULL;
    return found ? (long)(found - network->name) : NETWORK_NO_NAME;
}

static void fill_from(struct link *link, const struct link *other)
{
    if (link->source != LINK_UNKNOWN || link->failed || other->source == LINK_UNKNOWN)
        return;
    *link = (struct link){.bandwidth_Bps = other->bandwidth_Bps,
                          .latency_s = other->latency_s,
                          .curve = other->curve,
                          .source = LINK_FILLED};
}

void network_fill(struct network *network)
{
    for (size_t i = 0; i < network->n; i++) {
        for (size_t j = 0; j < i; j++) {
            struct link *forth = &network->link[i * network->n + j];
            struct link *back = &network->link[j * network->n + i];
            fill_from(forth, back);
            fill_from(back, forth);
        }
    }
}

/* RFC 4180, and blanks at the ends kept by quotes. */
static void add_name(struct text *out, const char *name)
{
    size_t length = strlen(name);
    bool plain = length && !strpbrk(name, ",;\"\t\r\n") && name[0] != ' ' && name[0] != '#' &&
                 name[length - 1] != ' ';
    if (plain) {
        text_add(out, name);
        return;
    }
    text_add(out, "\"");
    for (; *name; name++) {
        if (*name == '"')
            text_add(out, "\"");
        text_add_n(out, name, 1);
    }
    text_add(out, "\"");
}

/* The shortest of the usual texts that reads back as the same number. */
static void add_number(struct text *out, double value)
{
    char text[32];
    snprintf(text, sizeof text, "%.15g", value);
    if (strtod(text, NULL) != value)
        snprintf(text, sizeof text, "%.17g", value);
    text_add(out, text);
}

static void add_link(struct text *out, const char *from, const char *to, const struct link *link,
                     bool with_together)
{
    add_name(out, from);
    text_add(out, ",");
    add_name(out, to);
    text_add(out, ",");
    if (!link->failed)
        add_number(out, link->bandwidth_Bps);
    text_add(out, ",");
    if (!link->failed)
        add_number(out, link->latency_s);
    text_format(out, ",%s", link_source_word(link));
    if (with_together)
        text_add(out, ",");
    if (link->together_Bps > 0)
        add_number(out, link->together_Bps);
    text_add(out, "\n");
}

static bool has_together(const struct network *network)
{
    for (size_t i = 0; i < network->n * network->n; i++) {
        if (network->link[i].together_Bps > 0)
            return true;
    }
    return false;
}

void network_format(const struct network *network, struct text *out)
{
    bool with_together = has_together(network);
    text_format(out, "from,to,bandwidth_Bps,latency_s,source%s\n",
                with_together ? ",together_Bps" : "");
    for (size_t i = 0; i < network->n; i++) {
        for (size_t j = 0; j < network->n; j++) {
            const struct link *link = &network->link[i * network->n + j];
            if (link->source != LINK_UNKNOWN || link->failed)
                add_link(out, network->name[i], network->name[j], link, with_together);
        }
    }
}
