"""Latency between two hosts: half the median round trip of one byte over TCP.

`serve ADDRESS PORT` answers one client; `ping FROM ADDRESS PORT` prints "latency_s SECONDS". Run from its text
(python3 -c), so that it need not be on the host.
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


def serve(address, port):
    with socket.socket(family(address)) as listener:
        listener.settimeout(LIMIT_S)
        listener.bind((address, int(port)))
        listener.listen(1)
        connection, _ = listener.accept()
    with connection:
        tune(connection)
        while byte := connection.recv(1):
            connection.sendall(byte)


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
    print(f"latency_s {statistics.median(round_trips[WARM_UP:]) / 2:.9f}")


if __name__ == "__main__":
    {"serve": serve, "ping": ping}[sys.argv[1]](*sys.argv[2:])
