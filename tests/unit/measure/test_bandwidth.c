/*
 * Measuring links in rounds, with a launcher whose hosts are addresses of the loopback and a shell
 * script as iperf3 that does what a file for the link says; and with the real one on this machine.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <dirent.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/file.h"
#include "base/text.h"
#include "measure/bandwidth.h"
#include "measure/launcher_kind.h"

/* "RATE TOGETHER": in Mbit/s, alone and while more than two clients run. */
static const char iperf3_text[] =
    "#!/bin/sh\n"
    "cd \"$(dirname \"$0\")\"\n"
    "role=server\n"
    "while [ $# -gt 0 ]; do case $1 in\n"
    "-c) role=client; to=$2; shift;; -B) from=$2; shift;; -p) port=$2; shift;;\n"
    "esac; shift; done\n"
    "if [ $role = server ]; then\n"
    "  grep -qx $port taken 2>/dev/null && { echo 'iperf3: error - unable to start listener for "
    "connections: Address already in use'; echo 'iperf3: exiting'; exit 1; }\n"
    "  [ -f noserver ] && { echo 'iperf3: error - no \033[2Jway'; exit 1; }\n"
    "  echo $port >> ports\n"
    "  exec sleep 60\n"
    "fi\n"
    "link=$from-$to\n"
    "echo start $link >> log\n"
    "read rule together < $link || rule=100\n"
    "sleep 0.1\n"
    "[ \"$together\" ] && [ $(ls running.* 2>/dev/null | wc -l) -gt 2 ] && rule=$together\n"
    "case $rule in\n"
    "hang) exec sleep 60;;\n"
    "garbage) echo 'what \033[2Jis this';;\n"
    "early) echo 50 > $link; echo '{\"error\":\"unable to connect to server: Connection "
    "refused\"}';;\n"
    "refused) echo '{\"error\":\"unable to connect to server: No route to host\"}';;\n"
    "once) echo 70 > $link; echo '{\"error\":\"the server is busy\"}';;\n"
    "bound*) echo '{\"end\":{\"sum_received\":{\"bits_per_second\":9e9},"
    "\"cpu_utilization_percent\":{\"host_total\":99,\"remote_total\":20}}}';;\n"
    "*) touch running.$$; sleep 0.3; n=$(ls running.* | wc -l)\n"
    "   [ \"$together\" ] && [ $n -gt 2 ] && rule=$together\n"
    "   sleep 0.3; rm running.$$\n"
    "   echo '{\"end\":{\"sum_received\":{\"bits_per_second\":'$rule'e6}}}';;\n"
    "esac\n"
    "echo end $link >> log\n";

/* Ring n1 n2 n3 n4, with sub-systems n1 n2 and n3 n4. */
static const char job_text[] = "devices:\n"
                               "  a: {count: 2, batch: 1, hosts: [n1, n2], allow_full: true}\n"
                               "  b: {count: 2, batch: 1, hosts: [n3, n4], allow_full: true}\n";

struct fixture {
    struct arena arena;
    struct error e;
    struct text said;
    char folder[64];
    struct job job;
    struct progress progress;
    struct bandwidth_options options;
    struct launcher launcher;
    struct network network;
};

static volatile sig_atomic_t cancel;

/* Host nK is 127.0.1.K; "twin" is n1 by another name. */
static bool address_fake(struct launcher *launcher, const char *host, char *address,
                         struct error *e)
{
    (void)launcher;
    (void)e;
    snprintf(address, LAUNCHER_ADDRESS_SIZE, "127.0.1.%s",
             strcmp(host, "twin") == 0 ? "1" : host + 1);
    return true;
}

static size_t reach_fake(struct launcher *launcher, const char *const *host, size_t n,
                         struct error *why)
{
    (void)launcher;
    size_t n_lost = 0;
    for (size_t i = 0; i < n; i++) {
        if (strcmp(host[i], "n9") != 0)
            continue;
        error_set(&why[i], ERROR_HOST, "host 'n9' does not answer");
        n_lost++;
    }
    return n_lost;
}

