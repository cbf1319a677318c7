"""What runs on a host for foretrain: starts processes, passes on what they print, and ends them whatever happens.

Sent over ssh's (or srun's) standard input and run from memory; needs Python 3.8 and nothing else. It speaks lines of
JSON, a request or an event each, followed by `size` raw bytes where that key is there. Every byte of a string is one
character (Latin-1), so that paths and arguments may be anything.

It ends all processes and removes its folder when its input ends, when nothing was heard for `limit_s`, and on SIGTERM:
none of ours stays on a host, even when foretrain's machine loses its power.
"""

import collections
import ctypes
import errno
import fcntl
import json
import os
import platform
import selectors
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time

GRACE_S = 5.0
BEAT_S = 10.0
IDLE_LIMIT_S = 600.0
FOLLOW_S = 0.2
STOP_POLL_S = 0.05
UNSENT_POLL_S = 0.02
CHUNK = 65536
MOST_UNSENT = 1 << 20
MARK = "FORETRAIN_CHILD"
PR_SET_PDEATHSIG, PR_SET_CHILD_SUBREAPER = 1, 36
SIOCGIFADDR = 0x8915

LIBC = ctypes.CDLL(None, use_errno=True)


def to_path(text):
    return os.fsdecode(text.encode("latin-1"))


def from_path(path):
    return os.fsencode(path).decode("latin-1")


class Followed:
    """A file of a process that is passed on as it grows."""

    def __init__(self, path, late):
        self.path, self.late = path, late
        self._file = None

    def read(self, ended):
        """What is new, at most a chunk. It is FILE.part while it is written."""
        if self._file is None and (ended or not self.late):
            self._open()
        return self._file.read(CHUNK) if self._file else b""

    def _open(self):
        for path in (self.path + ".part", self.path):
            try:
                self._file = open(path, "rb", buffering=0)  # pylint: disable=consider-using-with
                return
            except OSError:
                continue

    def close(self):
        if self._file:
            self._file.close()


class Process:
    """One that was started, and all that it started."""

    def __init__(self, number, pid, mark, files):
        self.number, self.pid, self.mark, self.files = number, pid, mark, files
        self.pipes = []
        self.status = None
        self.told = False
        self.stopping_s = None


def read_stat(pid):
    """(parent, session, state) of a process, or None."""
    try:
        with open("/proc/%d/stat" % pid, encoding="ascii", errors="replace") as file:
            fields = file.read().rpartition(")")[2].split()
        return int(fields[1]), int(fields[3]), fields[0]
    except (OSError, ValueError, IndexError):
        return None


def living():
    """{pid: (parent, session)} of all processes that are not dead already."""
    found = {}
    for name in filter(str.isdigit, os.listdir("/proc")):
        stat = read_stat(int(name))
        if stat and stat[2] not in "ZX":
            found[int(name)] = stat[:2]
    return found


def has_mark(pid, mark):
    try:
        with open("/proc/%d/environ" % pid, "rb") as file:
            return mark.encode() in file.read().split(b"\0")
    except OSError:
        return False


def below(processes, root):
    """The pids whose chain of parents leads to `root`."""
    def leads(pid):
        seen = set()
        while pid in processes and pid not in seen:
            seen.add(pid)
            pid = processes[pid][0]
            if pid == root:
                return True
        return False
    return {pid for pid in processes if leads(pid)}


def send_signal(pids, number):
    for pid in pids:
        try:
            os.kill(pid, number)
        except OSError:
            pass


def parse_cpus(text):
    cpus = set()
    for part in text.split(","):
        first, _, last = part.partition("-")
        cpus.update(range(int(first), int(last or first) + 1))
    return cpus


