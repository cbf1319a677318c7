/*
 * Each link is a talk of two processes. A server cannot be asked whether it listens yet, so the
 * client is started at once and again while it is refused; a server whose port is taken says so and
 * gets the next one. That holds for any launcher and costs no round trip to the host.
 */
#include "measure/bandwidth_round.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/file.h"
#include "base/random.h"
#include "base/text.h"
#include "measure/address.h"

static const double POLL_S = 0.02, RETRY_S = 0.1, LISTEN_LIMIT_S = 10;

struct talk {
    struct round_link *link;
    struct launched *server, *client;
    const char *server_output, *client_output;
    int port, n_ports;         /* the present one, and how many were tried */
    double server_s, client_s; /* when they were started; client_s 0: it waits for `retry_s` */
    double retry_s;
    bool done;
};

/* What server and client of a kind of talk are, and what the client's output says. */
struct method {
    size_t (*server)(const struct round_tools *, const struct talk *, struct arena *,
                     const char **argv);
    size_t (*client)(const struct round_tools *, const struct talk *, struct arena *,
                     const char **argv);
    bool (*read)(const char *output, struct round_link *link, struct error *e);
};

struct round {
    const struct round_tools *tools;
    const struct method *method;
    struct arena arena;
    struct talk *talk;        /* [n] */
    struct launched *process; /* [2 n], of each talk server and client */
    size_t n;
};

enum { MOST_WORDS = 16, MOST_PORTS = 8, FIRST_PORT = 20000, N_PORTS = 12000 };

static const char *port_text(struct arena *arena, const struct talk *talk)
{
    return arena_format(arena, "%d", talk->port);
}

static size_t fill_words(const char **argv, const char *const *word)
{
    size_t n = 0;
    for (; word[n]; n++)
        argv[n] = word[n];
    argv[n] = NULL;
    return n;
}

static size_t iperf3_server(const struct round_tools *tools, const struct talk *talk,
                            struct arena *arena, const char **argv)
{
    (void)tools;
    const char *const word[] = {
        "iperf3", "-s", "-1", "-B", talk->link->to_address, "-p", port_text(arena, talk), NULL};
    return fill_words(argv, word);
}

static size_t iperf3_client(const struct round_tools *tools, const struct talk *talk,
                            struct arena *arena, const char **argv)
{
    const char *duration = arena_format(arena, "%d", tools->duration_s);
    const char *const word[] = {"iperf3",
                                "-c",
                                talk->link->to_address,
                                "-B",
                                talk->link->from_address,
                                "-p",
                                port_text(arena, talk),
                                "--json",
                                "-t",
                                duration,
                                NULL};
    return fill_words(argv, word);
}

static bool read_iperf3(const char *output, struct round_link *link, struct error *e)
{
    if (!iperf3_read(output, &link->result, e))
        return false;
    iperf3_judge_cpus(&link->result, link->ends.from_cpus, link->ends.to_cpus);
    return true;
}

static size_t pingpong_server(const struct round_tools *tools, const struct talk *talk,
                              struct arena *arena, const char **argv)
{
    const char *const word[] = {
        "python3", "-c", tools->pingpong, "serve", talk->link->to_address, port_text(arena, talk),
        NULL};
    return fill_words(argv, word);
}

static size_t pingpong_client(const struct round_tools *tools, const struct talk *talk,
                              struct arena *arena, const char **argv)
{
    const char *const word[] = {"python3",
                                "-c",
                                tools->pingpong,
                                "ping",
                                talk->link->from_address,
                                talk->link->to_address,
                                port_text(arena, talk),
                                NULL};
    return fill_words(argv, word);
}

/* What stands behind a word; 0: nothing up to `most`. */
static double told(const char *output, const char *word, double most)
{
    const char *found = strstr(output, word);
    double value = found ? strtod(found + strlen(word), NULL) : 0;
    return value > 0 && value <= most ? value : 0;
}

static bool read_pingpong(const char *output, struct round_link *link, struct error *e)
{
    const double longest_s = 60;
    link->ends = (struct round_ends){.latency_s = told(output, "latency_s ", longest_s),
                                     .from_cpus = told(output, "from_cpus ", 1),
                                     .to_cpus = told(output, "to_cpus ", 1)};
    if (link->ends.latency_s > 0)
        return true;
    error_set(e, ERROR_HOST, "pingpong.py gave no latency");
    return false;
}

