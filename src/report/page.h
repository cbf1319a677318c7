/* The sections of a run's page, in their order; each is said in words, drawn, and listed. */
#ifndef FORETRAIN_REPORT_PAGE_H
#define FORETRAIN_REPORT_PAGE_H

#include "base/units.h"
#include "report/html.h"
#include "report/page_frame.h"
#include "report/report.h"
#include "report/svg.h"

struct page {
    const struct run_report *run;
    struct arena *arena; /* for texts on the way */
    struct text *out;
};

void page_forecast(const struct page *page);
void page_step(const struct page *page);
void page_timeline(const struct page *page);
void page_network(const struct page *page);
void page_scaling(const struct page *page);
void page_truth(const struct page *page);
void page_samples(const struct page *page);
void page_model(const struct page *page);
void page_assumptions(const struct page *page);
void page_again(const struct page *page);

void page_section(const struct page *page, const char *id, const char *title);
void page_section_end(const struct page *page);

/* A paragraph. */
__attribute__((format(printf, 2, 3))) void page_say(const struct page *page, const char *format,
                                                    ...);

/* A quantity for people, in the page's arena. */
const char *page_unit(const struct page *page, double value, enum dimension dimension);
const char *page_time(const struct page *page, double seconds);
const char *page_duration(const struct page *page, double seconds);
const char *page_count(const struct page *page, double count);
const char *page_error(const struct page *page, double relative); /* "+4.1 %" */

/* What colours stand for: pairs of a class and a word, ended by NULL. */
void page_legend(const struct page *page, const char *const *entry);

/* Name of the device at a ring position. */
const char *page_device(const struct page *page, size_t position);

/* Ticks of time from 0 to `range_s` over the whole width, down to `bottom`, numbers below it. */
void page_time_axis(const struct page *page, double range_s, double top, double bottom);

#endif
