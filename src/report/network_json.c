/* A network as JSON: docs/formats.md, "The network". */
#include "report/json_values.h"
#include "report/report.h"

static json_t *real_or_null(double value)
{
    return value > 0 ? json_real(value) : json_null();
}

static json_t *link_json(const struct network *network, size_t from, size_t to)
{
    const struct link *link = &network->link[from * network->n + to];
    json_t *object = json_object();
    json_put(object, "from", json_text_or_null(network->name[from]));
    json_put(object, "to", json_text_or_null(network->name[to]));
    json_put(object, "bandwidth_Bps", real_or_null(link->failed ? 0 : link->bandwidth_Bps));
    json_put(object, "latency_s", real_or_null(link->latency_s));
    json_put(object, "together_Bps", real_or_null(link->together_Bps));
    json_put(object, "curve", json_curve(link->curve));
    json_put(object, "source", json_string(link_source_word(link)));
    return object;
}

void report_network_json(const struct network *network, struct text *out)
{
    json_t *root = json_object(), *names = json_array(), *links = json_array();
    json_put(root, "format", json_string("foretrain.network/1"));
    for (size_t i = 0; i < network->n; i++)
        json_array_append_new(names, json_text_or_null(network->name[i]));
    for (size_t i = 0; i < network->n * network->n; i++) {
        if (network->link[i].source != LINK_UNKNOWN || network->link[i].failed)
            json_array_append_new(links, link_json(network, i / network->n, i % network->n));
    }
    json_put(root, "names", names);
    json_put(root, "links", links);
    json_print(root, out);
}