static const struct method by_iperf3 = {iperf3_server, iperf3_client, read_iperf3};
static const struct method by_pingpong = {pingpong_server, pingpong_client, read_pingpong};

static char *read_output(struct arena *arena, const char *path)
{
    enum { LIMIT = 8 << 20 };
    struct error ignored = {0};
    char *text = NULL;
    if (!file_read(arena, path, LIMIT, &text, NULL, &ignored))
        text = arena_copy(arena, "");
    error_clear(&ignored);
    return text;
}

static bool start(struct round *round, const char *host, const char *const *argv,
                  const char *output, struct launched *process, struct talk *talk)
{
    const struct launch launch = {.host = host, .argv = argv, .output = output};
    if (launcher_start(round->tools->launcher, &launch, process, &talk->link->why))
        return true;
    talk->done = true;
    return false;
}

static void start_client(struct round *round, struct talk *talk)
{
    const char *argv[MOST_WORDS];
    struct arena scratch = {0};
    round->method->client(round->tools, talk, &scratch, argv);
    talk->client_s = clock_now_s();
    start(round, talk->link->from, argv, talk->client_output, talk->client, talk);
    arena_free(&scratch);
}

static void start_both(struct round *round, struct talk *talk)
{
    const char *argv[MOST_WORDS];
    struct arena scratch = {0};
    round->method->server(round->tools, talk, &scratch, argv);
    talk->server_s = clock_now_s();
    if (start(round, talk->link->to, argv, talk->server_output, talk->server, talk))
        start_client(round, talk);
    arena_free(&scratch);
}

static void stop_both(struct talk *talk)
{
    launcher_stop(talk->server, 1);
    launcher_stop(talk->client, 1);
}

/* The last line that a program printed about an error, safe to show; NULL: none. */
static const char *last_words(struct arena *arena, const char *output)
{
    const char *found = NULL;
    for (const char *line = output; line && *line; line = strchr(line, '\n')) {
        line += *line == '\n';
        size_t length = strcspn(line, "\r\n");
        if (length > 0 && !strstr(line, "exiting") && line[0] != '-' && line[0] != '{')
            found = arena_copy_n(arena, line, length);
    }
    return found ? text_printable(arena, found, 0) : NULL;
}

static bool says_port_is_taken(const char *output)
{
    return strstr(output, "already in use") != NULL;
}

/* Words of old and new versions and of Python for a port where nobody listens. */
static bool says_refused(const char *output)
{
    return strstr(output, "refused") || strstr(output, "Bad file descriptor");
}

/* True where the server's port was taken; it is started with another one, if any are left. */
static bool passed_over_port(struct round *round, struct talk *talk)
{
    struct arena scratch = {0};
    bool taken = launcher_ended(talk->server) && talk->n_ports < MOST_PORTS &&
                 says_port_is_taken(read_output(&scratch, talk->server_output));
    arena_free(&scratch);
    if (!taken)
        return false;
    stop_both(talk);
    talk->port++;
    talk->n_ports++;
    start_both(round, talk);
    return true;
}

/* True where the client only came too early; it is started again soon. */
static bool came_too_early(struct talk *talk, const char *output)
{
    double now_s = clock_now_s();
    if (!says_refused(output) || launcher_ended(talk->server) ||
        now_s > talk->server_s + LISTEN_LIMIT_S)
        return false;
    launcher_stop(talk->client, 1);
    talk->client_s = 0;
    talk->retry_s = now_s + RETRY_S;
    return true;
}

static void fail(struct talk *talk, struct error *why)
{
    struct arena scratch = {0};
    const char *words = launcher_ended(talk->server)
                            ? last_words(&scratch, read_output(&scratch, talk->server_output))
                            : NULL;
    if (talk->client->lost || talk->server->lost)
        error_set(why, ERROR_HOST, "%s",
                  talk->client->lost ? talk->client->lost : talk->server->lost);
    else if (words && strstr(words, "error"))
        error_hint(why, "the server on %s said: %s", talk->link->to, words);
    talk->link->why = *why;
    *why = (struct error){0};
    talk->done = true;
    arena_free(&scratch);
}