def addresses():
    """[[interface, IPv4 or IPv6 address], ...] of this host."""
    found = []
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as probe:
        for _, name in socket.if_nameindex():
            try:
                reply = fcntl.ioctl(probe, SIOCGIFADDR, name.encode().ljust(256, b"\0"))
                found.append([name, socket.inet_ntoa(reply[20:24])])
            except OSError:
                continue
    try:
        with open("/proc/net/if_inet6", encoding="ascii") as file:
            for line in file:
                fields = line.split()
                found.append([fields[5], socket.inet_ntop(socket.AF_INET6, bytes.fromhex(fields[0]))])
    except (OSError, ValueError, IndexError):
        pass
    return found


class Folder:
    """A private folder of this run, gone when the agent is. One of a dead agent of this host is removed."""

    def __init__(self, named):
        self._base = self._find_base(named)
        self._sweep()
        path = tempfile.mkdtemp(prefix="new-", dir=self._base)
        self._lock = os.open(os.path.join(path, "lock"), os.O_CREAT | os.O_RDWR, 0o600)
        fcntl.flock(self._lock, fcntl.LOCK_EX)
        self.path = os.path.join(self._base, self._prefix() + os.path.basename(path)[4:])
        os.rename(path, self.path)

    @staticmethod
    def _prefix():
        return "run-%s-" % platform.node().replace("/", "_")

    @staticmethod
    def _find_base(named):
        home = os.path.expanduser("~")
        if named:
            base = os.path.join(home, named)
            os.makedirs(base, 0o700, exist_ok=True)
            return base
        for base in (os.path.join(home, ".cache", "foretrain"), "/tmp/foretrain-%d" % os.getuid()):
            try:
                os.makedirs(base, 0o700, exist_ok=True)
                status = os.lstat(base)
                if status.st_uid == os.getuid() and not status.st_mode & 0o022 and os.access(base, os.W_OK):
                    return base
            except OSError:
                continue
        return tempfile.gettempdir()

    def _sweep(self):
        for name in os.listdir(self._base):
            path = os.path.join(self._base, name)
            if not name.startswith(self._prefix()):
                continue
            try:
                lock = os.open(os.path.join(path, "lock"), os.O_RDWR)
            except OSError:
                continue
            try:
                fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
                shutil.rmtree(path, ignore_errors=True)
            except OSError:
                pass
            finally:
                os.close(lock)

    def make(self):
        return tempfile.mkdtemp(dir=self.path)

    def remove(self):
        shutil.rmtree(self.path, ignore_errors=True)


class Link:
    """Messages to and from foretrain, never blocking."""

    def __init__(self, source, sink):
        self._source, self._sink = source, sink
        os.set_blocking(source, False)
        os.set_blocking(sink, False)
        self._in = bytearray()
        self._out = collections.deque()
        self.n_unsent = 0
        self._pending = None
        self.heard_s = self.sent_s = time.monotonic()
        self.is_open = True

    def send(self, event, payload=b""):
        if payload:
            event = dict(event, size=len(payload))
        data = json.dumps(event, separators=(",", ":")).encode() + b"\n" + payload
        self._out.append(data)
        self.n_unsent += len(data)
        self.flush()

    def flush(self):
        while self._out:
            try:
                n = os.write(self._sink, self._out[0])
            except BlockingIOError:
                return
            except OSError:
                self.is_open = False
                self._out.clear()
                self.n_unsent = 0
                return
            self.n_unsent -= n
            self.sent_s = time.monotonic()
            rest = self._out.popleft()[n:]
            if rest:
                self._out.appendleft(rest)

    def receive(self):
        """Reads what is there; returns complete requests as (request, payload)."""
        try:
            data = os.read(self._source, CHUNK)
        except BlockingIOError:
            return []
        except OSError:
            data = b""
        if not data:
            self.is_open = False
            return []
        self.heard_s = time.monotonic()
        self._in += data
        return list(self._take())

    def _take(self):
        while True:
            if self._pending is None:
                end = self._in.find(b"\n")
                if end < 0:
                    return
                self._pending = json.loads(bytes(self._in[:end]))
                del self._in[:end + 1]
            size = self._pending.get("size", 0)
            if len(self._in) < size:
                return
            request, self._pending = self._pending, None
            payload = bytes(self._in[:size])
            del self._in[:size]
            yield request, payload


