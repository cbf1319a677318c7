#include "plan/ring_only.h"

#include "foretrain.h"

bool ring_only(const struct job *job, struct error *e)
{
    if (job->training.collective == FT_RING)
        return true;
    error_set(e, ERROR_INPUT,
              "%s: this is worked out for the ring only, and the job's collective is '%s'",
              job->file ? job->file : "job", ft_collective_name(job->training.collective));
    error_hint(e, "leave out training.collective to see what the ring makes of it");
    return false;
}