static void hear_client(struct round *round, struct talk *talk)
{
    struct arena scratch = {0};
    struct error why = {0};
    const char *output = read_output(&scratch, talk->client_output);
    if (round->method->read(output, talk->link, &why))
        talk->done = true;
    else if (!passed_over_port(round, talk) && !came_too_early(talk, output))
        fail(talk, &why);
    error_clear(&why);
    arena_free(&scratch);
}

static double limit_s(const struct round *round)
{
    return round->tools->duration_s + round->tools->patience_s;
}

static void give_up(struct round *round, struct talk *talk)
{
    struct error why = {0};
    error_set(&why, ERROR_HOST, "the client on %s did not end within %.0f s", talk->link->from,
              limit_s(round));
    fail(talk, &why);
}

static void advance(struct round *round, struct talk *talk)
{
    double now_s = clock_now_s();
    if (talk->client_s == 0) {
        if (now_s >= talk->retry_s)
            start_client(round, talk);
    } else if (launcher_ended(talk->client)) {
        hear_client(round, talk);
    } else if (now_s > talk->client_s + limit_s(round)) {
        give_up(round, talk);
    } else if (launcher_ended(talk->server)) {
        passed_over_port(round, talk);
    }
}

static bool all_done(const struct round *round)
{
    for (size_t i = 0; i < round->n; i++) {
        if (!round->talk[i].done)
            return false;
    }
    return true;
}

static void prepare(struct round *round, struct round_link *link)
{
    struct random random = random_seed((uint64_t)getpid(), (uint64_t)(clock_now_s() * 1e6));
    for (size_t i = 0; i < round->n; i++) {
        const char *folder = round->tools->folder;
        int port = round->tools->first_port ? round->tools->first_port
                                            : FIRST_PORT + (int)random_below(&random, N_PORTS);
        error_clear(&link[i].why);
        round->talk[i] = (struct talk){
            .link = &link[i],
            .server = &round->process[2 * i],
            .client = &round->process[2 * i + 1],
            .server_output = arena_format(&round->arena, "%s/server%zu.out", folder, i),
            .client_output = arena_format(&round->arena, "%s/client%zu.out", folder, i),
            .port = port,
            .n_ports = 1,
        };
    }
}

static void finish(struct round *round)
{
    launcher_stop(round->process, 2 * round->n);
    for (size_t i = 0; i < round->n; i++) {
        unlink(round->talk[i].server_output);
        unlink(round->talk[i].client_output);
    }
    arena_free(&round->arena);
}

static bool run(const struct round_tools *tools, const struct method *method,
                struct round_link *link, size_t n, struct error *e)
{
    struct round round = {.tools = tools, .method = method, .n = n};
    round.talk = ARENA_ARRAY(&round.arena, n, struct talk);
    round.process = ARENA_ARRAY(&round.arena, 2 * n, struct launched);
    prepare(&round, link);
    bool cancelled = progress_cancelled(tools->progress, e);
    for (size_t i = 0; i < n && !cancelled; i++) {
        start_both(&round, &round.talk[i]);
        cancelled = progress_cancelled(tools->progress, e);
    }
    while (!cancelled && !all_done(&round)) {
        for (size_t i = 0; i < n; i++) {
            if (!round.talk[i].done)
                advance(&round, &round.talk[i]);
        }
        clock_sleep(POLL_S);
        cancelled = progress_cancelled(tools->progress, e);
    }
    finish(&round);
    return !cancelled;
}

bool round_bandwidth(const struct round_tools *tools, struct round_link *link, size_t n,
                     struct error *e)
{
    return run(tools, &by_iperf3, link, n, e);
}

static bool latency_here(const struct round_tools *tools, struct round_link *link, size_t n,
                         struct error *e)
{
    for (size_t i = 0; i < n; i++) {
        error_clear(&link[i].why);
        address_latency(link[i].from_address, link[i].to_address, &link[i].ends.latency_s,
                        &link[i].why);
        if (progress_cancelled(tools->progress, e))
            return false;
    }
    return true;
}

bool round_latency(const struct round_tools *tools, struct round_link *link, size_t n,
                   struct error *e)
{
    if (launcher_is_local(tools->launcher))
        return latency_here(tools, link, n, e);
    return !tools->pingpong || run(tools, &by_pingpong, link, n, e);
}