static void tell(void *self, const char *text)
{
    struct fixture *f = self;
    text_format(&f->said, "%s\n", text);
}

static char *in_folder(struct fixture *f, const char *name)
{
    return path_join(&f->arena, f->folder, name);
}

static void write_file(struct fixture *f, const char *name, const char *content)
{
    assert_true(file_write(in_folder(f, name), content, strlen(content), &f->e));
}

static char *read_text(struct fixture *f, const char *name)
{
    char *text = NULL;
    if (!file_read(&f->arena, in_folder(f, name), 1 << 20, &text, NULL, &f->e))
        fail_msg("%s", f->e.text);
    return text;
}

static void read_job(struct fixture *f, const char *text)
{
    f->job = (struct job){0};
    if (!job_parse(&f->arena, text, strlen(text), "job.yaml", ".", &f->job, &f->e))
        fail_msg("%s", f->e.text);
    f->job.launcher.kind = LAUNCHER_SSH;
}

static int set_up(void **state)
{
    static struct launcher_kind_functions kind;
    struct fixture *f = calloc(1, sizeof *f);
    strcpy(f->folder, "/tmp/foretrain-bandwidth-XXXXXX");
    assert_non_null(mkdtemp(f->folder));
    write_file(f, "iperf3", iperf3_text);
    assert_int_equal(chmod(in_folder(f, "iperf3"), 0700), 0);
    setenv("PATH", arena_format(&f->arena, "%s:/usr/bin:/bin", f->folder), 1);
    assert_true(file_make_folders(in_folder(f, "out"), &f->e));
    kind = launcher_local;
    kind.name = "fake";
    kind.reach = reach_fake;
    kind.address = address_fake;
    cancel = 0;
    f->progress = (struct progress){f, tell, tell, NULL, &cancel};
    read_job(f, job_text);
    f->launcher = (struct launcher){.kind = &kind, .job = &f->job, .progress = &f->progress};
    f->options = (struct bandwidth_options){.duration_s = 1,
                                            .patience_s = 20,
                                            .file = in_folder(f, "network.csv"),
                                            .folder = in_folder(f, "out")};
    *state = f;
    return 0;
}

static int tear_down(void **state)
{
    struct fixture *f = *state;
    error_clear(&f->e);
    file_remove_tree(f->folder, &f->e);
    error_clear(&f->e);
    text_free(&f->said);
    arena_free(&f->arena);
    free(f);
    return 0;
}

static bool measure(struct fixture *f)
{
    return bandwidth_measure(&f->arena, &f->job, &f->options, &f->launcher, &f->progress,
                             &f->network, &f->e);
}

static void measure_well(struct fixture *f)
{
    if (!measure(f))
        fail_msg("%s", f->e.text);
}

static void assert_says(const char *text, const char *part)
{
    if (!text || !strstr(text, part))
        fail_msg("'%s' is not in:\n%s", part, text ? text : "");
}

/* Of the file as written, not filled in. */
static struct link link_between(struct fixture *f, const char *from, const char *to)
{
    struct network network = {0};
    if (!network_read(&f->arena, in_folder(f, "network.csv"), &network, &f->e))
        fail_msg("%s", f->e.text);
    long i = network_find(&network, from), j = network_find(&network, to);
    assert_true(i >= 0 && j >= 0);
    return network.link[(size_t)i * network.n + (size_t)j];
}

static void assert_rate(struct fixture *f, const char *from, const char *to, double mbit_per_s)
{
    struct link link = link_between(f, from, to);
    double got = link.bandwidth_Bps * 8e-6;
    if (link.source != LINK_MEASURED || got < mbit_per_s * 0.999 || got > mbit_per_s * 1.001)
        fail_msg("%s -> %s: %g Mbit/s, %s", from, to, got, link_source_word(&link));
}

static size_t count_starts(struct fixture *f)
{
    size_t n = 0;
    if (!file_exists(in_folder(f, "log")))
        return 0;
    for (const char *at = read_text(f, "log"); (at = strstr(at, "start ")); at++)
        n++;
    return n;
}

