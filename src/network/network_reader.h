/* What the two readers of network files, list and matrix, share. */
#ifndef FORETRAIN_NETWORK_NETWORK_READER_H
#define FORETRAIN_NETWORK_NETWORK_READER_H

#include "base/units.h"
#include "network/network.h"
#include "network/table.h"

enum { NETWORK_MOST_ERRORS = 20 };

/* Each reads the whole table; errors of its cells are in `errors`, at most NETWORK_MOST_ERRORS. */
void network_read_list(struct arena *arena, const struct table *table, struct network *network,
                       struct error_list *errors);
void network_read_matrix(struct arena *arena, const struct table *table, struct network *network,
                         struct error_list *errors);

/* A rate above 0; a bare number is in `unit` ("" or NULL: none was named). */
bool network_read_rate(const struct table *table, const struct row *row, size_t cell,
                       const char *unit, double *bandwidth_Bps, struct error *e);

/* A time of 0 or more; an empty cell is 0. */
bool network_read_latency(const struct table *table, const struct row *row, size_t cell,
                          const char *unit, double *latency_s, struct error *e);

/*
 * The unit that a column's name carries behind `quantity` and '_': "bandwidth_Gbit_s" -> "Gbit/s";
 * "" for the bare name. NULL where the name is not the quantity, or not with a known unit.
 */
const char *network_column_unit(struct arena *arena, const char *name, const char *quantity,
                                enum dimension dimension);

/* An empty network over `name[n]`, which it sorts and rids of repetitions. */
bool network_over(struct arena *arena, const struct table *table, const char **name, size_t n,
                  struct network *network, struct error *e);

/* Adds an error; false when there are enough. */
bool network_note_error(struct error_list *errors, struct error *e);

#endif
