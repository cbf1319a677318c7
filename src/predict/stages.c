/* A profile as the closed form reads it: stages become L, F and B1, and what is odd is said. */
#include "predict/parts.h"

#include <math.h>
#include <string.h>

#include "base/text.h"
#include "base/units.h"
#include "predict/type_steps.h"

static bool stage_is_known(const struct profile *profile, enum stage stage)
{
    const struct samples *s = &profile->stage[stage];
    return s->known && isfinite(s->stats.mean) && s->stats.mean >= 0;
}

static double mean_of(const struct profile *profile, enum stage stage)
{
    return stage_is_known(profile, stage) ? profile->stage[stage].stats.mean : 0;
}

static bool loader_was_seen(const struct profile *profile)
{
    return profile->loader_workers >= 0 || stage_is_known(profile, STAGE_LOADER_INTERVAL);
}

/* A trace cannot tell it: then the wait for data takes its place. */
static bool interval_is_unknown(const struct profile *profile)
{
    return !stage_is_known(profile, STAGE_LOADER_INTERVAL) &&
           profile_why_unknown(profile, stage_key(STAGE_LOADER_INTERVAL));
}

static bool stage_is_needed(const struct profile *profile, enum stage stage)
{
    switch (stage) {
    case STAGE_FORWARD:
    case STAGE_FIRST_BACKWARD:
        return true;
    case STAGE_LOADER_INTERVAL:
        return loader_was_seen(profile) && !interval_is_unknown(profile);
    case STAGE_WAIT:
        return interval_is_unknown(profile);
    case STAGE_COPY:
        return loader_was_seen(profile);
    case STAGE_BACKWARD_UNSYNCED:
        return profile->micro_batches > 1;
    default:
        return false;
    }
}

/* Each reason once: " (no mark of forward)". */
static void add_why(const struct profile *profile, const char *what, struct text *why)
{
    const char *reason = profile_why_unknown(profile, what);
    if (reason && !(why->data && strstr(why->data, reason)))
        text_format(why, " (%s)", reason);
}

static bool check_stages(const struct job *job, int type, const struct profile *profile,
                         struct error *e)
{
    struct text missing = {0}, why = {0};
    for (int s = 0; s < N_STAGES; s++) {
        enum stage stage = (enum stage)s;
        if (!stage_is_needed(profile, stage) || stage_is_known(profile, stage))
            continue;
        text_format(&missing, "%s%s", missing.length ? ", " : "", stage_key(stage));
        add_why(profile, stage_key(stage), &why);
    }
    if (!missing.length)
        return true;
    error_set(e, ERROR_INPUT, "profile %s of device type '%s' does not hold %s%s", profile->file,
              job->type[type].name, missing.data, why.data ? why.data : "");
    error_hint(e, "measure the type again, or write the mean in seconds into the profile");
    text_free(&missing);
    text_free(&why);
    return false;
}

static bool check_batch(const struct job *job, int type, const struct profile *profile,
                        struct error *e)
{
    const struct job_device_type *t = &job->type[type];
    bool counts = isfinite(profile->micro_batches) && profile->micro_batches > 0;
    if (profile->batch == (double)t->batch && counts)
        return true;
    struct place place = forecast_place(job, type);
    if (!counts)
        error_at(e, &place, "profile %s has %g micro-batches in a step; expected 1 or more",
                 profile->file, profile->micro_batches);
    else if (profile->batch > 0)
        error_at(e, &place,
                 "profile %s was made with batch %g, but device type '%s' has batch %lld",
                 profile->file, profile->batch, t->name, (long long)t->batch);
    else
        error_at(e, &place, "profile %s does not hold the batch it was made with; '%s' has %lld",
                 profile->file, t->name, (long long)t->batch);
    if (profile_why_unknown(profile, "batch"))
        error_hint(e, "import it again with --batch");
    else
        error_hint(e,
                   "measure the type with the job's batch (`foretrain measure`), or give profiles "
                   "of two other batches");
    return false;
}

struct ft_device_type forecast_device_type(const struct type_forecast *type)
{
    return (struct ft_device_type){.load_s = type->load_s,
                                   .forward_s = type->forward_s + type->unsynced_s,
                                   .first_backward_s = type->first_backward_s};
}

/* The loader's interval is that of one mini-batch, the copy that of a step. */
static double load_time(const struct profile *profile)
{
    if (!loader_was_seen(profile))
        return 0;
    return type_loading_s(profile) + mean_of(profile, STAGE_COPY);
}

