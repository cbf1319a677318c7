/* The sections of a job file; each is a field_reader whose `out` is the struct named with it. */
#ifndef FORETRAIN_JOB_SECTIONS_H
#define FORETRAIN_JOB_SECTIONS_H

#include "job/fields.h"

field_reader section_model;    /* struct job_model */
field_reader section_data;     /* struct job_data */
field_reader section_training; /* struct job_training */
field_reader section_storage;  /* struct job_storage */
field_reader section_devices;  /* struct job: type, n_types */
field_reader section_network;  /* struct job: link, n_links, network_file; after the devices */
field_reader section_topology; /* struct job: topology, n_topologies; after the devices */
field_reader section_launcher; /* struct job_launcher */

/* A name that can be a folder's: job and device types. False where it cannot (noted). */
bool section_check_name(struct reading *r, const struct node *node, const char *name,
                        const char *what);

/* The device type that a node names, or JOB_NO_TYPE (noted). */
int section_type(struct reading *r, const struct node *node, const struct job *job);

/* Whether a link says what it is: by 'bandwidth', or by 'nccl_tests' alone (noted where not). */
bool section_has_rate(struct reading *r, const struct node *link);

/* Numbers the devices: n_devices and the hosts' counts. Refuses hosts listed twice in a type.
 * n_devices stays 0 where counts or hosts were refused. */
void device_numbers_assign(struct reading *r, struct job *job);

/* Reads the ring's order, after the devices have numbers. */
void ring_order_read(struct reading *r, const struct node *node, struct job *job);

#endif
