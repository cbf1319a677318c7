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
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

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
    int report; /* pipe to us: a struct failure, or nothing once the program runs */
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
    int input = open("/dev/null", O_RDONLY);
    int output = open_output(plan->options->output);
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

bool child_start(const struct child_options *options, struct child *child, struct error *e)
{
    struct plan plan = {.options = options, .parent = getpid()};
    struct child started = {0};
    if (options->cpus &&
        (!child_check_cpus(options->cpus, e) || !parse_cpus(options->cpus, &plan.cpus, e)))
        return false;
    prctl(PR_SET_CHILD_SUBREAPER, 1);
    make_mark(started.mark);
    struct arena arena = {0};
    plan.environment = make_environment(&arena, options->env, started.mark);
    bool ok = start_planned(&plan, &started.pid, e);
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

static void reap(struct child *child)
{
    if (child->pid != 0)
        waitpid(child->pid, NULL, WNOHANG);
    child->pid = 0;
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

/* What limits are held against while a child runs. */
struct watch {
    double start_s, growth_s;
    off_t output_bytes;
};

static off_t file_bytes(const char *path)
{
    struct stat st;
    return path && stat(path, &st) == 0 ? st.st_size : 0;
}

static void watch_output(const struct child_options *options, struct watch *watch)
{
    off_t bytes = file_bytes(options->output) + file_bytes(options->errors);
    if (bytes != watch->output_bytes) {
        watch->output_bytes = bytes;
        watch->growth_s = clock_now_s();
    }
}

static bool over_limit(const struct child_limits *limits, const struct watch *watch,
                       enum child_how *how)
{
    double now_s = clock_now_s();
    const struct {
        bool reached;
        enum child_how how;
    } limit[] = {
        {limits->cancel && *limits->cancel, CHILD_CANCELLED},
        {limits->timeout_s > 0 && now_s - watch->start_s > limits->timeout_s, CHILD_TIMED_OUT},
        {limits->stall_timeout_s > 0 && now_s - watch->growth_s > limits->stall_timeout_s,
         CHILD_STALLED},
        {limits->output_bytes > 0 && (size_t)watch->output_bytes > limits->output_bytes,
         CHILD_FLOODED},
    };
    for (size_t i = 0; i < sizeof limit / sizeof *limit; i++) {
        if (limit[i].reached) {
            *how = limit[i].how;
            return true;
        }
    }
    return false;
}

bool child_run(const struct child_options *options, const struct child_limits *limits,
               struct child_end *end, struct error *e)
{
    struct child child;
    if (!child_start(options, &child, e))
        return false;
    struct watch watch = {.start_s = clock_now_s(), .growth_s = clock_now_s()};
    enum child_how how = CHILD_EXITED;
    bool stopped = false;
    while (!child_ended(&child) && !stopped) {
        clock_sleep(POLL_S);
        watch_output(options, &watch);
        stopped = over_limit(limits, &watch, &how);
    }
    child_stop(&child, 1);
    *end = child.end;
    if (stopped)
        *end = (struct child_end){.how = how};
    return true;
}

/* A file in memory, and the name by which the child opens it before it runs the program. */
struct memory_file {
    int fd;
    char path[32];
};

static struct memory_file open_memory_file(void)
{
    struct memory_file file = {.fd = memfd_create("foretrain", MFD_CLOEXEC)};
    snprintf(file.path, sizeof file.path, "/proc/self/fd/%d", file.fd);
    return file;
}

static char *read_memory_file(struct arena *arena, struct memory_file file, size_t limit_bytes)
{
    struct stat st;
    size_t size = fstat(file.fd, &st) == 0 ? (size_t)st.st_size : 0;
    if (size > limit_bytes)
        size = limit_bytes;
    char *content = arena_array(arena, size + 1, 1);
    ssize_t n = pread(file.fd, content, size, 0);
    content[n > 0 ? n : 0] = '\0';
    return content;
}

static bool capture(struct arena *arena, struct child_options options, struct child_limits limits,
                    struct memory_file *file, struct child_end *end, char **text, char **errors,
                    struct error *e)
{
    options.output = file[0].path;
    options.errors = errors ? file[1].path : NULL;
    if (file[0].fd < 0 || file[1].fd < 0) {
        error_set(e, ERROR_HOST, "%s could not be started: no memory for its output",
                  options.argv[0]);
        return false;
    }
    if (!child_run(&options, &limits, end, e))
        return false;
    *text = read_memory_file(arena, file[0], limits.output_bytes);
    if (errors)
        *errors = read_memory_file(arena, file[1], limits.output_bytes);
    return true;
}

bool child_capture(struct arena *arena, const struct child_options *options,
                   const struct child_limits *limits, struct child_end *end, char **text,
                   char **errors, struct error *e)
{
    enum { DEFAULT_LIMIT = 1 << 20 };
    struct child_limits bounded = *limits;
    if (bounded.output_bytes == 0)
        bounded.output_bytes = DEFAULT_LIMIT;
    struct memory_file file[] = {open_memory_file(), open_memory_file()};
    bool ok = capture(arena, *options, bounded, file, end, text, errors, e);
    for (size_t i = 0; i < sizeof file / sizeof *file; i++) {
        if (file[i].fd >= 0)
            close(file[i].fd);
    }
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