/* Of the log: the most links at once, and that no host is in two of them. */
static size_t check_log(struct fixture *f)
{
    size_t at_once = 0, most = 0;
    int busy[16] = {0};
    char *rest = NULL;
    for (char *line = strtok_r(read_text(f, "log"), "\n", &rest); line;
         line = strtok_r(NULL, "\n", &rest)) {
        char word[16];
        int from = 0, to = 0;
        assert_int_equal(sscanf(line, "%15s 127.0.1.%d-127.0.1.%d", word, &from, &to), 3);
        bool starts = strcmp(word, "start") == 0;
        assert_int_equal(busy[from], starts ? 0 : 1);
        assert_int_equal(busy[to], starts ? 0 : 1);
        busy[from] = busy[to] = starts;
        at_once += starts ? 1 : (size_t)-1;
        most = at_once > most ? at_once : most;
    }
    return most;
}

static void measures_the_ring_and_the_subsystems_with_no_host_twice_at_once(void **state)
{
    struct fixture *f = *state;
    write_file(f, "127.0.1.2-127.0.1.3", "40\n");
    write_file(f, "127.0.1.3-127.0.1.2", "4000\n");
    measure_well(f);
    assert_rate(f, "n2", "n3", 40);
    assert_rate(f, "n1", "n2", 100);
    assert_rate(f, "n2", "n1", 100);
    assert_rate(f, "n4", "n1", 100);
    assert_int_equal(count_starts(f), 6);
    assert_int_equal(check_log(f), 2);
    assert_int_equal(link_between(f, "n1", "n3").source, LINK_UNKNOWN);
    assert_int_equal(link_between(f, "n3", "n2").source, LINK_FILLED);
    assert_says(f->said.data, "n2 -> n3: 40 Mbit/s");
}

static void measures_all_pairs_in_few_rounds(void **state)
{
    struct fixture *f = *state;
    f->options.pairs = BANDWIDTH_ALL;
    struct bandwidth_plan plan;
    assert_true(bandwidth_plan(&f->arena, &f->job, &f->options, &plan, &f->e));
    assert_int_equal(plan.n_pairs, 12);
    assert_int_equal(plan.rounds.n_rounds, 6);
    assert_int_equal(count_starts(f), 0);
    measure_well(f);
    assert_int_equal(count_starts(f), 12);
    assert_int_equal(check_log(f), 2);
}

static void a_second_run_measures_only_what_is_missing(void **state)
{
    struct fixture *f = *state;
    write_file(f, "network.csv",
               "from,to,bandwidth,source\nn1,n2,7 Mbit/s,measured\nn3,n4,8 Mbit/s,given\n"
               "n4,n1,,failed\nold,n1,3 Mbit/s,measured\n");
    measure_well(f);
    assert_int_equal(count_starts(f), 4);
    assert_rate(f, "n1", "n2", 7);
    assert_rate(f, "n4", "n1", 100);
    assert_rate(f, "old", "n1", 3);
    f->options.again = true;
    measure_well(f);
    assert_int_equal(count_starts(f), 10);
    assert_rate(f, "n1", "n2", 100);
}

static void retries_what_fails_and_names_all_that_stay_without_value(void **state)
{
    struct fixture *f = *state;
    write_file(f, "127.0.1.1-127.0.1.2", "once\n");
    write_file(f, "127.0.1.2-127.0.1.3", "refused\n");
    write_file(f, "127.0.1.3-127.0.1.4", "garbage\n");
    write_file(f, "127.0.1.4-127.0.1.1", "hang\n");
    f->options.patience_s = 4;
    assert_false(measure(f));
    assert_int_equal(f->e.kind, ERROR_HOST);
    assert_says(f->e.text, "3 of 6 links could not be measured, tried 3 times:");
    assert_says(f->e.text, "n2 -> n3: iperf3: unable to connect to server: No route to host");
    assert_says(f->e.text, "n3 -> n4: iperf3: it printed no JSON (what \\x1b[2Jis this)");
    assert_says(f->e.text, "n4 -> n1: the client on n4 did not end within 5 s");
    assert_rate(f, "n1", "n2", 70);
    assert_rate(f, "n4", "n3", 100);
    assert_true(link_between(f, "n2", "n3").failed);
    assert_int_equal(link_between(f, "n3", "n4").source, LINK_UNKNOWN);
    assert_int_equal(count_starts(f), 2 + 3 * 3 + 2);
}

