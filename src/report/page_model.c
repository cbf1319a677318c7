/* The model that was trained, as the profile of one device type holds it. */
#include "report/page.h"

/* As long as anybody reads. */
static const char *shown(const struct page *page, const char *text)
{
    enum { MOST = 200 };
    return text ? html_short(page->arena, text, MOST) : "-";
}

static const char *sizes(const struct page *page, const struct dtype_sizes *sizes_)
{
    const char *text = sizes_->n ? "" : "bytes not known";
    for (size_t i = 0; i < sizes_->n; i++)
        text = arena_format(page->arena, "%s%s%s of %s", text, i ? " and " : "",
                            page_unit(page, sizes_->item[i].bytes, DIMENSION_BYTES),
                            shown(page, sizes_->item[i].dtype));
    return text;
}

static void list_layers(const struct page *page, const struct profile *p)
{
    enum { MOST = 500, FEW = 24 };
    static const char *const head[] = {"Layer",       "Kind",       "Input", "Output",
                                       "#Parameters", "Activation", NULL};
    text_format(page->out, "<details%s>\n<summary>%zu layers</summary>\n",
                p->n_layers <= FEW ? " open" : "", p->n_layers);
    html_table_open(page->out, p->n_layers > MOST ? "The first 500" : "In order", head);
    for (size_t i = 0; i < p->n_layers && i < MOST; i++) {
        const struct profile_layer *layer = &p->layer[i];
        html_row_open(page->out);
        html_cell(page->out, "%s", shown(page, layer->name));
        html_cell(page->out, "%s", shown(page, layer->kind));
        html_cell(page->out, "%s", shown(page, layer->input_shapes));
        html_cell(page->out, "%s", shown(page, layer->output_shapes));
        html_number(page->out, "%s", page_count(page, layer->n_parameters));
        html_cell(page->out, "%s", shown(page, layer->activation));
        html_row_close(page->out);
    }
    html_table_close(page->out);
    text_add(page->out, "</details>\n");
}

static void list_buckets(const struct page *page, const struct profile *p)
{
    static const char *const head[] = {"#Bucket", "#Bytes", "#Ready", "#Done", NULL};
    html_table_open(page->out,
                    arena_format(page->arena,
                                 "Buckets of gradients, from the begin of backward, on %s",
                                 shown(page, p->device_type)),
                    head);
    for (size_t b = 0; b < p->n_buckets; b++) {
        const struct bucket *bucket = &p->bucket[b];
        html_row_open(page->out);
        html_number(page->out, "%zu", b);
        html_number(page->out, "%s", page_unit(page, bucket->wire_bytes, DIMENSION_BYTES));
        html_number(page->out, "%s",
                    bucket->ready.known ? page_time(page, bucket->ready.stats.mean) : "-");
        html_number(page->out, "%s",
                    bucket->done.known ? page_time(page, bucket->done.stats.mean) : "-");
        html_row_close(page->out);
    }
    html_table_close(page->out);
}

static const struct profile *with_model(const struct run_report *run)
{
    for (int t = 0; t < run->job->n_types; t++) {
        if (run->profile[t].n_parameters > 0 || run->profile[t].n_layers > 0)
            return &run->profile[t];
    }
    return NULL;
}

void page_model(const struct page *page)
{
    const struct profile *p = with_model(page->run);
    page_section(page, "model", "The model");
    if (!p) {
        page_say(page, "The profiles do not hold it.");
    } else {
        page_say(page, "%s parameters (%s), loss %s, optimizer %s.",
                 page_count(page, p->n_parameters), sizes(page, &p->parameter_bytes),
                 shown(page, p->loss), shown(page, p->optimizer));
        if (p->n_layers)
            list_layers(page, p);
    }
    for (int t = 0; t < page->run->job->n_types; t++) {
        if (page->run->profile[t].n_buckets) {
            list_buckets(page, &page->run->profile[t]);
            break;
        }
    }
    page_section_end(page);
}
