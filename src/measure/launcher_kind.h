/* What a kind of launcher must be able to do, for launcher.c's table. */
#ifndef FORETRAIN_MEASURE_LAUNCHER_KIND_H
#define FORETRAIN_MEASURE_LAUNCHER_KIND_H

#include "measure/launcher.h"

struct remote;
struct slurm;

struct launcher {
    const struct launcher_kind_functions *kind;
    const struct job *job;
    const char *worker;
    const struct progress *progress;
    struct arena arena;
    struct remote *remote; /* of kinds that have other hosts */
    struct slurm *slurm;   /* of launcher slurm */
};

/* The functions of launcher.h of the same names, which call them. */
struct launcher_kind_functions {
    const char *name;
    bool (*open)(struct launcher *, struct error *e); /* or NULL */
    void (*close)(struct launcher *);
    size_t (*reach)(struct launcher *, const char *const *host, size_t n, struct error *why);
    bool (*address)(struct launcher *, const char *host, char *address, struct error *e);
    bool (*interface)(struct launcher *, const char *host, char *interface, struct error *e);
    bool (*free_port)(struct launcher *, const char *host, int *port, struct error *e);
    bool (*start)(struct launcher *, const struct launch *, struct launched *, struct error *e);
    bool (*ended)(struct launched *);
    void (*stop)(struct launched *, size_t n);
    bool (*stage)(struct launcher *, const char *host, const char *path,
                  const struct stage_options *, struct error *e);
    bool (*make_folder)(struct launcher *, const char *host, const char *path, struct error *e);
    char *(*path)(const struct launcher *, struct arena *, const char *host, const char *path);
    bool (*fetch)(struct launcher *, const char *host, const char *there, const char *here,
                  struct error *e);
    void (*cool)(struct launcher *, const char *host, const char *path);
    void (*unstage)(struct launcher *, const char *host);
};

extern const struct launcher_kind_functions launcher_local, launcher_ssh, launcher_slurm;

#endif