static void waits_for_a_server_that_does_not_listen_yet(void **state)
{
    struct fixture *f = *state;
    write_file(f, "127.0.1.1-127.0.1.2", "early\n");
    measure_well(f);
    assert_rate(f, "n1", "n2", 50);
    assert_null(strstr(f->said.data, "tried again"));
}

static void passes_over_ports_that_are_taken(void **state)
{
    struct fixture *f = *state;
    f->options.first_port = 23456;
    write_file(f, "taken", "23456\n23457\n");
    measure_well(f);
    assert_rate(f, "n1", "n2", 100);
    assert_null(strstr(f->said.data, "tried again"));
    assert_memory_equal(read_text(f, "ports"), "23458\n", 6);
}

static void quotes_a_server_that_gives_up(void **state)
{
    struct fixture *f = *state;
    write_file(f, "noserver", "");
    write_file(f, "127.0.1.1-127.0.1.2", "refused\n");
    assert_false(measure(f));
    assert_says(f->e.text, "n1 -> n2: iperf3: unable to connect");
    assert_says(f->e.text, "the server on n2 said: iperf3: error - no \\x1b[2Jway");
}

static void marks_lower_bounds(void **state)
{
    struct fixture *f = *state;
    write_file(f, "127.0.1.1-127.0.1.2", "bound\n");
    measure_well(f);
    assert_true(link_between(f, "n1", "n2").at_least);
    assert_false(link_between(f, "n2", "n1").at_least);
    assert_says(read_text(f, "network.csv"), "n1,n2,1125000000,0,measured>=\n");
    assert_says(f->said.data, "1 of 6 values are lower bounds");
}

static void a_host_that_is_not_reached_fails_alone(void **state)
{
    struct fixture *f = *state;
    read_job(f, "devices: {a: {count: 3, batch: 1, hosts: [n1, n2, n9]}}\n");
    assert_false(measure(f));
    assert_says(f->e.text, "2 of 4 links could not be measured");
    assert_says(f->e.text, "n2 -> n9: host 'n9' does not answer");
    assert_rate(f, "n1", "n2", 100);
    assert_int_equal(count_starts(f), 2);
}

static void two_names_of_one_machine_take_turns(void **state)
{
    struct fixture *f = *state;
    read_job(f, "devices: {a: {count: 5, batch: 1, hosts: [n1, n2, n3, twin, n4]}}\n");
    f->options.pairs = BANDWIDTH_ALL;
    write_file(f, "127.0.1.1-127.0.1.1", "9\n");
    measure_well(f);
    assert_rate(f, "twin", "n1", 9);
    assert_int_equal(count_starts(f), 20);
    char *log = read_text(f, "log");
    for (char *at = log; (at = strstr(at, "127.0.1.1-127.0.1.1")); at++)
        memcpy(at, "127.0.1.1-127.0.1.8", 19);
    write_file(f, "log", log);
    assert_int_equal(check_log(f), 2);
}

static void a_sample_stands_for_the_rings_other_links(void **state)
{
    struct fixture *f = *state;
    read_job(
        f,
        "devices:\n"
        "  a: {count: 12, batch: 1, hosts: 'n[1-12]', subsystem: {devices: 2, hosts: 'n[1-2]'}}\n");
    f->options.pairs = BANDWIDTH_SAMPLE;
    measure_well(f);
    assert_true(count_starts(f) <= 5);
    size_t n_filled = 0;
    for (int i = 1; i <= 12; i++) {
        struct link link = link_between(f, arena_format(&f->arena, "n%d", i),
                                        arena_format(&f->arena, "n%d", i % 12 + 1));
        assert_true(link.bandwidth_Bps == 12.5e6);
        n_filled += link.source == LINK_FILLED;
    }
    assert_true(n_filled >= 12 - 5);
    assert_says(f->said.data, "have the median of their sample");
}

