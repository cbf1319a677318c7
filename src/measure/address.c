#include "measure/address.h"

#include <errno.h>
#include <ifaddrs.h>
#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/stats.h"

/* A stream socket bound to port 0 of an address; -1 where it is not this machine's. */
static int bound_socket(const struct sockaddr *address, socklen_t length)
{
    int fd = socket(address->sa_family, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (fd >= 0 && bind(fd, address, length) != 0) {
        int number = errno;
        close(fd);
        errno = number;
        return -1;
    }
    return fd;
}

static bool is_ours(const struct addrinfo *info)
{
    int fd = bound_socket(info->ai_addr, info->ai_addrlen);
    if (fd >= 0)
        close(fd);
    return fd >= 0;
}

static struct addrinfo *resolve(const char *host, int flags, int *result)
{
    const struct addrinfo hints = {
        .ai_family = AF_UNSPEC, .ai_socktype = SOCK_STREAM, .ai_flags = flags};
    struct addrinfo *found = NULL;
    *result = getaddrinfo(host, NULL, &hints, &found);
    return *result == 0 ? found : NULL;
}

/* The first address that is ours, IPv4 before IPv6. */
static const struct addrinfo *pick_ours(const struct addrinfo *found)
{
    const int families[] = {AF_INET, AF_INET6};
    for (size_t i = 0; i < sizeof families / sizeof *families; i++) {
        for (const struct addrinfo *info = found; info; info = info->ai_next) {
            if (info->ai_family == families[i] && is_ours(info))
                return info;
        }
    }
    return NULL;
}

/* A machine's own name need not be known to any resolver. */
static bool is_own_name(const char *host)
{
    char own[256] = "";
    return gethostname(own, sizeof own - 1) == 0 && strcmp(host, own) == 0;
}

bool address_of_local_host(const char *host, char address[ADDRESS_SIZE], struct error *e)
{
    int result = 0;
    struct addrinfo *found = resolve(host, 0, &result);
    if (!found && is_own_name(host))
        found = resolve("127.0.0.1", AI_NUMERICHOST, &result);
    if (!found) {
        error_set(e, ERROR_HOST, "host '%s' is not known here: %s", host, gai_strerror(result));
        return false;
    }
    const struct addrinfo *ours = pick_ours(found);
    bool ok = ours && getnameinfo(ours->ai_addr, ours->ai_addrlen, address, ADDRESS_SIZE, NULL, 0,
                                  NI_NUMERICHOST) == 0;
    freeaddrinfo(found);
    if (!ok)
        error_set(e, ERROR_HOST, "host '%s' is not this machine", host);
    return ok;
}

static bool is_named(const struct sockaddr *own, const char *address)
{
    char text[ADDRESS_SIZE];
    if (!own || (own->sa_family != AF_INET && own->sa_family != AF_INET6))
        return false;
    socklen_t length = own->sa_family == AF_INET ? (socklen_t)sizeof(struct sockaddr_in)
                                                 : (socklen_t)sizeof(struct sockaddr_in6);
    return getnameinfo(own, length, text, sizeof text, NULL, 0, NI_NUMERICHOST) == 0 &&
           strcmp(text, address) == 0;
}

bool address_interface(const char *address, char *interface, size_t size, struct error *e)
{
    struct ifaddrs *list = NULL;
    const char *found = strncmp(address, "127.", 4) == 0 ? "lo" : NULL;
    if (getifaddrs(&list) == 0) {
        for (const struct ifaddrs *i = list; i && !found; i = i->ifa_next)
            found = is_named(i->ifa_addr, address) ? i->ifa_name : NULL;
    }
    if (found)
        snprintf(interface, size, "%s", found);
    else
        error_set(e, ERROR_HOST, "no interface of this machine has the address %s", address);
    freeifaddrs(list);
    return found;
}

/* Binds a socket to a numeric address of this machine. */
static int bind_numeric(const char *address, struct error *e)
{
    int result = 0;
    struct addrinfo *found = resolve(address, AI_NUMERICHOST, &result);
    int fd = found ? bound_socket(found->ai_addr, found->ai_addrlen) : -1;
    if (fd < 0)
        error_set(e, ERROR_HOST, "no port can be had on %s: %s", address,
                  found ? strerror(errno) : gai_strerror(result));
    if (found)
        freeaddrinfo(found);
    return fd;
}

/* IPv4 and IPv6 keep the port at the same place. */
static int port_of(int fd)
{
    struct sockaddr_storage own = {0};
    socklen_t length = sizeof own;
    getsockname(fd, (struct sockaddr *)&own, &length);
    struct sockaddr_in ipv4;
    memcpy(&ipv4, &own, sizeof ipv4);
    return ntohs(ipv4.sin_port);
}

bool address_free_port(const char *address, int *port, struct error *e)
{
    int fd = bind_numeric(address, e);
    if (fd < 0)
        return false;
    *port = port_of(fd);
    close(fd);
    return true;
}

/* Two connected sockets of ours, from one address to another. */
static bool connect_pair(const char *from, const char *to, int pair[2], struct error *e)
{
    int listener = bind_numeric(to, e);
    if (listener < 0)
        return false;
    int sender = bind_numeric(from, e);
    int receiver = -1;
    struct sockaddr_storage peer = {0};
    socklen_t length = sizeof peer;
    if (sender >= 0 && listen(listener, 1) == 0 &&
        getsockname(listener, (struct sockaddr *)&peer, &length) == 0 &&
        connect(sender, (struct sockaddr *)&peer, length) == 0)
        receiver = accept4(listener, NULL, NULL, SOCK_CLOEXEC);
    if (sender >= 0 && receiver < 0) {
        error_set(e, ERROR_HOST, "%s cannot be reached from %s: %s", to, from, strerror(errno));
        close(sender);
    }
    close(listener);
    pair[0] = sender;
    pair[1] = receiver;
    return receiver >= 0;
}

static bool pass_byte(int from, int to)
{
    char byte = 'p';
    ssize_t n = send(from, &byte, 1, MSG_NOSIGNAL);
    return n == 1 && recv(to, &byte, 1, 0) == 1;
}

/* Makes a socket send at once and give up on a peer that says nothing. */
static void tune(int fd)
{
    const int on = 1;
    const struct timeval limit = {.tv_sec = 2};
    setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
    setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof limit);
}

bool address_latency(const char *from, const char *to, double *latency_s, struct error *e)
{
    enum { WARM_UP = 20, ROUNDS = 200 };
    int pair[2];
    if (!connect_pair(from, to, pair, e))
        return false;
    tune(pair[0]);
    tune(pair[1]);
    double round_trip_s[ROUNDS];
    bool ok = true;
    for (int i = -WARM_UP; i < ROUNDS && ok; i++) {
        double start_s = clock_now_s();
        ok = pass_byte(pair[0], pair[1]) && pass_byte(pair[1], pair[0]);
        if (i >= 0)
            round_trip_s[i] = clock_now_s() - start_s;
    }
    if (ok)
        *latency_s = stats_quantile(round_trip_s, ROUNDS, 0.5) / 2;
    else
        error_set(e, ERROR_HOST, "a byte from %s to %s was lost: %s", from, to, strerror(errno));
    close(pair[0]);
    close(pair[1]);
    return ok;
}
