/*
 * fork and exec by hand: posix_spawn has no way to set the CPUs, the death signal and the parent
 * check before the program runs. Between them only async-signal-safe calls are made.
 */
#include "base/child.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/close_range.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/child_watch.h"
#include "base/clock.h"
#include "base/descendants.h"
#include "base/file.h"
#include "base/text.h"

static const double GRACE_S = 5;
static const double POLL_S = 0.01;

/* Where starting can fail, in the order of the steps. */
enum step { STEP_SESSION, STEP_FOLDER, STEP_OUTPUT, STEP_ERRORS, STEP_CPUS, STEP_PROGRAM };

struct failure {
    enum step step;
    int number; /* errno */
};

/* All that the new process needs, made before the fork. */
struct plan {
    const struct child_options *options;
    char **environment;
    cpu_set_t cpus;
    pid_t parent;
    int report;        /* pipe to us: a struct failure, or nothing once the program runs */
    int input, output; /* its ends of pipes; -1: none */
};

/* One "a" or "a-b" at `text`; returns what follows, or NULL. */
static const char *parse_cpu_range(const char *text, cpu_set_t *set)
{
    char *end = NULL;
    if (*text < '0' || *text > '9')
        return NULL;
    long first = strtol(text, &end, 10), last = first;
    if (*end == '-') {
        text = end + 1;
        if (*text < '0' || *text > '9')
            return NULL;
        last = strtol(text, &end, 10);
    }
    if (first > last || last >= CPU_SETSIZE)
        return NULL;
    for (long cpu = first; cpu <= last; cpu++)
        CPU_SET((size_t)cpu, set);
    return end;
}

static bool parse_cpus(const char *text, cpu_set_t *set, struct error *e)
{
    CPU_ZERO(set);
    const char *rest = parse_cpu_range(text, set);
    while (rest && *rest == ',')
        rest = parse_cpu_range(rest + 1, set);
    if (rest && *rest == '\0')
        return true;
    error_set(e, ERROR_INPUT, "'%s' is not a list of CPUs such as \"0\" or \"2-3,5\"", text);
    return false;
}

bool child_check_cpus(const char *cpus, struct error *e)
{
    cpu_set_t wanted, allowed, both;
    if (!parse_cpus(cpus, &wanted, e))
        return false;
    if (sched_getaffinity(0, sizeof allowed, &allowed) != 0)
        return true;
    CPU_AND(&both, &wanted, &allowed);
    if (CPU_COUNT(&both) > 0)
        return true;
    error_set(e, ERROR_HOST, "none of the CPUs '%s' may be used here (%d may)", cpus,
              CPU_COUNT(&allowed));
    return false;
}

/* Length of the name in "NAME=value" or "NAME". */
static size_t name_length(const char *variable)
{
    return strcspn(variable, "=");
}

static bool is_changed(const char *variable, const char *const *change)
{
    for (; change && *change; change++) {
        size_t length = name_length(*change);
        if (length == name_length(variable) && strncmp(*change, variable, length) == 0)
            return true;
    }
    return false;
}

static size_t count_strings(const char *const *string)
{
    size_t n = 0;
    while (string && string[n])
        n++;
    return n;
}

/* Our environment with the changes and the mark; later entries for the same name win. */
static char **make_environment(struct arena *arena, const char *const *change, const char *mark)
{
    const char *const *ours = (const char *const *)environ;
    const char *marks[] = {mark, NULL};
    char **made = ARENA_ARRAY(arena, count_strings(ours) + count_strings(change) + 2, char *);
    size_t n = 0;
    for (; ours && *ours; ours++) {
        if (!is_changed(*ours, change) && !is_changed(*ours, marks))
            made[n++] = arena_copy(arena, *ours);
    }
    for (; change && *change; change++) {
        if (strchr(*change, '=') && !is_changed(*change, change + 1))
            made[n++] = arena_copy(arena, *change);
    }
    made[n] = arena_copy(arena, mark);
    return made;
}

static _Noreturn void report_failure(const struct plan *plan, enum step step)
{
    struct failure failure = {step, errno};
    ssize_t written = write(plan->report, &failure, sizeof failure);
    _exit(written == (ssize_t)sizeof failure ? 127 : 126);
}