static void names_links_that_share_an_uplink(void **state)
{
    struct fixture *f = *state;
    read_job(f, "devices:\n"
                "  a: {count: 2, batch: 1, hosts: [n1, n2], allow_full: true}\n"
                "  b: {count: 2, batch: 1, hosts: [n3, n4], allow_full: true}\n"
                "ring: [n1, n3, n2, n4]\n");
    write_file(f, "127.0.1.1-127.0.1.3", "100 48\n");
    write_file(f, "127.0.1.2-127.0.1.4", "100 52\n");
    f->options.together = true;
    measure_well(f);
    assert_rate(f, "n1", "n3", 100);
    assert_true(link_between(f, "n1", "n3").together_Bps == 6e6);
    assert_true(link_between(f, "n3", "n2").together_Bps == 12.5e6);
    assert_says(f->said.data,
                "2 links of the ring share an uplink, from 'a' to 'b': n1 -> n3 (100 Mbit/s alone, "
                "48 Mbit/s together), n2 -> n4 (100 Mbit/s alone, 52 Mbit/s together); the "
                "forecast uses the latter");
    size_t n_starts = count_starts(f);
    measure_well(f);
    assert_int_equal(count_starts(f), n_starts);
}

static void streams_of_one_pair_share_it(void **state)
{
    struct fixture *f = *state;
    read_job(f, "devices:\n"
                "  a: {count: 4, batch: 1, hosts: ['n1:2', 'n2:2']}\n"
                "ring: ['n1:0', 'n2:0', 'n1:1', 'n2:1']\n");
    write_file(f, "127.0.1.1-127.0.1.2", "100 50\n");
    f->options.together = true;
    measure_well(f);
    assert_true(link_between(f, "n1", "n2").together_Bps == 6.25e6);
    assert_true(link_between(f, "n2", "n1").together_Bps == 12.5e6);
    assert_says(f->said.data, "n1 -> n2 (100 Mbit/s alone, 50 Mbit/s together)");
}

/* Ctrl-C as soon as there is a first value. */
static void cancel_at_value(void *self, const char *text)
{
    tell(self, text);
    if (strstr(text, "Mbit/s"))
        cancel = SIGINT;
}

static void an_interrupted_run_keeps_what_it_has(void **state)
{
    struct fixture *f = *state;
    f->progress.say = cancel_at_value;
    assert_false(measure(f));
    assert_string_equal(f->e.text, "interrupted");
    size_t n_starts = count_starts(f);
    assert_true(n_starts < 6);
    assert_says(read_text(f, "network.csv"), "measured");
    assert_null(strstr(read_text(f, "network.csv"), "failed"));
    cancel = 0;
    f->progress.say = tell;
    measure_well(f);
    assert_true(count_starts(f) >= 6 && count_starts(f) < n_starts + 6);
}

/* Those that run our iperf3. */
static size_t count_processes(struct fixture *f)
{
    size_t n = 0;
    DIR *processes = opendir("/proc");
    for (struct dirent *entry; (entry = readdir(processes));) {
        char command[512] = "";
        FILE *file = fopen(arena_format(&f->arena, "/proc/%s/cmdline", entry->d_name), "re");
        size_t length = file ? fread(command, 1, sizeof command - 1, file) : 0;
        n += memmem(command, length, f->folder, strlen(f->folder)) != NULL;
        if (file)
            fclose(file);
    }
    closedir(processes);
    return n;
}

static void leaves_no_process_and_no_output_behind(void **state)
{
    struct fixture *f = *state;
    write_file(f, "127.0.1.1-127.0.1.2", "hang\n");
    f->options.patience_s = 2;
    assert_false(measure(f));
    assert_int_equal(rmdir(in_folder(f, "out")), 0);
    assert_int_equal(count_processes(f), 0);
}

