#include "report/csv_values.h"

#include <string.h>

void csv_add_text(struct text *out, const char *name)
{
    struct arena scratch = {0};
    const char *lead = *name && strchr("=+-@\t\r", *name) ? "'" : "";
    const char *text = arena_format(&scratch, "%s%s", lead, text_printable(&scratch, name, 0));
    bool plain = !strpbrk(text, ",\"\r\n");
    if (!plain)
        text_add(out, "\"");
    for (; *text; text++) {
        if (*text == '"')
            text_add(out, "\"");
        text_add_n(out, text, 1);
    }
    text_add(out, plain ? "," : "\",");
    arena_free(&scratch);
}
