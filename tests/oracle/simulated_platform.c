#include "simulated_platform.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <simgrid/actor.h>
#include <simgrid/engine.h>
#include <simgrid/host.h>

static void write_platform(FILE *file, size_t n_hosts, void (*write)(FILE *file))
{
    fputs("<?xml version='1.0'?>\n"
          "<!DOCTYPE platform SYSTEM \"https://simgrid.org/simgrid.dtd\">\n"
          "<platform version=\"4.1\">\n<zone id=\"all\" routing=\"Full\">\n",
          file);
    for (size_t i = 0; i < n_hosts; i++)
        fprintf(file, "<host id=\"h%zu\" speed=\"1Gf\"/>\n", i);
    write(file);
    fputs("</zone>\n</platform>\n", file);
}

bool simulated_platform_load(size_t n_hosts, void (*write)(FILE *file))
{
    char path[] = "/tmp/foretrain-platform-XXXXXX.xml";
    int fd = mkstemps(path, (int)strlen(".xml"));
    FILE *file = fd < 0 ? NULL : fdopen(fd, "w");
    if (!file)
        return false;
    write_platform(file, n_hosts, write);
    bool ok = fclose(file) == 0;
    if (ok)
        simgrid_load_platform(path);
    remove(path);
    return ok;
}

/* What write_ring has no argument for. */
static const struct ft_link *ring_link;
static size_t ring_size;

static void write_ring(FILE *file)
{
    for (size_t i = 0; i < ring_size; i++)
        fprintf(file, "<link id=\"l%zu\" bandwidth=\"%.17gBps\" latency=\"%.17gs\"/>\n", i,
                ring_link[i].bandwidth_Bps, ring_link[i].latency_s);
    for (size_t i = 0; i < ring_size; i++)
        fprintf(file,
                "<route src=\"h%zu\" dst=\"h%zu\" symmetrical=\"NO\"><link_ctn id=\"l%zu\"/>"
                "</route>\n",
                i, (i + 1) % ring_size, i);
}

bool simulated_platform_ring(const struct ft_link *link, size_t n)
{
    ring_link = link;
    ring_size = n;
    return simulated_platform_load(n, write_ring);
}

void simulated_sleep_until(double time_s)
{
    if (time_s > simgrid_get_clock())
        sg_actor_sleep_for(time_s - simgrid_get_clock());
}

void simulated_start(size_t n_hosts, void (*run)(int argc, char *argv[]))
{
    for (size_t i = 0; i < n_hosts; i++) {
        char name[32], index[32];
        snprintf(name, sizeof name, "h%zu", i);
        snprintf(index, sizeof index, "%zu", i);
        const char *argv[] = {name, index, NULL};
        sg_actor_create_(name, sg_host_by_name(name), run, 2, argv);
    }
}
