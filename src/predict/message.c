#include "predict/message.h"

#include "predict/refuse.h"

bool message_check_curve(const struct ft_link *link, char *message)
{
    struct ft_message before = {0, 0};
    if (link->n_curve && !link->curve)
        return refuse(message, "a curve of %zu points needs them", link->n_curve);
    for (size_t i = 0; i < link->n_curve; i++) {
        struct ft_message p = link->curve[i];
        bool rises = p.bytes > before.bytes && p.time_s > 0 && p.time_s >= before.time_s;
        if (!rises || !isfinite(p.bytes) || !isfinite(p.time_s))
            return refuse(message,
                          "point %zu of a curve must have more bytes than the one before, and a "
                          "time above 0 that is not less (got %g bytes, %g s)",
                          i, p.bytes, p.time_s);
        before = p;
    }
    return true;
}
