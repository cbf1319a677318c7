/* Addresses of this machine: whose they are, free ports on them, and how long a small message
 * takes. */
#ifndef FORETRAIN_MEASURE_ADDRESS_H
#define FORETRAIN_MEASURE_ADDRESS_H

#include <stdbool.h>
#include <stddef.h>

#include "base/error.h"

enum { ADDRESS_SIZE = 64 };

/*
 * The numeric address of a host that is this machine ("localhost" -> "127.0.0.1"; IPv4 where it has
 * one). Fails (ERROR_HOST) where the name is unknown or belongs to another machine.
 */
bool address_of_local_host(const char *host, char address[ADDRESS_SIZE], struct error *e);

/* The interface of this machine that owns a numeric address; `size` bytes at `interface`. */
bool address_interface(const char *address, char *interface, size_t size, struct error *e);

/* A TCP port nobody uses on an address of this machine. Another program may take it at any time. */
bool address_free_port(const char *address, int *port, struct error *e);

/*
 * Seconds that one byte takes from one socket to another on this machine: half the median round
 * trip of 200 over TCP between sockets of our own, so without the wake-up of another process.
 */
bool address_latency(const char *from, const char *to, double *latency_s, struct error *e);

#endif