static int open_output(const char *path)
{
    return path ? open(path, O_WRONLY | O_CREAT | O_TRUNC | O_APPEND, 0600)
                : open("/dev/null", O_WRONLY);
}

/* Standard input, output and error; `report` stays, all else is closed by the exec. */
static void connect_files(const struct plan *plan)
{
    int input = plan->input >= 0 ? plan->input : open("/dev/null", O_RDONLY);
    int output = plan->output >= 0 ? plan->output : open_output(plan->options->output);
    if (input < 0 || output < 0 || dup2(input, STDIN_FILENO) < 0 || dup2(output, STDOUT_FILENO) < 0)
        report_failure(plan, STEP_OUTPUT);
    int errors = plan->options->errors ? open_output(plan->options->errors) : output;
    if (errors < 0 || dup2(errors, STDERR_FILENO) < 0)
        report_failure(plan, STEP_ERRORS);
    close_range(STDERR_FILENO + 1, ~0U, CLOSE_RANGE_CLOEXEC);
}

static void restore_signals(void)
{
    for (int number = 1; number < NSIG; number++)
        signal(number, SIG_DFL);
    sigset_t none;
    sigemptyset(&none);
    sigprocmask(SIG_SETMASK, &none, NULL);
}

/* The new process, up to the program. */
static _Noreturn void become(const struct plan *plan)
{
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (getppid() != plan->parent)
        _exit(126);
    if (setsid() < 0)
        report_failure(plan, STEP_SESSION);
    restore_signals();
    connect_files(plan);
    if (plan->options->folder && chdir(plan->options->folder) != 0)
        report_failure(plan, STEP_FOLDER);
    if (plan->options->cpus && sched_setaffinity(0, sizeof plan->cpus, &plan->cpus) != 0)
        report_failure(plan, STEP_CPUS);
    execvpe(plan->options->argv[0], (char *const *)plan->options->argv, plan->environment);
    report_failure(plan, STEP_PROGRAM);
}

static void describe_failure(const struct child_options *options, struct failure failure,
                             struct error *e)
{
    const char *const what[] = {
        [STEP_SESSION] = "a session",    [STEP_FOLDER] = options->folder,
        [STEP_OUTPUT] = options->output, [STEP_ERRORS] = options->errors,
        [STEP_CPUS] = options->cpus,     [STEP_PROGRAM] = options->argv[0],
    };
    const char *const aim[] = {
        [STEP_SESSION] = "make",         [STEP_FOLDER] = "enter the folder",
        [STEP_OUTPUT] = "write",         [STEP_ERRORS] = "write",
        [STEP_CPUS] = "run on the CPUs", [STEP_PROGRAM] = "run the program",
    };
    error_set(e, ERROR_HOST, "%s could not be started: cannot %s %s: %s", options->argv[0],
              aim[failure.step], what[failure.step] ? what[failure.step] : "/dev/null",
              strerror(failure.number));
}

/* Forks with all signals blocked, so that none meant for us is taken by the new process. */
static pid_t fork_into(const struct plan *plan)
{
    sigset_t all, before;
    sigfillset(&all);
    sigprocmask(SIG_SETMASK, &all, &before);
    pid_t pid = fork();
    if (pid == 0)
        become(plan);
    int number = errno;
    sigprocmask(SIG_SETMASK, &before, NULL);
    errno = number;
    return pid;
}

/* Whether the new process said that it failed. */
static bool read_failure(int fd, struct failure *failure)
{
    ssize_t n;
    do
        n = read(fd, failure, sizeof *failure);
    while (n < 0 && errno == EINTR);
    return n == (ssize_t)sizeof *failure;
}

static void make_mark(char mark[CHILD_MARK_SIZE])
{
    snprintf(mark, CHILD_MARK_SIZE, "FORETRAIN_CHILD=%d.%.9f", (int)getpid(), clock_now_s());
}

static bool start_planned(struct plan *plan, pid_t *pid, struct error *e)
{
    int ends[2];
    pid_t started = -1;
    if (pipe2(ends, O_CLOEXEC) == 0) {
        plan->report = ends[1];
        started = fork_into(plan);
        int number = errno;
        close(ends[1]);
        if (started < 0)
            close(ends[0]);
        errno = number;
    }
    if (started < 0) {
        error_set(e, ERROR_HOST, "%s could not be started: %s", plan->options->argv[0],
                  strerror(errno));
        return false;
    }
    struct failure failure;
    bool failed = read_failure(ends[0], &failure);
    close(ends[0]);
    if (failed) {
        waitpid(started, NULL, 0);
        describe_failure(plan->options, failure, e);
        return false;
    }
    *pid = started;
    return true;
}

