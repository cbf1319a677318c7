/*
 * Slurm's commands: their words, what they answer, and what their complaints mean.
 *
 * Programs are looked up in the folder that FORETRAIN_SLURM names, else in our PATH. Everything of
 * the job file goes into one word with its option ("--partition=x"), never a word of its own.
 */
#ifndef FORETRAIN_MEASURE_SLURM_H
#define FORETRAIN_MEASURE_SLURM_H

#include <stdbool.h>
#include <stddef.h>

#include "base/arena.h"
#include "base/error.h"
#include "job/job.h"

/* Name or path of one of its programs. */
const char *slurm_program(struct arena *arena, const char *name);

/* What a host's type asks for, else the launcher, key by key. */
struct job_slurm slurm_settings(const struct job *job, const char *host);

bool slurm_same_settings(const struct job_slurm *a, const struct job_slurm *b);

/*
 * The words, ended by NULL, of a salloc that gets `host[n]` whole and keeps them until its standard
 * input ends; then it prints one line, the job's number. Fails (ERROR_INPUT) for a host whose name
 * Slurm would take for a list or a file.
 */
bool slurm_allocate_command(struct arena *arena, const struct job *job,
                            const struct job_slurm *settings, const char *const *host, size_t n,
                            const char *const **argv, struct error *e);

/*
 * The words that run `command` (words too) as one process of a job on a host, with all that the job
 * has there: memory, CPUs, and the `gres` (or NULL). Fails as slurm_allocate_command.
 */
bool slurm_step_command(struct arena *arena, long number, const char *gres, const char *host,
                        const char *const *command, const char *const **argv, struct error *e);

/* The job's number in what salloc said so far, or 0. */
long slurm_job_number(const char *said);

enum slurm_phase { SLURM_UNKNOWN, SLURM_WAITS, SLURM_RUNS, SLURM_ENDING, SLURM_ENDED };

struct slurm_state {
    enum slurm_phase phase;
    bool lost_node;     /* ended by a node that failed */
    const char *words;  /* where ended: what became of the job ("was cancelled ..."); else NULL */
    const char *reason; /* where it waits: Slurm's word for why */
};

/* The words that ask for the state of a job, and what the answer means. */
const char *const *slurm_state_command(struct arena *arena, long number);
struct slurm_state slurm_read_state(struct arena *arena, const char *answer);

/* The words that ask which of `host[n]` do not answer Slurm; a name a line, maybe several times. */
const char *const *slurm_dead_command(struct arena *arena, const char *const *host, size_t n);

/* Variables ("NAME", ended by NULL) of a step that would tell a training script that it is one
 * process of its own. */
const char *const *slurm_step_variables(void);

/* What to do about what salloc or srun said, or NULL. */
const char *slurm_hint(const char *said);

#endif
