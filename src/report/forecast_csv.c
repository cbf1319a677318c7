/* A forecast's devices as CSV, RFC 4180, safe to open in a spreadsheet. */
#include "report/csv_values.h"
#include "report/report.h"

static void add_numbers(struct text *out, const double *value, size_t n)
{
    for (size_t i = 0; i < n; i++)
        text_format(out, "%.15g,", value[i]);
}

static void add_device(const struct forecast *f, const struct job *job, size_t i, struct text *out)
{
    struct arena scratch = {0};
    size_t device = job_ring_device(job, i);
    const struct ft_pair *hop = &f->hop[f->slowest_hop[i]];
    const struct link *slowest = &f->link[f->slowest_hop[i]];
    const struct type_forecast *type = &f->type[job_device_type(job, device)];
    const struct ft_device_forecast *d = &f->device[i];
    const char *host = job_device_host(job, device, NULL);
    const double time_s[] = {d->load_s,
                             type->forward_s + type->unsynced_s,
                             type->first_backward_s,
                             d->ring_s,
                             d->device_s,
                             d->step_s};
    const double link[] = {slowest->bandwidth_Bps, slowest->latency_s};
    text_format(out, "%zu,", i);
    csv_add_text(out, job_device_name(&scratch, job, device));
    csv_add_text(out, type->name);
    csv_add_text(out, host ? host : "");
    add_numbers(out, time_s, sizeof time_s / sizeof *time_s);
    csv_add_text(
        out, f->n_devices > 1 ? job_device_name(&scratch, job, job_ring_device(job, hop->to)) : "");
    add_numbers(out, link, sizeof link / sizeof *link);
    text_format(out, "%s\r\n", link_source_name(slowest->source));
    arena_free(&scratch);
}

void report_forecast_csv(const struct forecast *f, const struct job *job, struct text *out)
{
    text_add(out, "position,device,type,host,load_s,forward_s,first_backward_s,all_reduce_s,"
                  "device_s,step_s,next,bandwidth_Bps,latency_s,source\r\n");
    for (size_t i = 0; i < f->n_devices; i++)
        add_device(f, job, i, out);
}
