"""Latency between two hosts, half the median round trip of one byte over TCP, and what their processes may use of a CPU.

`serve ADDRESS PORT` answers one client; `ping FROM ADDRESS PORT` prints "latency_s SECONDS", "from_cpus SHARE" and
"to_cpus SHARE". Run from its text (python3 -c), so that it need not be on the host.
"""

import socket
import statistics
import sys
import time

WARM_UP, ROUNDS, LIMIT_S = 20, 200, 5


def family(address):
    return socket.AF_INET6 if ":" in address else socket.AF_INET


def tune(connection):
    connection.settimeout(LIMIT_S)
    connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)


def words(path):
    try:
        with open(path, encoding="ascii") as file:
            return file.read().split()
    except OSError:
        return []


def granted(folder):
    """CPUs that a control group of version 2 or 1 grants; 1 where it sets no limit or more: iperf3 uses one."""
    limit = words(f"{folder}/cpu.max") or words(f"{folder}/cpu.cfs_quota_us") + words(f"{folder}/cpu.cfs_period_us")
    quota = float(limit[0]) if len(limit) == 2 and limit[0] != "max" else -1
    return min(quota / float(limit[1]), 1) if quota > 0 else 1


def cpus(root="/sys/fs/cgroup", own="/proc/self/cgroup"):
    """CPUs, 1 at the most, that the control groups of this process and those around them grant it."""
    least = 1
    for line in words(own):
        _, controllers, path = line.split(":", 2)
        if controllers and "cpu" not in controllers.split(","):
            continue
        parts = [part for part in path.split("/") if part.strip(".")]
        for depth in range(len(parts) + 1):
            for mounted in (root, f"{root}/{controllers}"):
                least = min(least, granted("/".join([mounted, *parts[:depth]])))
    return least


def serve(address, port):
    with socket.socket(family(address)) as listener:
        listener.settimeout(LIMIT_S)
        listener.bind((address, int(port)))
        listener.listen(1)
        connection, _ = listener.accept()
    with connection:
        tune(connection)
        while byte := connection.recv(1):
            connection.sendall(byte if byte == b"p" else b"%.6f" % cpus())


def ping(source, address, port):
    with socket.socket(family(address)) as connection:
        tune(connection)
        connection.bind((source, 0))
        connection.connect((address, int(port)))
        round_trips = []
        for _ in range(WARM_UP + ROUNDS):
            start = time.perf_counter()
            connection.sendall(b"p")
            if not connection.recv(1):
                raise SystemExit("the server hung up")
            round_trips.append(time.perf_counter() - start)
        connection.sendall(b"c")
        others = connection.recv(64).decode()
    print(f"latency_s {statistics.median(round_trips[WARM_UP:]) / 2:.9f}")
    print(f"from_cpus {cpus():.6f}\nto_cpus {others}")


if __name__ == "__main__":
    {"serve": serve, "ping": ping}[sys.argv[1]](*sys.argv[2:])