static void measures_latency_with_the_hosts_python(void **state)
{
    struct fixture *f = *state;
    f->options.worker = "../worker";
    measure_well(f);
    double latency_s = link_between(f, "n1", "n2").latency_s;
    if (!(latency_s > 1e-7 && latency_s < 0.05))
        fail_msg("%g s", latency_s);
}

static void says_that_latency_is_not_known(void **state)
{
    struct fixture *f = *state;
    f->options.worker = "../worker";
    write_file(f, "python3", "#!/bin/sh\necho no python here\nexit 1\n");
    assert_int_equal(chmod(in_folder(f, "python3"), 0700), 0);
    measure_well(f);
    assert_true(link_between(f, "n1", "n2").latency_s == 0);
    assert_says(f->said.data, "the latency of 6 links is not known");
}

static void measures_this_machine_one_link_at_a_time(void **state)
{
    struct fixture *f = *state;
    static const char text[] =
        "devices:\n"
        "  a: {count: 2, batch: 1, hosts: 'localhost:2', allow_full: true}\n"
        "  b: {count: 2, batch: 1, hosts: '127.0.0.2:2', allow_full: true}\n";
    unlink(in_folder(f, "iperf3"));
    if (!job_parse(&f->arena, text, strlen(text), "job.yaml", ".", &f->job, &f->e))
        fail_msg("%s", f->e.text);
    f->launcher.kind = &launcher_local;
    struct bandwidth_plan plan;
    assert_true(bandwidth_plan(&f->arena, &f->job, &f->options, &plan, &f->e));
    assert_int_equal(plan.n_pairs, 4);
    assert_int_equal(plan.rounds.n_rounds, 4);
    measure_well(f);
    assert_int_equal(f->network.n, 2);
    for (size_t i = 0; i < 4; i++) {
        assert_int_equal(f->network.link[i].source, LINK_MEASURED);
        assert_true(f->network.link[i].bandwidth_Bps > 1e6);
        assert_true(f->network.link[i].latency_s > 0 && f->network.link[i].latency_s < 0.1);
    }
}

static void refuses_a_job_without_hosts(void **state)
{
    struct fixture *f = *state;
    struct bandwidth_plan plan;
    read_job(f, "devices: {a: {count: 3, batch: 1}}\n");
    assert_false(bandwidth_plan(&f->arena, &f->job, &f->options, &plan, &f->e));
    assert_says(f->e.text, "no device type has hosts");
}

int main(void)
{
#define BANDWIDTH_TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)
    const struct CMUnitTest tests[] = {
        BANDWIDTH_TEST(measures_the_ring_and_the_subsystems_with_no_host_twice_at_once),
        BANDWIDTH_TEST(measures_all_pairs_in_few_rounds),
        BANDWIDTH_TEST(a_second_run_measures_only_what_is_missing),
        BANDWIDTH_TEST(retries_what_fails_and_names_all_that_stay_without_value),
        BANDWIDTH_TEST(waits_for_a_server_that_does_not_listen_yet),
        BANDWIDTH_TEST(passes_over_ports_that_are_taken),
        BANDWIDTH_TEST(quotes_a_server_that_gives_up),
        BANDWIDTH_TEST(marks_lower_bounds),
        BANDWIDTH_TEST(a_host_that_is_not_reached_fails_alone),
        BANDWIDTH_TEST(two_names_of_one_machine_take_turns),
        BANDWIDTH_TEST(a_sample_stands_for_the_rings_other_links),
        BANDWIDTH_TEST(names_links_that_share_an_uplink),
        BANDWIDTH_TEST(streams_of_one_pair_share_it),
        BANDWIDTH_TEST(an_interrupted_run_keeps_what_it_has),
        BANDWIDTH_TEST(leaves_no_process_and_no_output_behind),
        BANDWIDTH_TEST(measures_latency_with_the_hosts_python),
        BANDWIDTH_TEST(says_that_latency_is_not_known),
        BANDWIDTH_TEST(measures_this_machine_one_link_at_a_time),
        BANDWIDTH_TEST(refuses_a_job_without_hosts),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
