/* What every page begins and ends with: one file that loads nothing and runs nothing. */
#ifndef FORETRAIN_REPORT_PAGE_FRAME_H
#define FORETRAIN_REPORT_PAGE_FRAME_H

#include "base/text.h"

/* What <style> holds. */
void page_style(struct text *out);

/* Up to <main>. */
void page_open(struct text *out, const char *title);

/* From </main> on. */
void page_close(struct text *out);

#endif
