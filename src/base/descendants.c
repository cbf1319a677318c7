/*
 * A process group alone does not hold them all: a script may start its ranks in sessions of their
 * own. The mark in the environment is inherited by whatever a child starts.
 */
#include "base/descendants.h"

#include <ctype.h>
#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/text.h"

struct process {
    pid_t pid, parent, group, session;
    char state;
    bool starting; /* in the middle of an exec: it has no environment yet */
};

/* Reads a small file of /proc; false where the process is gone or not ours to read. */
static bool read_entry(pid_t pid, const char *name, struct text *content)
{
    char path[64];
    snprintf(path, sizeof path, "/proc/%d/%s", (int)pid, name);
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return false;
    char buffer[4096];
    for (ssize_t n; (n = read(fd, buffer, sizeof buffer)) > 0;)
        text_add_n(content, buffer, (size_t)n);
    close(fd);
    return content->length > 0;
}

/* The next number of a line, 0 where there is none; moves on behind it. */
static unsigned long long next_number(const char **text)
{
    char *end = NULL;
    unsigned long long number = strtoull(*text, &end, 10);
    *text = end;
    return number;
}

/* From behind the session to env_end, where the environment ends in memory: 0 as long as an exec
 * has not laid it out, and for processes that are not ours to look at. */
static unsigned long long read_env_end(const char *rest)
{
    enum { AFTER_SESSION = 51 - 6 };
    unsigned long long number = 0;
    for (int i = 0; i < AFTER_SESSION; i++)
        number = next_number(&rest);
    return number;
}

/* "17 (any name) S 1 17 17 ...": the name may hold anything, so fields count from the last
 * parenthesis. */
static bool read_process(pid_t pid, struct process *process)
{
    struct text content = {0};
    const char *rest = read_entry(pid, "stat", &content) ? strrchr(content.data, ')') : NULL;
    bool ok = rest && rest[1] == ' ' && rest[2] != '\0';
    if (ok) {
        process->pid = pid;
        process->state = rest[2];
        rest += 3;
        process->parent = (pid_t)next_number(&rest);
        process->group = (pid_t)next_number(&rest);
        process->session = (pid_t)next_number(&rest);
        process->starting = read_env_end(rest) == 0;
    }
    text_free(&content);
    return ok;
}

/* Whether one of the zero-separated variables is `mark`. */
static bool has_mark(const struct text *environment, const char *mark)
{
    for (size_t i = 0; i < environment->length; i += strlen(environment->data + i) + 1) {
        if (strcmp(environment->data + i, mark) == 0)
            return true;
    }
    return false;
}

static bool is_marked(pid_t pid, const struct child *child, size_t n)
{
    struct text environment = {0};
    bool marked = false;
    if (read_entry(pid, "environ", &environment)) {
        for (size_t i = 0; i < n && !marked; i++)
            marked = child[i].pid != 0 && has_mark(&environment, child[i].mark);
    }
    text_free(&environment);
    return marked;
}

/* Groups and sessions from outside of a container show as 0, as a child does that was not started.
 */
static bool is_child(pid_t pid, const struct child *child, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        if (pid > 0 && child[i].pid == pid)
            return true;
    }
    return false;
}

static bool is_found(const struct descendants *found, pid_t pid)
{
    for (size_t i = 0; i < found->n; i++) {
        if (found->pid[i] == pid)
            return true;
    }
    return false;
}

static bool descends(const struct process *process, const struct child *child, size_t n,
                     const struct descendants *found)
{
    if (process->pid <= 1 || process->pid == getpid() || is_child(process->pid, child, n))
        return false;
    return is_child(process->group, child, n) || is_child(process->session, child, n) ||
           is_child(process->parent, child, n) || is_found(found, process->parent) ||
           is_marked(process->pid, child, n);
}

/* One of ours in the middle of an exec cannot be told yet: a descendant whose parent died, perhaps.
 * Where its environment cannot even be opened, it is somebody else's program. */
static bool is_undecided(const struct process *process)
{
    if (!process->starting || process->parent != getpid())
        return false;
    char path[64];
    snprintf(path, sizeof path, "/proc/%d/environ", (int)process->pid);
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd >= 0)
        close(fd);
    return fd >= 0;
}

static void remember(struct descendants *found, pid_t pid)
{
    if (is_found(found, pid))
        return;
    if (found->n == found->capacity) {
        found->capacity = found->capacity ? 2 * found->capacity : 16;
        found->pid = memory_resize(found->pid, found->capacity, sizeof *found->pid);
    }
    found->pid[found->n++] = pid;
}

/* A zombie has no environment to know it by: it was remembered while it lived. */
static bool is_alive(const struct process *process)
{
    return process->state != 'Z' && process->state != 'X';
}

/* Whether it must be waited for. */
static bool signal_process(const struct process *process, const struct child *child, size_t n,
                           int signal, struct descendants *found)
{
    if (!descends(process, child, n, found))
        return is_alive(process) && is_undecided(process) && !is_child(process->pid, child, n);
    remember(found, process->pid);
    if (!is_alive(process))
        return false;
    if (signal)
        kill(process->pid, signal);
    return true;
}

size_t descendants_signal(const struct child *child, size_t n, int signal,
                          struct descendants *found)
{
    DIR *proc = opendir("/proc");
    if (!proc)
        return 0;
    size_t n_alive = 0;
    for (struct dirent *entry; (entry = readdir(proc));) {
        struct process process;
        if (isdigit((unsigned char)entry->d_name[0]) &&
            read_process((pid_t)strtol(entry->d_name, NULL, 10), &process))
            n_alive += signal_process(&process, child, n, signal, found);
    }
    closedir(proc);
    return n_alive;
}

void descendants_reap(const struct descendants *found)
{
    for (size_t i = 0; i < found->n; i++)
        waitpid(found->pid[i], NULL, WNOHANG);
}

void descendants_free(struct descendants *found)
{
    free(found->pid);
    *found = (struct descendants){0};
}