static void close_pair(int pair[2])
{
    for (int i = 0; i < 2; i++) {
        if (pair[i] >= 0)
            close(pair[i]);
    }
}

/* Pipes to a child that talks: pipe[0] to it, pipe[1] from it; our ends do not block. */
static bool make_pipes(int to[2], int from[2], struct error *e)
{
    if (pipe2(to, O_CLOEXEC) == 0 && pipe2(from, O_CLOEXEC) == 0 &&
        fcntl(to[1], F_SETFL, O_NONBLOCK) == 0 && fcntl(from[0], F_SETFL, O_NONBLOCK) == 0)
        return true;
    error_set(e, ERROR_HOST, "no pipe to a child can be had: %s", strerror(errno));
    close_pair(to);
    close_pair(from);
    return false;
}

static bool start_talking(struct plan *plan, struct child *child, struct error *e)
{
    int to[2] = {-1, -1}, from[2] = {-1, -1};
    if (!make_pipes(to, from, e))
        return false;
    plan->input = to[0];
    plan->output = from[1];
    bool ok = start_planned(plan, &child->pid, e);
    close(to[0]);
    close(from[1]);
    if (!ok) {
        close(to[1]);
        close(from[0]);
        return false;
    }
    child->talks = true;
    child->to = to[1];
    child->from = from[0];
    return true;
}

bool child_start(const struct child_options *options, struct child *child, struct error *e)
{
    struct plan plan = {.options = options, .parent = getpid(), .input = -1, .output = -1};
    struct child started = {0};
    if (options->cpus &&
        (!child_check_cpus(options->cpus, e) || !parse_cpus(options->cpus, &plan.cpus, e)))
        return false;
    prctl(PR_SET_CHILD_SUBREAPER, 1);
    make_mark(started.mark);
    struct arena arena = {0};
    plan.environment = make_environment(&arena, options->env, started.mark);
    bool ok =
        options->talks ? start_talking(&plan, &started, e) : start_planned(&plan, &started.pid, e);
    arena_free(&arena);
    if (ok)
        *child = started;
    return ok;
}

/* WNOWAIT: the process id stays taken, so that its group can be signalled safely, until child_stop
 * reaps it. */
bool child_ended(struct child *child)
{
    if (child->pid == 0 || child->ended)
        return true;
    siginfo_t info = {0};
    if (waitid(P_PID, (id_t)child->pid, &info, WEXITED | WNOHANG | WNOWAIT) != 0 ||
        info.si_pid == 0)
        return false;
    child->ended = true;
    child->end.how = info.si_code == CLD_EXITED ? CHILD_EXITED : CHILD_SIGNALLED;
    child->end.number = info.si_status;
    return true;
}

static size_t count_running(struct child *child, size_t n)
{
    size_t n_running = 0;
    for (size_t i = 0; i < n; i++)
        n_running += !child_ended(&child[i]);
    return n_running;
}

static void signal_children(struct child *child, size_t n, int number)
{
    for (size_t i = 0; i < n; i++) {
        if (!child_ended(&child[i]))
            kill(child[i].pid, number);
    }
}

/* Waits until the children and their descendants are gone, at most `limit_s`. */
static bool wait_gone(struct child *child, size_t n, double limit_s, struct descendants *found)
{
    double end_s = clock_now_s() + limit_s;
    while (count_running(child, n) > 0 || descendants_signal(child, n, 0, found) > 0) {
        if (clock_now_s() >= end_s)
            return false;
        clock_sleep(POLL_S);
    }
    return true;
}

/* What was started while we looked is caught in the next round. */
static void kill_all(struct child *child, size_t n, struct descendants *found)
{
    enum { ROUNDS = 100 };
    for (int round = 0; round < ROUNDS; round++) {
        signal_children(child, n, SIGKILL);
        if (descendants_signal(child, n, SIGKILL, found) == 0 && count_running(child, n) == 0)
            return;
        clock_sleep(POLL_S);
    }
}

void child_hang_up(struct child *child)
{
    if (child->talks && child->to >= 0)
        close(child->to);
    if (child->talks)
        close(child->from);
    child->talks = false;
}

