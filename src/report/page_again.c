/* How to come to the same page again. */
#include "base/quote.h"
#include "report/page.h"

static const char *shown(const struct page *page, const char *text)
{
    enum { MOST = 80 };
    return text ? html_short(page->arena, text, MOST) : "not known";
}

static void add_commands(const struct page *page)
{
    struct arena *arena = page->arena;
    const char *run = quote_word(arena, page->run->run_path);
    const char *model = page->run->forecast->timeline.known || page->run->forecast->timeline.why_not
                            ? ""
                            : " --model closed-form";
    text_add(page->out, "<pre>");
    html_lines(page->out,
               arena_format(arena, "foretrain predict%s --run %s %s\nforetrain report%s %s\n",
                            model, run, quote_word(arena, page->run->job_path), model, run));
    text_add(page->out, "</pre>\n");
}

static void list_profiles(const struct page *page)
{
    static const char *const head[] = {"Profile",     "Measured", "Device", "Framework",
                                       "#Sub-system", "Backend",  NULL};
    html_table_open(page->out, "By foretrain " FT_VERSION ", from", head);
    for (int t = 0; t < page->run->job->n_types; t++) {
        const struct profile *p = &page->run->profile[t];
        html_row_open(page->out);
        html_cell(page->out, "%s", page->run->job->type[t].name);
        html_cell(page->out, "%s", p->assumed ? "no: assumed" : shown(page, p->date));
        html_cell(page->out, "%s", shown(page, p->device_name));
        html_cell(page->out, "%s", shown(page, p->framework));
        html_number(page->out, "%d", p->n_devices);
        html_cell(page->out, "%s", shown(page, p->backend));
        html_row_close(page->out);
    }
    html_table_close(page->out);
}

void page_again(const struct page *page)
{
    page_section(page, "again", "How to make it again");
    add_commands(page);
    list_profiles(page);
    page_say(page,
             "The job file is not in here, since the environment that it gives its training may be "
             "nobody else's business: it is kept in the run's folder.");
    page_section_end(page);
}
