/* Profiles that follow from profiles. */
#include "profile/profile.h"

struct samples samples_times(struct arena *arena, const struct samples *samples, double factor)
{
    struct samples made = *samples;
    made.stats.mean *= factor;
    made.stats.sd *= factor;
    made.stats.min *= factor;
    made.stats.max *= factor;
    if (samples->value)
        made.value = ARENA_ARRAY(arena, samples->stats.n, double);
    for (size_t k = 0; samples->value && k < samples->stats.n; k++)
        made.value[k] = samples->value[k] * factor;
    return made;
}

void profile_add_note(struct arena *arena, struct profile *profile, const char *note)
{
    const char **line = ARENA_ARRAY(arena, profile->n_notes + 1, const char *);
    for (size_t i = 0; i < profile->n_notes; i++)
        line[i] = profile->note_line[i];
    line[profile->n_notes++] = note;
    profile->note_line = line;
}
