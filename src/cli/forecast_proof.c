#include "cli/forecast_proof.h"

#include <string.h>

#include "base/text.h"
#include "report/report.h"

static const char file_name[] = "forecast.json";

/* The date is the document's first member. */
static const char lead[] = "{\n  \"written_at\": \"";

/* The members behind the date, as every forecast has them. */
static const char *members_of(const char *json)
{
    return json + strlen("{\n");
}

/* What the document in a file says behind its date, and its date; NULL where it is none of ours. */
static const char *read_members(struct arena *arena, const char *path, char *written)
{
    enum { LARGEST = 1 << 28 };
    struct error none = {0};
    char *text = NULL;
    bool ok = file_exists(path) && file_read(arena, path, LARGEST, &text, NULL, &none);
    error_clear(&none);
    if (!ok || strncmp(text, lead, strlen(lead)) != 0)
        return NULL;
    const char *date = text + strlen(lead), *end = strstr(date, "\",\n");
    if (!end || end - date >= CLOCK_DATE_SIZE)
        return NULL;
    memcpy(written, date, (size_t)(end - date));
    written[end - date] = '\0';
    return end + strlen("\",\n");
}

static bool write_dated(const char *path, const char *members, char *written, struct error *e)
{
    struct text text = {0};
    clock_date(written);
    text_format(&text, "%s%s\",\n%s", lead, written, members);
    bool ok = file_write(path, text.data, text.length, e);
    text_free(&text);
    return ok;
}

static bool write_hash(struct arena *arena, const char *folder, struct forecast_proof *proof,
                       struct error *e)
{
    if (!file_hash(path_join(arena, folder, file_name), proof->sha256, e))
        return false;
    const char *line = arena_format(arena, "%s  %s\n", proof->sha256, file_name);
    return file_write(path_join(arena, folder, "forecast.sha256"), line, strlen(line), e);
}

bool forecast_proof_write(struct arena *arena, const char *folder, const struct forecast *forecast,
                          struct forecast_proof *proof, struct error *e)
{
    struct text json = {0};
    const char *path = path_join(arena, folder, file_name);
    report_forecast_json(forecast, &json);
    const char *now = members_of(json.data), *then = read_members(arena, path, proof->written);
    bool same = then && strcmp(now, then) == 0;
    bool ok =
        (same || write_dated(path, now, proof->written, e)) && write_hash(arena, folder, proof, e);
    text_free(&json);
    return ok;
}