bool forecast_stages(const struct job *job, int type, const struct profile *profile,
                     struct type_forecast *out, struct error *e)
{
    if (!check_batch(job, type, profile, e) || !check_stages(job, type, profile, e))
        return false;
    out->name = job->type[type].name;
    out->count = job->type[type].count;
    out->assumed = profile->assumed;
    out->fit = profile->fit;
    out->batch = profile->batch * profile->micro_batches;
    out->load_s = load_time(profile);
    out->forward_s = mean_of(profile, STAGE_FORWARD);
    out->unsynced_s = mean_of(profile, STAGE_BACKWARD_UNSYNCED);
    out->first_backward_s = mean_of(profile, STAGE_FIRST_BACKWARD);
    out->ring_devices = profile->one_ring ? profile->ring_devices : profile->n_devices;
    out->loading_in_step = profile->loader_workers == 0;
    return true;
}

/* A measurement that read from memory says little about storage. */
static void warn_of_page_cache(const char *name, const struct profile *profile,
                               struct warnings *warnings)
{
    const double mostly = 0.5;
    char read[UNITS_TEXT_SIZE], taken[UNITS_TEXT_SIZE];
    double taken_bytes = profile->batch * profile->micro_batches * profile->sample_bytes;
    if (profile->bytes_read < 0 || profile->bytes_read >= mostly * taken_bytes)
        return;
    warn_of(warnings, name,
            "of the %s that a step takes from the training set, %s came from storage, the rest "
            "from memory; loading may be slower where the set does not fit into memory.",
            units_format(taken_bytes, DIMENSION_BYTES, taken),
            units_format(profile->bytes_read, DIMENSION_BYTES, read));
}

/* The interface's counters also see headers, acknowledgements and everybody else. */
static void warn_of_other_traffic(const char *name, const struct profile *profile,
                                  struct warnings *warnings)
{
    const double much = 0.1;
    char counted[UNITS_TEXT_SIZE], sent[UNITS_TEXT_SIZE];
    double odd = profile->interface_bytes / profile->bytes_sent - 1;
    if (!profile->bytes_measured || !(profile->bytes_sent > 0) || !(profile->interface_bytes > 0) ||
        fabs(odd) <= much)
        return;
    warn_of(warnings, name,
            "the interface sent %s a device and step, %+.0f %% off the %s that the training's "
            "sockets sent for all-reduce: %s.",
            units_format(profile->interface_bytes, DIMENSION_BYTES, counted), 100 * odd,
            units_format(profile->bytes_sent, DIMENSION_BYTES, sent),
            odd > 0 ? "other traffic shared it" : "some went another way");
}

/* What whoever measured it wrote down for the reader of a forecast. */
static void pass_on_notes(const char *name, const struct profile *profile,
                          struct warnings *warnings)
{
    for (size_t i = 0; i < profile->n_notes; i++) {
        const char *note = profile->note_line[i];
        bool ended = *note && strchr(".!?", note[strlen(note) - 1]);
        warn_of(warnings, name, "%s%s", note, ended ? "" : ".");
    }
}

void forecast_warn_profile(const struct job *job, int type, const struct profile *profile,
                           struct warnings *warnings)
{
    const char *name = job->type[type].name;
    char wait[UNITS_TEXT_SIZE];
    if (profile->device_type && strcmp(profile->device_type, name) != 0)
        warn_of(warnings, name, "the profile %s is that of a device type '%s'.", profile->file,
                profile->device_type);
    if (profile->assumed)
        warn_of(warnings, name, "the profile is assumed, nobody measured it.");
    if (profile->shares_host && profile->n_devices > 1 && !profile->assumed)
        warn_of(warnings, name,
                "the devices of the sub-system share a host, so the wire between hosts was not "
                "measured.");
    if (!profile->bytes_measured && profile->n_devices > 1 && !profile->assumed)
        warn_of(warnings, name,
                "the bytes sent were computed from the gradients' buckets, not measured.");
    warn_of_other_traffic(name, profile, warnings);
    warn_of_page_cache(name, profile, warnings);
    if (!loader_was_seen(profile))
        warn_of(warnings, name, "no data loader was seen; loading counts as 0 s.");
    else if (interval_is_unknown(profile))
        warn_of(warnings, name,
                "what the loader could deliver is not known; the wait for data, %s a step, counts "
                "as loading, of which it is a lower bound.",
                units_format(type_loading_s(profile), DIMENSION_TIME, wait));
    pass_on_notes(name, profile, warnings);
}
