#include "measure/slurm.h"

#include <limits.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "base/text.h"

const char *slurm_program(struct arena *arena, const char *name)
{
    const char *folder = getenv("FORETRAIN_SLURM");
    return folder && *folder ? path_join(arena, folder, name) : name;
}

/* Slurm takes brackets and commas for lists, and a slash for a file of names. */
static bool check_host(const char *host, struct error *e)
{
    static const char plain[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._-";
    if (*host && *host != '-' && host[strspn(host, plain)] == '\0')
        return true;
    error_set(e, ERROR_INPUT, "host '%s' cannot be given to Slurm: it is not the name of one node",
              host);
    error_hint(e, "name hosts as `sinfo -N` does");
    return false;
}

static bool has_host(const struct job_host *host, size_t n, const char *name)
{
    for (size_t i = 0; i < n; i++) {
        if (strcmp(host[i].name, name) == 0)
            return true;
    }
    return false;
}

static const char *first_of(const char *one, const char *other)
{
    return one ? one : other;
}

static struct job_slurm merge(const struct job_slurm *own, const struct job_slurm *rest)
{
    return (struct job_slurm){
        .partition = first_of(own->partition, rest->partition),
        .account = first_of(own->account, rest->account),
        .qos = first_of(own->qos, rest->qos),
        .constraint = first_of(own->constraint, rest->constraint),
        .reservation = first_of(own->reservation, rest->reservation),
        .gres = first_of(own->gres, rest->gres),
    };
}

struct job_slurm slurm_settings(const struct job *job, const char *host)
{
    for (int i = 0; i < job->n_types; i++) {
        const struct job_device_type *type = &job->type[i];
        if (has_host(type->host, type->n_hosts, host) ||
            has_host(type->subsystem_host, type->n_subsystem_hosts, host))
            return merge(&type->slurm, &job->launcher.slurm);
    }
    return job->launcher.slurm;
}

static bool same_word(const char *a, const char *b)
{
    return a == b || (a && b && strcmp(a, b) == 0);
}

bool slurm_same_settings(const struct job_slurm *a, const struct job_slurm *b)
{
    return same_word(a->partition, b->partition) && same_word(a->account, b->account) &&
           same_word(a->qos, b->qos) && same_word(a->constraint, b->constraint) &&
           same_word(a->reservation, b->reservation) && same_word(a->gres, b->gres);
}

/* Words that grow, in an arena. */
struct words {
    struct arena *arena;
    const char **word;
    size_t n;
};

static struct words words_start(struct arena *arena, size_t most)
{
    return (struct words){arena, ARENA_ARRAY(arena, most + 1, const char *), 0};
}

static void add(struct words *words, const char *word)
{
    words->word[words->n++] = word;
}

static void add_option(struct words *words, const char *option, const char *value)
{
    if (value)
        add(words, arena_format(words->arena, "--%s=%s", option, value));
}

static bool join_hosts(struct arena *arena, const char *const *host, size_t n, const char **joined,
                       struct error *e)
{
    struct text text = {0};
    for (size_t i = 0; i < n; i++) {
        if (!check_host(host[i], e)) {
            text_free(&text);
            return false;
        }
        text_format(&text, "%s%s", i > 0 ? "," : "", host[i]);
    }
    *joined = arena_copy(arena, text.data ? text.data : "");
    text_free(&text);
    return true;
}

static void add_time_limit(struct words *words, double limit_s)
{
    double minutes = ceil(limit_s / 60);
    if (limit_s > 0 && minutes < INT_MAX)
        add_option(words, "time", arena_format(words->arena, "%.0f", minutes));
}

/*
 * Signal that a program of Slurm gets when we are killed, instead of the SIGKILL that children get:
 * salloc takes its job out of the queue at SIGTERM. srun needs none, it sees its input end, as does
 * the agent, which then cleans up; killed, srun would have the agent killed.
 */
static void add_death_signal(struct words *words, const char *signal)
{
    add(words, "setpriv");
    add(words, "--pdeathsig");
    add(words, signal);
}

/*
 * What salloc runs here while it has the hosts. It cancels the job when we are gone, however that
 * happened: then its input ends, and salloc itself may be dead.
 */
static const char guard[] =
    "echo \"$SLURM_JOB_ID\"; cat >/dev/null; exec \"$0\" --quiet \"$SLURM_JOB_ID\"";

bool slurm_allocate_command(struct arena *arena, const struct job *job,
                            const struct job_slurm *settings, const char *const *host, size_t n,
                            const char *const **argv, struct error *e)
{
    enum { MOST = 24 };
    const char *joined = NULL;
    if (!join_hosts(arena, host, n, &joined, e))
        return false;
    struct words words = words_start(arena, MOST);
    add_death_signal(&words, "TERM");
    add(&words, slurm_program(arena, "salloc"));
    add(&words, "--job-name=foretrain");
    add(&words, "--no-bell");
    add(&words, "--exclusive");
    add(&words, "--mem=0");
    add_option(&words, "nodes", arena_format(arena, "%zu", n));
    add_option(&words, "nodelist", joined);
    add_option(&words, "partition", settings->partition);
    add_option(&words, "account", settings->account);
    add_option(&words, "qos", settings->qos);
    add_option(&words, "constraint", settings->constraint);
    add_option(&words, "reservation", settings->reservation);
    add_option(&words, "gres", settings->gres);
    add_time_limit(&words, job->launcher.time_limit_s);
    add(&words, "/bin/sh");
    add(&words, "-c");
    add(&words, guard);
    add(&words, slurm_program(arena, "scancel"));
    *argv = words.word;
    return true;
}

/*
 * What the user's batch script asked for one of its tasks would hold for our step too: fewer CPUs,
 * less memory, several tasks, labels in front of lines. The mark says what descends from us; on
 * another host nothing does.
 */
static const char *const hidden[] = {
    "FORETRAIN_CHILD",       "SLURM_CPUS_PER_TASK",
    "SRUN_CPUS_PER_TASK",    "SLURM_TRES_PER_TASK",
    "SLURM_NTASKS",          "SLURM_NPROCS",
    "SLURM_NTASKS_PER_NODE", "SLURM_NTASKS_PER_CORE",
    "SLURM_NTASKS_PER_GPU",  "SLURM_NTASKS_PER_SOCKET",
    "SLURM_TASKS_PER_NODE",  "SLURM_MEM_PER_CPU",
    "SLURM_MEM_PER_GPU",     "SLURM_MEM_PER_NODE",
    "SLURM_MEM_BIND",        "SLURM_CPU_BIND",
    "SLURM_GPU_BIND",        "SLURM_GPUS_PER_TASK",
    "SLURM_DISTRIBUTION",    "SLURM_HINT",
    "SLURM_EXACT",           "SLURM_THREADS_PER_CORE",
    "SLURM_LABELIO",         "SLURM_STDINMODE",
    "SLURM_STDOUTMODE",      "SLURM_STDERRMODE",
    "SLURM_WORKING_DIR",
};
enum { N_HIDDEN = sizeof hidden / sizeof *hidden };

static size_t count(const char *const *word)
{
    size_t n = 0;
    while (word[n])
        n++;
    return n;
}

/*
 * --overlap: other steps of the job may run there already, and hold all its CPUs. Without --exact
 * and --cpus-per-task, and with --mem=0 and --cpu-bind=none, the step has all that the job has on
 * the host: it starts all ranks there. --unbuffered, or what does not end with a newline would
 * wait for one.
 */
bool slurm_step_command(struct arena *arena, long number, const char *gres, const char *host,
                        const char *const *command, const char *const **argv, struct error *e)
{
    enum { MOST = 24 };
    static const char *const fixed[] = {
        "--nodes=1",  "--ntasks=1",           "--overlap",    "--mem=0",   "--cpu-bind=none",
        "--mpi=none", "--kill-on-bad-exit=1", "--export=ALL", "--input=0", "--unbuffered",
        "--quiet",
    };
    if (!check_host(host, e))
        return false;
    struct words words = words_start(arena, MOST + 2 * N_HIDDEN + count(command));
    add(&words, "env");
    for (size_t i = 0; i < N_HIDDEN; i++) {
        add(&words, "-u");
        add(&words, hidden[i]);
    }
    add_death_signal(&words, "clear");
    add(&words, slurm_program(arena, "srun"));
    add_option(&words, "jobid", arena_format(arena, "%ld", number));
    add_option(&words, "nodelist", host);
    for (size_t i = 0; i < sizeof fixed / sizeof *fixed; i++)
        add(&words, fixed[i]);
    add_option(&words, "gres", gres);
    for (; *command; command++)
        add(&words, *command);
    *argv = words.word;
    return true;
}

long slurm_job_number(const char *said)
{
    static const char lead[] = "job allocation ";
    const char *at = strstr(said, lead);
    long number = at ? strtol(at + sizeof lead - 1, NULL, 10) : 0;
    return number > 0 ? number : 0;
}

const char *const *slurm_state_command(struct arena *arena, long number)
{
    struct words words = words_start(arena, 6);
    add(&words, slurm_program(arena, "squeue"));
    add(&words, "--noheader");
    add(&words, "--states=all");
    add_option(&words, "jobs", arena_format(arena, "%ld", number));
    add(&words, "--format=%T|%r");
    return words.word;
}

const char *const *slurm_dead_command(struct arena *arena, const char *const *host, size_t n)
{
    struct error e = {0};
    const char *joined = "";
    join_hosts(arena, host, n, &joined, &e);
    error_clear(&e);
    struct words words = words_start(arena, 6);
    add(&words, slurm_program(arena, "sinfo"));
    add(&words, "--noheader");
    add(&words, "--dead");
    add(&words, "--Node");
    add_option(&words, "nodes", joined);
    add(&words, "--format=%N");
    return words.word;
}

static const struct {
    const char *word;
    enum slurm_phase phase;
    const char *words;
} states[] = {
    {"PENDING", SLURM_WAITS, NULL},
    {"CONFIGURING", SLURM_WAITS, NULL},
    {"RUNNING", SLURM_RUNS, NULL},
    {"SUSPENDED", SLURM_RUNS, NULL},
    {"COMPLETING", SLURM_ENDING, NULL},
    {"CANCELLED", SLURM_ENDED, "was cancelled (scancel)"},
    {"TIMEOUT", SLURM_ENDED, "reached its time limit"},
    {"DEADLINE", SLURM_ENDED, "reached its deadline"},
    {"PREEMPTED", SLURM_ENDED, "had to give way to another job (PREEMPTED)"},
    {"NODE_FAIL", SLURM_ENDED, "lost a node (NODE_FAIL)"},
    {"BOOT_FAIL", SLURM_ENDED, "got a node that did not boot (BOOT_FAIL)"},
    {"OUT_OF_MEMORY", SLURM_ENDED, "ran out of memory (OUT_OF_MEMORY)"},
    {"REVOKED", SLURM_ENDED, "was revoked"},
    {"FAILED", SLURM_ENDED, "has ended (FAILED)"},
    {"COMPLETED", SLURM_ENDED, "has ended (COMPLETED)"},
};

struct slurm_state slurm_read_state(struct arena *arena, const char *answer)
{
    size_t length = strcspn(answer, "|\n");
    const char *reason = answer + length + (answer[length] == '|');
    for (size_t i = 0; i < sizeof states / sizeof *states; i++) {
        if (strlen(states[i].word) != length || strncmp(states[i].word, answer, length) != 0)
            continue;
        return (struct slurm_state){
            .phase = states[i].phase,
            .lost_node = strcmp(states[i].word, "NODE_FAIL") == 0,
            .words = states[i].words,
            .reason = text_printable(arena, arena_copy_n(arena, reason, strcspn(reason, "\n")), 0),
        };
    }
    return (struct slurm_state){.phase = SLURM_UNKNOWN, .reason = ""};
}

const char *const *slurm_step_variables(void)
{
    static const char *const names[] = {
        "SLURM_PROCID",
        "SLURM_LOCALID",
        "SLURM_NODEID",
        "SLURM_NTASKS",
        "SLURM_NPROCS",
        "SLURM_TASK_PID",
        "SLURM_GTIDS",
        "SLURM_TASKS_PER_NODE",
        "SLURM_STEP_ID",
        "SLURM_STEPID",
        "SLURM_STEP_NODELIST",
        "SLURM_STEP_NUM_NODES",
        "SLURM_STEP_NUM_TASKS",
        "SLURM_STEP_TASKS_PER_NODE",
        "PMI_RANK",
        "PMI_SIZE",
        NULL,
    };
    return names;
}

const char *slurm_hint(const char *said)
{
    static const struct {
        const char *words, *hint;
    } table[] = {
        {"nvalid node name", "name hosts as `sinfo -N` does"},
        {"nvalid partition", "`sinfo` lists the partitions"},
        {"nvalid account", "`sacctmgr show associations user=$USER` lists the accounts, partitions "
                           "and qos that you may use"},
        {"nvalid qos", "`sacctmgr show associations user=$USER` lists the qos that you may use"},
        {"nvalid feature", "`sinfo -o '%n %f'` lists the features that a constraint can name"},
        {"nvalid generic resource", "`sinfo -o '%n %G'` lists the nodes' gres"},
        {"node configuration is not available",
         "no such nodes are in that partition with that constraint and gres: `sinfo -N -l`"},
        {"not in partition", "these hosts are in another partition: `sinfo -N`"},
        {"time limit", "the partition allows less: launcher: {time_limit: ...}"},
        {"ontact slurm controller", "is slurmctld up? `scontrol ping` says so"},
        {"ommunication connection failure", "is slurmctld up? `scontrol ping` says so"},
        {"timed out on send/recv", "is slurmctld up? `scontrol ping` says so"},
        {"configuration source", "Slurm's slurm.conf is not found here: SLURM_CONF names it"},
        {"failed to execute", "Slurm's programs are looked for on the PATH, or in the folder that "
                              "FORETRAIN_SLURM names"},
        {"nvalid job id", "the job that SLURM_JOB_ID names is over: without SLURM_JOB_ID foretrain "
                          "asks for hosts itself"},
        {"there is no python3", "the host needs Python 3.8 or newer, as python3 on its PATH"},
    };
    for (size_t i = 0; i < sizeof table / sizeof *table; i++) {
        if (strstr(said, table[i].words))
            return table[i].hint;
    }
    return NULL;
}
