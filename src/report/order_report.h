/* What planning an order or a split found, as text and JSON. */
#ifndef FORETRAIN_REPORT_ORDER_REPORT_H
#define FORETRAIN_REPORT_ORDER_REPORT_H

#include "base/text.h"
#include "job/job.h"
#include "plan/order.h"

/* The listed order and the one found, the bound, the ring, and how to start it. */
void report_order_text(const struct order *order, const struct job *job, struct text *out);

/* foretrain.order/1 (docs/formats.md, "A ring order"). */
void report_order_json(const struct order *order, const struct job *job, struct text *out);

#endif
