"""Runs the machine's own programs: argument lists only, and what they said when they fail."""

import subprocess
import time


class RunError(Exception):
    """A program that making the cluster needs has failed."""


def run(*argv, text=None, check=True):
    """Run a program to its end; returns what it printed."""
    done = subprocess.run(
        argv, input=text, stdin=None if text is not None else subprocess.DEVNULL, capture_output=True, text=True,
        check=False,
    )
    if check and done.returncode != 0:
        raise RunError(f"{' '.join(argv)}: {(done.stderr or done.stdout).strip() or done.returncode}")
    return done.stdout


def batch(program, lines, *options):
    """Give `ip` or `tc` many commands at once."""
    if lines:
        run(program, *options, "-batch", "-", text="\n".join(lines) + "\n")


def wait_until(holds, seconds, what, log=None):
    """Wait for a condition, or say what did not come, with the end of a log."""
    deadline = time.monotonic() + seconds
    while not holds():
        if time.monotonic() > deadline:
            raise RunError(f"after {seconds} s still no {what}{_end_of(log)}")
        time.sleep(0.02)


def _end_of(log):
    if not log:
        return ""
    with open(log, encoding="utf-8", errors="replace") as file:
        return "; its log ends:\n" + "".join(file.readlines()[-5:])
