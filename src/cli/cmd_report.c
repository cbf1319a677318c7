/* `foretrain report`: a run as one page. */
#include <sys/stat.h>

#include "base/file.h"
#include "cli/command.h"
#include "cli/run_page.h"
#include "cli/workspace.h"

static bool open_run(struct workspace *w, const struct options *options, struct error *e)
{
    struct stat st;
    const char *path = options->args[0];
    if (stat(path, &st) == 0 && S_ISDIR(st.st_mode))
        return workspace_open_run(w, path, options, e);
    return workspace_open(w, options, e);
}

static bool write_page(struct workspace *w, const struct options *options, const struct text *page,
                       struct error *e)
{
    if (options->output)
        return workspace_print(options, page, e);
    const char *path = workspace_path(w, "report.html");
    if (!file_make_folders(w->run, e) || !file_write(path, page->data, page->length, e))
        return false;
    progress_say(&w->progress, "Report: %s", path);
    return true;
}

static bool run(const struct options *options, struct error *e)
{
    struct workspace w = {0};
    struct forecast forecast;
    struct text page = {0};
    bool ok = open_run(&w, options, e) && workspace_forecast(&w, &forecast, e) &&
              run_page_make(&w, &forecast, &page, e) && write_page(&w, options, &page, e);
    text_free(&page);
    workspace_close(&w);
    return ok;
}

const struct command command_report = {
    .name = "report",
    .args = "RUN",
    .summary = "One HTML page of a run: the forecast, its pictures, what it rests on",
    .help = "RUN is the folder of a run, or its JOB. The page is report.html in the run's folder "
            "unless -o names another file. It opens in any browser, loads nothing and runs "
            "nothing.",
    .accepts = OPTION_RUN | OPTION_QUIET | OPTION_OUTPUT | OPTION_MODEL,
    .min_args = 1,
    .max_args = 1,
    .run = run,
};