class Agent:
    """Everything that is asked for, one thing after the other in one loop."""

    def __init__(self):
        self.link = Link(0, 1)
        self.selector = selectors.DefaultSelector()
        self.selector.register(0, selectors.EVENT_READ, self.hear)
        self.processes = {}
        self.folder = None
        self.limit_s = 60.0
        self.put_error = None
        self.ended_by = None

    # Requests: each returns what to add to its answer, or None for no answer.

    def do_hello(self, request, _payload):
        self.limit_s = request.get("limit_s", self.limit_s)
        self.folder = self.folder or Folder(to_path(request["folder"]) if request.get("folder") else None)
        return {
            "python": platform.python_version(),
            "executable": from_path(sys.executable or ""),
            "hostname": platform.node(),
            "addresses": addresses(),
            "reached_at": (os.environ.get("SSH_CONNECTION", "").split() + [""] * 3)[2],
            "free_bytes": shutil.disk_usage(self.folder.path).free,
        }

    def do_beat(self, _request, _payload):
        return None

    def do_run(self, request, _payload):
        mark = "%d.%d.%f" % (os.getpid(), request["id"], time.time())
        environment = dict(os.environ)
        for key, value in request["env"]:
            environment.pop(to_path(key), None)
            if value is not None:
                environment[to_path(key)] = to_path(value)
        environment[MARK] = mark
        errors = subprocess.PIPE if request.get("errors") else subprocess.STDOUT
        argv = [to_path(word) for word in request["argv"]]
        folder = to_path(request["cwd"]) if request.get("cwd") else self.folder.path
        child = self._start(argv, environment, folder, errors, request.get("cpus"))
        files = [Followed(to_path(path), late) for path, late in request.get("files", [])]
        process = Process(request["id"], child.pid, "%s=%s" % (MARK, mark), files)
        child.returncode = 0  # reaped here, not by it
        self.processes[process.number] = process
        self._listen(process, child.stdout, 1)
        if child.stderr:
            self._listen(process, child.stderr, 2)
        return {}

    @staticmethod
    def _start(argv, environment, folder, errors, cpus):
        agent = os.getpid()

        def prepare():
            LIBC.prctl(PR_SET_PDEATHSIG, signal.SIGKILL)
            if os.getppid() != agent:
                os._exit(126)
            if cpus:
                os.sched_setaffinity(0, parse_cpus(cpus))

        if not os.path.isdir(folder):
            raise OSError(errno.ENOENT, "there is no folder", folder)
        return subprocess.Popen(  # pylint: disable=consider-using-with,subprocess-popen-preexec-fn
            argv, env=environment, cwd=folder, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=errors,
            start_new_session=True, preexec_fn=prepare, bufsize=0,
        )

    def _listen(self, process, pipe, stream):
        os.set_blocking(pipe.fileno(), False)
        process.pipes.append((pipe, stream))
        self.selector.register(
            pipe, selectors.EVENT_READ, lambda: self.link.n_unsent < MOST_UNSENT and self.pass_on(process, pipe, stream)
        )

    def do_stop(self, request, _payload):
        for number in request["ids"]:
            process = self.processes.get(number)
            if process and process.stopping_s is None:
                process.stopping_s = time.monotonic()
                self._signal(process, signal.SIGTERM)
        return None

    def do_make(self, _request, _payload):
        return {"path": from_path(self.folder.make())}

    def do_put(self, request, payload):
        """Part of a file, in order. An error is told at `check`."""
        try:
            path = to_path(request["path"])
            if request.get("first"):
                os.makedirs(os.path.dirname(path), 0o700, exist_ok=True)
                descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, request.get("mode", 0o600))
            else:
                descriptor = os.open(path, os.O_WRONLY | os.O_APPEND)
            with open(descriptor, "wb", buffering=0) as file:
                view = memoryview(payload)
                while view:
                    view = view[file.write(view):]
        except OSError as error:
            self.put_error = self.put_error or describe(error)
        return None

    def do_check(self, _request, _payload):
        error, self.put_error = self.put_error, None
        if error:
            raise OSError(error)
        return {}

    def do_same(self, request, _payload):
        try:
            status = os.stat(to_path(request["path"]))
        except OSError:
            return {"same": False}
        keys = ("st_ino", "st_mtime_ns", "st_mode")
        return {"same": all(getattr(status, key) == request[key] for key in keys)}

    def do_port(self, request, _payload):
        family = socket.AF_INET6 if ":" in request["address"] else socket.AF_INET
        with socket.socket(family, socket.SOCK_STREAM) as probe:
            probe.bind((request["address"], 0))
            return {"port": probe.getsockname()[1]}

    def do_resolve(self, request, _payload):
        found = socket.getaddrinfo(request["name"], None, type=socket.SOCK_STREAM)
        return {"found": [each[4][0] for each in found]}

    def do_get(self, request, _payload):
        with open(to_path(request["path"]), "rb") as file:
            return {}, file.read()

    def do_cool(self, request, _payload):
        for folder, _, names in os.walk(to_path(request["path"])):
            for name in names:
                try:
                    with open(os.path.join(folder, name), "rb") as file:
                        os.fdatasync(file.fileno())
                        os.posix_fadvise(file.fileno(), 0, 0, os.POSIX_FADV_DONTNEED)
                except OSError:
                    continue
        return {}

    def do_remove(self, request, _payload):
        path = to_path(request["path"])
        if path.startswith(self.folder.path + "/"):
            shutil.rmtree(path, ignore_errors=True)
        return {}

    def handle(self, request, payload):
        answer = {"ev": "answer", "seq": request.get("seq", 0)}
        try:
            added = getattr(self, "do_" + request["op"])(request, payload)
        except Exception as error:  # pylint: disable=broad-except
            self.link.send(dict(answer, error=describe(error)))
            return
        if isinstance(added, tuple):
            self.link.send(dict(answer, **added[0]), added[1])
        elif added is not None:
            self.link.send(dict(answer, **added))

    # What happens by itself.

    def pass_on(self, process, pipe, stream):
        """One chunk of what a process printed; False at its end."""
        try:
            data = os.read(pipe.fileno(), CHUNK)
        except BlockingIOError:
            return True
        except OSError:
            data = b""
        if data:
            self.link.send({"ev": "out", "id": process.number, "to": stream}, data)
            return True
        self._forget_pipe(process, pipe, stream)
        return False

    def _forget_pipe(self, process, pipe, stream):
        self.selector.unregister(pipe)
        pipe.close()
        process.pipes.remove((pipe, stream))

    def drain(self, process):
        """What was printed before the end; a descendant may keep the pipe open and print on."""
        for pipe, stream in list(process.pipes):
            ready = selectors.DefaultSelector()
            ready.register(pipe, selectors.EVENT_READ)
            while ready.select(0) and self.pass_on(process, pipe, stream):
                pass
            ready.close()

    def follow(self, process):
        ended = process.status is not None
        for n, file in enumerate(process.files):
            data = file.read(ended)
            while data:
                self.link.send({"ev": "file", "id": process.number, "n": n}, data)
                data = file.read(ended) if ended else b""

    def reap(self):
        by_pid = {process.pid: process for process in self.processes.values()}
        while True:
            try:
                pid, status = os.waitpid(-1, os.WNOHANG)
            except ChildProcessError:
                return
            if pid == 0:
                return
            if pid in by_pid:
                by_pid[pid].status = status

    def tell_end(self, process):
        self.drain(process)
        self.follow(process)
        complete = [os.path.exists(file.path) for file in process.files]
        signalled = os.WIFSIGNALED(process.status)
        number = os.WTERMSIG(process.status) if signalled else os.WEXITSTATUS(process.status)
        self.link.send({"ev": "end", "id": process.number, "signalled": signalled, "number": number,
                        "complete": complete})
        process.told = True

    def _members(self, process, processes):
        """A process and its descendants, those among them that lost their parent as well."""
        found = below(processes, process.pid)
        found |= {pid for pid, (_, session) in processes.items() if session == process.pid or pid == process.pid}
        found |= {pid for pid in processes if pid not in found and has_mark(pid, process.mark)}
        return found - {os.getpid()}

    def _signal(self, process, number):
        """Returns how many are alive."""
        found = self._members(process, living())
        send_signal(found, number)
        return len(found)

    def stop_step(self, process):
        late = time.monotonic() - process.stopping_s > GRACE_S
        if self._signal(process, signal.SIGKILL if late else 0) or not process.told:
            return
        for pipe, stream in list(process.pipes):
            self._forget_pipe(process, pipe, stream)
        for file in process.files:
            file.close()
        del self.processes[process.number]
        self.link.send({"ev": "stopped", "id": process.number})

    def tick(self):
        self.reap()
        for process in list(self.processes.values()):
            if process.status is not None and not process.told:
                self.tell_end(process)
            elif process.files and not process.told and self.link.n_unsent < MOST_UNSENT:
                self.follow(process)
            if process.stopping_s is not None:
                self.stop_step(process)
        if time.monotonic() - self.link.sent_s > BEAT_S:
            self.link.send({"ev": "beat"})
        silent_s = time.monotonic() - self.link.heard_s
        if silent_s > (self.limit_s if self.processes else max(self.limit_s, IDLE_LIMIT_S)):
            self.ended_by = "silence"

    def wait_s(self):
        if any(process.stopping_s is not None for process in self.processes.values()):
            return STOP_POLL_S
        return FOLLOW_S if self.processes else 1.0

    def hear(self):
        for request, payload in self.link.receive():
            self.handle(request, payload)

    def step(self):
        """One round: what came in and what is due."""
        for key, _ in self.selector.select(UNSENT_POLL_S if self.link.n_unsent else self.wait_s()):
            key.data()
        self.link.flush()
        self.tick()

    def _wake_on_signals(self):
        """What Python writes for a signal wakes the loop; that is all it is for."""
        waking, woken = os.pipe()
        os.set_blocking(waking, False)
        os.set_blocking(woken, False)
        signal.set_wakeup_fd(woken, warn_on_full_buffer=False)
        self.selector.register(waking, selectors.EVENT_READ, lambda: os.read(waking, CHUNK))

    def run(self):
        def end(number, _frame):
            self.ended_by = number

        for number in (signal.SIGTERM, signal.SIGHUP, signal.SIGINT):
            signal.signal(number, end)
        signal.signal(signal.SIGCHLD, lambda *_: None)
        self._wake_on_signals()
        try:
            while self.link.is_open and self.ended_by is None:
                self.step()
        finally:
            self.end_all()

    def end_all(self):
        """SIGTERM, five seconds later SIGKILL, to all that descends from here; then the folder goes."""
        start_s = time.monotonic()
        number = signal.SIGTERM
        while time.monotonic() - start_s < 2 * GRACE_S:
            processes = living()
            found = below(processes, os.getpid())
            for process in self.processes.values():
                found |= self._members(process, processes)
            if not found:
                break
            send_signal(found, number)
            number = signal.SIGKILL if time.monotonic() - start_s > GRACE_S else 0
            time.sleep(STOP_POLL_S)
            self.reap()
        if self.folder:
            self.folder.remove()


def describe(error):
    if isinstance(error, OSError) and error.strerror:
        return ("%s: %s" % (error.filename, error.strerror) if error.filename else error.strerror)
    return str(error) or type(error).__name__


def main():
    os.umask(0o077)
    LIBC.prctl(PR_SET_CHILD_SUBREAPER, 1)
    Agent().run()


if __name__ == "__main__":
    main()
