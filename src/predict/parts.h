/* The steps of a forecast, in the order in which forecast.c takes them. */
#ifndef FORETRAIN_PREDICT_PARTS_H
#define FORETRAIN_PREDICT_PARTS_H

#include "predict/forecast.h"
#include "predict/warnings.h"

/* The place of a device type in the job, for error_at. */
struct place forecast_place(const struct job *job, int type);

/*
 * What the closed form needs of one type, out of its profile: L, F, accumulation's backward, B1,
 * samples of a step. Fails naming the stages that the profile does not hold, or the batch that is
 * not the job's.
 */
bool forecast_stages(const struct job *job, int type, const struct profile *profile,
                     struct type_forecast *out, struct error *e);

/* Makes a type's own step one of the whole ring: what a device sends, and the step's other
 * collectives. */
void forecast_set_whole(const struct type_forecast *forecast, struct ft_timeline_type *type);

/* What must be known about those numbers. */
void forecast_warn_profile(const struct job *job, int type, const struct profile *profile,
                           struct warnings *warnings);

/* Links of the ring whose value is a lower bound, or what the ring leaves of a shared uplink. */
void forecast_warn_links(struct arena *arena, const struct job *job,
                         const struct forecast *forecast, struct warnings *warnings);

/* Where the network file lacks a device of the job and has a name that is none of the job's. */
void forecast_warn_strangers(struct arena *arena, const struct job *job,
                             const struct network *network, struct warnings *warnings);

/* `sample_bytes`, by which bytes and samples meet. */
void forecast_sample_size(const struct job *job, const struct profile *profile,
                          struct forecast *forecast);

/*
 * `storage_s`, from a forecast that has its types' stages and sample size. Fails where that size is
 * not known.
 */
bool forecast_storage(const struct job *job, const struct profile *profile,
                      struct forecast *forecast, struct warnings *warnings, struct error *e);

/*
 * S of the full ring, from `bytes_sent` and `payload_bytes` that it sets in `type` [n_types]. Fails
 * where no sub-system has bytes or two differ by more than 1 %.
 */
bool forecast_payload(const struct job *job, const struct profile *profile,
                      struct type_forecast *type, double *payload_bytes, struct warnings *warnings,
                      struct error *e);

/*
 * The job's collective: its stages, hops and their links, into `collective_name` to `slowest_hop`.
 * Fails where the devices do not suit it, or naming the links that have no value.
 */
bool forecast_collective(struct arena *arena, const struct job *job, const struct network *network,
                         struct forecast *forecast, struct error *e);

/* What it takes each device where all begin at once, `time_s` [n_devices]; not for the ring. */
bool forecast_collective_times(struct arena *arena, const struct job *job,
                               const struct forecast *forecast, double *time_s, struct error *e);

/* The closed form over the job's devices, into `device` and `closed_form`, from a forecast that has
 * its types' stages, its collective and links. */
bool forecast_closed_form(struct arena *arena, const struct job *job, struct forecast *forecast,
                          struct error *e);

/*
 * A link as the library takes it, from a device that sends `idle_Bps` at the most, INFINITY where
 * that is not known: a link of which only a lower bound is known takes as much.
 */
struct ft_link forecast_as_link(const struct link *link, double idle_Bps);

/*
 * The timeline's step, and what decides it, from a forecast that has its types' stages, links and
 * closed form; `timeline.why_not` where it is not known. Each type's own sub-system as well.
 */
bool forecast_timeline(struct arena *arena, const struct job *job, const struct profile *profile,
                       const struct network *network, struct forecast *forecast,
                       struct warnings *warnings, struct error *e);

/* Each sub-system's own step, by the forecast's model, and measured. */
void forecast_self(struct arena *arena, const struct job *job, const struct profile *profile,
                   const struct network *network, struct forecast *forecast,
                   struct warnings *warnings);

/* Epoch, total and throughput, from a forecast that has its step and sample size. */
bool forecast_epoch(struct arena *arena, const struct job *job, struct forecast *forecast,
                    struct warnings *warnings, struct error *e);

/* Type and ring of the closed form, out of a type's forecast. */
struct ft_device_type forecast_device_type(const struct type_forecast *type);

#endif