static void reap(struct child *child)
{
    if (child->pid != 0)
        waitpid(child->pid, NULL, WNOHANG);
    child->pid = 0;
    child_hang_up(child);
}

void child_stop(struct child *child, size_t n)
{
    struct descendants found = {0};
    signal_children(child, n, SIGTERM);
    descendants_signal(child, n, SIGTERM, &found);
    if (!wait_gone(child, n, GRACE_S, &found))
        kill_all(child, n, &found);
    for (size_t i = 0; i < n; i++)
        reap(&child[i]);
    descendants_reap(&found);
    descendants_free(&found);
}

bool child_run(const struct child_options *options, const struct child_limits *limits,
               struct child_end *end, struct error *e)
{
    struct child child;
    if (!child_start(options, &child, e))
        return false;
    struct child_watch watch = child_watch_start(options->output, options->errors);
    enum child_how how = CHILD_EXITED;
    bool stopped = false;
    while (!child_ended(&child) && !stopped) {
        clock_sleep(POLL_S);
        stopped = child_over_limit(limits, &watch, &how);
    }
    child_stop(&child, 1);
    *end = child.end;
    if (stopped)
        *end = (struct child_end){.how = how};
    return true;
}

bool child_capture(struct arena *arena, const struct child_options *options,
                   const struct child_limits *limits, struct child_end *end, char **text,
                   char **errors, struct error *e)
{
    struct child_memory memory;
    if (!child_memory_open(&memory, options->argv[0], e))
        return false;
    struct child_options into_memory = *options;
    struct child_limits bounded = *limits;
    into_memory.output = memory.path[0];
    into_memory.errors = errors ? memory.path[1] : NULL;
    if (bounded.output_bytes == 0)
        bounded.output_bytes = CHILD_CAPTURE_LIMIT;
    bool ok = child_run(&into_memory, &bounded, end, e);
    if (ok)
        *text = child_memory_read(arena, &memory, 0, bounded.output_bytes);
    if (ok && errors)
        *errors = child_memory_read(arena, &memory, 1, bounded.output_bytes);
    child_memory_close(&memory);
    return ok;
}

char *child_end_text(struct arena *arena, struct child_end end)
{
    switch (end.how) {
    case CHILD_EXITED:
        return arena_format(arena, "exited with status %d", end.number);
    case CHILD_SIGNALLED:
        return arena_format(arena, "was killed by signal %d (%s)", end.number,
                            strsignal(end.number));
    case CHILD_TIMED_OUT:
        return arena_copy(arena, "did not finish in time");
    case CHILD_STALLED:
        return arena_copy(arena, "printed nothing for too long");
    case CHILD_FLOODED:
        return arena_copy(arena, "printed more than it may");
    case CHILD_CANCELLED:
        return arena_copy(arena, "was interrupted");
    }
    return arena_copy(arena, "ended");
}

/* The end of a file, at most `size` bytes; returns how many. */
static size_t read_end(const char *path, char *buffer, size_t size)
{
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return 0;
    struct stat st;
    off_t from = fstat(fd, &st) == 0 && st.st_size > (off_t)size ? st.st_size - (off_t)size : 0;
    ssize_t n = pread(fd, buffer, size, from);
    close(fd);
    return n > 0 ? (size_t)n : 0;
}

/* A line that was drawn over ("\r", as progress bars do) counts as lines; zeros would end the text.
 */
static void split_lines(char *buffer, size_t length)
{
    for (size_t i = 0; i < length; i++) {
        if (buffer[i] == '\r')
            buffer[i] = '\n';
        if (buffer[i] == '\0')
            buffer[i] = '?';
    }
}

char *child_tail(struct arena *arena, const char *path, size_t n_lines)
{
    enum { LIMIT = 16384 };
    char *buffer = ARENA_ARRAY(arena, LIMIT + 1, char);
    size_t end = read_end(path, buffer, LIMIT);
    split_lines(buffer, end);
    while (end > 0 && buffer[end - 1] == '\n')
        end--;
    size_t start = end;
    for (size_t lines = 0; start > 0; start--) {
        if (buffer[start - 1] == '\n' && ++lines == n_lines)
            break;
    }
    buffer[end] = '\0';
    return text_printable(arena, buffer + start, 1);
}
