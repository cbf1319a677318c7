/* Cells of CSV (RFC 4180) that are safe to open in a spreadsheet. */
#ifndef FORETRAIN_REPORT_CSV_VALUES_H
#define FORETRAIN_REPORT_CSV_VALUES_H

#include "base/text.h"

/* A text and the comma behind it; what a spreadsheet would run as a formula gets an apostrophe in
 * front. */
void csv_add_text(struct text *out, const char *text);

#endif
