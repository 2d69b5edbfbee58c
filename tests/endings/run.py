#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Every way to end, and every limit of the system: no crash of gpurace's, no hang, never *clean* where something was lost, and the program's own status.

run.py [--soak] --gpurace GPURACE --nvcc NVCC --folder BUILD [--engine ENGINE] [ROW ...]

ENDINGS and LIMITS are tables (the classes Row and Limit say what is in them). Without --soak each row runs once, with an engine, a moment and a kernel that its number
chooses; with it, all of them.
"""
import argparse
import concurrent.futures
import fcntl
import os
import pty
import re
import resource
import shutil
import signal
import subprocess
import sys
import tempfile
import termios
import time

HERE = os.path.dirname(os.path.abspath(__file__))
ENGINES = ("exact", "collider", "tracker", "privatizer", "none")
KERNELS = ("quiet", "racy")
MOMENTS = ("before", "during", "after")
OWN = 3       # what the program ends with by itself
PATIENCE = 60  # seconds: longer is a hang
ALLOCATIONS = 240
NVCC_OPTIONS = ["-std=c++17", "-O1", "-g", "-lineinfo", "-cudart", "shared", "-nodlink", "-gencode", "arch=compute_90,code=compute_90"]
OURS = re.compile(r"gpurace crashed|could not be written \(killed|no report could be written|internal check failed")


class Row:
    """An ending: how the program ends (a status, or minus a signal), and what of that is an orderly end.

    ends      the status, or minus the signal; for a moment of its own: {"before": ...}
    goes_on   the program goes on behind it: what it launches later is checked
    orderly   all that was launched was checked, and the process ended as it should
    waits     it waits for what runs
    moments   the moments at which it means something
    options   of `gpurace run`
    more      variables of the environment
    says      what the report says
    timed     it ends by real time, so perhaps before or after it has done something
    """

    def __init__(self, ending, ends=OWN, goes_on=False, orderly=False, waits=False, moments=MOMENTS, options=(), more=None, says=None, timed=False):
        self.more, self.timed = more, timed
        self.ending, self.ends, self.goes_on, self.orderly, self.waits = ending, ends, goes_on, orderly or goes_on, waits
        self.moments, self.options, self.says = moments, options, says

    def verdicts(self, kernel, moment, engine):
        """The verdicts that are right."""
        launched = moment != "before" or self.goes_on
        if engine == "none":
            return {"inconclusive"}
        if self.timed:
            return {"races", "inconclusive"} if kernel == "racy" else {"clean", "inconclusive"}
        if kernel == "racy" and launched:
            return {"races"}
        if not launched or not self.orderly:
            return {"inconclusive"}
        return {"clean"} if moment != "during" or self.waits else {"clean", "inconclusive"}  # it may be over already


def signals():
    """Rows of every signal that can be caught: sent to itself by default, with a handler, ignored, and by a handler that does not return."""
    stops = {signal.SIGSTOP, signal.SIGTSTP, signal.SIGTTIN, signal.SIGTTOU}
    harmless = {signal.SIGCHLD, signal.SIGCONT, signal.SIGURG, signal.SIGWINCH}
    rows = []
    for sig in [int(s) for s in signal.valid_signals() if s < 32 or s in (signal.SIGRTMIN, signal.SIGRTMAX)]:
        if sig == signal.SIGKILL:
            rows.append(Row(f"killed:{sig}", ends=-sig))
            continue
        if sig not in stops:
            rows.append(Row(f"raise:{sig}", goes_on=True) if sig in harmless else Row(f"raise:{sig}", ends=-sig))
        if sig != signal.SIGSTOP:
            rows += [Row(f"handled:{sig}", goes_on=True), Row(f"ignored:{sig}", goes_on=True), Row(f"jump_from_handler:{sig}", goes_on=True)]
    return rows


HAS_RUN = ("during", "after")
ENDINGS = [
    Row("return", goes_on=True),
    Row("exit", orderly=True),
    Row("_exit", orderly=True),
    Row("_Exit", orderly=True),
    Row("quick_exit", orderly=True),
    Row("abort", ends=-signal.SIGABRT),
    Row("at_exit", orderly=True, moments=HAS_RUN, waits=True),
    Row("exit_in_thread", orderly=True),
    Row("_exit_in_thread", orderly=True),
    Row("main_thread", ends=0, orderly=True),
    Row("threads", goes_on=True, moments=HAS_RUN),
    Row("cancel", goes_on=True, waits=True, moments=HAS_RUN),
    Row("host_function_exits", orderly=True, moments=HAS_RUN),
    Row("host_function_leaves", goes_on=True, waits=True, moments=HAS_RUN),
    Row("exec"),
    Row("fork_child", goes_on=True),
    Row("fork_parent", goes_on=True),
    Row("vfork", goes_on=True),
    Row("blocked", ends=-signal.SIGTERM, moments=HAS_RUN),
    Row("jump_from_fault", goes_on=True),
    Row("jump_from_wait", moments=HAS_RUN, timed=True),
    Row("launch_in_handler", goes_on=True, waits=True, moments=HAS_RUN),
    Row("exit_in_handler", moments=HAS_RUN),
    Row("stop", goes_on=True),
    Row("null", ends=-signal.SIGSEGV),
    Row("device_pointer", ends=-signal.SIGSEGV),
    Row("division", ends=-signal.SIGFPE),
    Row("illegal", ends=-signal.SIGILL),
    Row("bus", ends=-signal.SIGBUS),
    Row("stack", ends=-signal.SIGSEGV),
    Row("throw", ends=-signal.SIGABRT),
    Row("throw_in_thread", ends=-signal.SIGABRT),
    Row("trap", says="was stopped by the device", moments=HAS_RUN),
    Row("fault", says="was stopped by the device", moments=HAS_RUN),
    Row("endless", more={"GPURACE_CPU_DEVICE": "watchdog=1000000"}, says="was stopped by the device", moments=HAS_RUN),
    Row("endless", ends=124, options=("--timeout", "1"), timed=True, says="was killed after 1 second", moments=("after",)),
    Row("reset", goes_on=True, waits=True, moments=("after",)),
    Row("dlclose:PLUGIN", goes_on=True, waits=True, moments=HAS_RUN),
    Row("close_all", goes_on=True, waits=True, moments=HAS_RUN),
    *signals(),
]


class Problem(Exception):
    """What is wrong with a run."""


def expect(ok, what):
    """Raises what is wrong."""
    if not ok:
        raise Problem(what)


# ---- A run ---------------------------------------------------------------------------------------------------------


class Done:
    """A run that has ended."""

    def __init__(self, status, out, err):
        self.status, self.out, self.err = status, out, err
        found = re.search(r"^gpurace: verdict: (\w+)", err, re.M)
        self.verdict = found.group(1) if found else None

    def text(self):
        """What a reader of a failed test wants to see."""
        return f"status {self.status}\n{self.out}{self.err[-3000:]}"


class Runs:
    """Runs the program under gpurace, each time with folders of its own."""

    def __init__(self, args):
        self.args = args
        self.program = os.path.join(args.folder, "endings")
        self.plugin = os.path.join(args.folder, "libplugin.so")
        self.shim = os.path.join(args.folder, "libfail_malloc.so")

    def build(self):
        """Builds what is older than its source."""
        source, shim = os.path.join(HERE, "endings.cu"), os.path.join(HERE, "fail_malloc.c")
        os.makedirs(self.args.folder, exist_ok=True)
        for target, command in ((self.program, [self.args.nvcc, *NVCC_OPTIONS, source]),
                                (self.plugin, [self.args.nvcc, *NVCC_OPTIONS, "-DPLUGIN", "-shared", "-Xcompiler", "-fPIC", source]),
                                (self.shim, ["cc", "-shared", "-fPIC", "-O1", "-D_GNU_SOURCE", shim])):
            if not os.path.exists(target) or os.path.getmtime(target) < max(os.path.getmtime(source), os.path.getmtime(shim)):
                done = subprocess.run([*command, "-o", target], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False)
                if done.returncode:
                    sys.exit(f"{target}: {done.stdout}")

    def command(self, engine, kernel, moment, ending, options=()):
        """The words of a run."""
        return [self.args.gpurace, "run", "--device", "cpu", "--engine", engine, "--strict", "no", *options, "--", self.program, kernel, moment,
                ending.replace("PLUGIN", self.plugin)]

    def environment(self, folder, more):
        """Without a cache, so that each run makes a folder in TMPDIR."""
        kept = {k: v for k, v in os.environ.items() if not k.startswith(("GPURACE_", "XDG_")) and k != "HOME"}
        return {**kept, "TMPDIR": folder, **(more or {})}

    def start(self, command, folder, more=None, first=None, **how):
        """Starts it; the process does `first` before. The caller ends it."""

        def begin():
            for sig in signal.valid_signals() - {signal.SIGKILL, signal.SIGSTOP}:
                signal.signal(sig, signal.SIG_DFL)  # nohup, and shells for what is in the background, ignore some
            if first:
                first()

        return subprocess.Popen(command, env=self.environment(folder, more), stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                                errors="replace", preexec_fn=begin, **{"stdin": subprocess.DEVNULL, **how})

    def finish(self, process):
        """Waits for its end."""
        try:
            out, err = process.communicate(timeout=PATIENCE)
        except subprocess.TimeoutExpired:
            process.terminate()  # gpurace passes that on
            try:
                out, err = process.communicate(timeout=10)
            except subprocess.TimeoutExpired:
                process.kill()
                out, err = process.communicate()
            raise Problem(f"it hangs\n{out}{err[-2000:]}") from None
        return Done(process.returncode, out, err)

    def run(self, command, more=None, folder=None, limits=()):
        """Runs it to its end."""

        def set_limits():
            for what, value in limits:
                resource.setrlimit(what, (value, value))
            resource.setrlimit(resource.RLIMIT_CORE, (0, 0))

        with tempfile.TemporaryDirectory(prefix="gpurace-test-") as own:
            done = self.finish(self.start(command, folder or own, more, set_limits))
            expect(folder or not os.listdir(own), f"it leaves {os.listdir(own)} in TMPDIR")
        return done


def shell_status(ends):
    """Of a signal as shells count."""
    return ends if ends >= 0 else 128 - ends


def check_own_mistakes(done):
    """Nothing that says that gpurace itself failed."""
    expect(not OURS.search(done.err), f"gpurace failed\n{done.text()}")


def check_ending(runs, row, engine, kernel, moment):
    """One ending at one moment."""
    done = runs.run(runs.command(engine, kernel, moment, row.ending, row.options), row.more)
    expect("ends\n" in done.out or row.timed, f"the program has not come to its end\n{done.text()}")
    wanted = row.verdicts(kernel, moment, engine)
    expect(done.verdict in wanted, f"verdict {done.verdict}, and right is {' or '.join(sorted(wanted))}\n{done.text()}")
    status = 66 if done.verdict == "races" else shell_status(row.ends)
    expect(done.status == status, f"status {done.status}, not {status}\n{done.text()}")
    expect(not row.says or row.says in done.err, f"it does not say {row.says!r}\n{done.text()}")
    check_own_mistakes(done)


# ---- The launcher ----------------------------------------------------------------------------------------------------


def wait_for_end_of(process):
    """Until the program has said that it is there."""
    for line in process.stdout:
        if line == "ends\n":
            return
    raise Problem(f"the program has not begun\n{process.stderr.read()}")


def check_launcher(runs, how, engine, kernel, moment):
    """The launcher gets a signal, or its terminal goes away, while the program waits."""
    with tempfile.TemporaryDirectory(prefix="gpurace-test-") as folder:
        command, more = runs.command(engine, kernel, moment, "pause"), None
        if how == "terminal":
            launched_from_terminal(runs, command, folder, kernel, moment, engine)
            return
        if how == "killed-on-disk":
            more = {"LD_PRELOAD": runs.shim, "FAIL_MEMFD": "1"}
        sig = signal.SIGKILL if how.startswith("killed") else int(how)
        process = runs.start(command, folder, more, start_new_session=True)
        try:
            wait_for_end_of(process)
        except Problem:
            process.kill()
            raise
        expect(sig != signal.SIGKILL or os.listdir(folder), "it has no folder that could be left")
        process.send_signal(sig)
        done = runs.finish(process)  # its pipes are closed when the program has ended
        check_ended_by(done, sig, folder, kernel, moment, engine)


def check_ended_by(done, sig, folder, kernel, moment, engine):
    """What is left of a run that a signal to the launcher has ended."""
    if sig == signal.SIGKILL:
        expect(done.status == -sig, done.text())
        give_up = time.monotonic() + PATIENCE
        while os.listdir(folder) and time.monotonic() < give_up:
            time.sleep(0.02)
    else:
        wanted = "races" if kernel == "racy" and moment != "before" and engine != "none" else "inconclusive"
        expect(done.verdict == wanted, f"verdict {done.verdict}, not {wanted}\n{done.text()}")
        expect(done.status == (66 if wanted == "races" else 128 + sig), done.text())
        expect(f"was killed by signal {int(sig)}" in done.err, done.text())
        check_own_mistakes(done)
    expect(not os.listdir(folder), f"{os.listdir(folder)} is left in TMPDIR")


def launched_from_terminal(runs, command, folder, kernel, moment, engine):
    """The window is closed: the terminal hangs up."""
    ours, theirs = pty.openpty()

    def take_terminal():
        os.setsid()
        fcntl.ioctl(theirs, termios.TIOCSCTTY, 0)

    process = runs.start(command, folder, None, take_terminal, stdin=theirs)
    os.close(theirs)
    try:
        wait_for_end_of(process)
    finally:
        os.close(ours)
    check_ended_by(runs.finish(process), signal.SIGHUP, folder, kernel, moment, engine)


LAUNCHER = [*(str(int(s)) for s in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP, signal.SIGQUIT)), "killed", "killed-on-disk", "terminal"]


# ---- Limits -----------------------------------------------------------------------------------------------------------

KIB, MIB = 1 << 10, 1 << 20


class Limit:
    """A limit of the system: what must be said where not all was checked, and whether the races must be there all the same (`finds`)."""

    def __init__(self, name, *limits, says=None, finds=False, starts=True, ends=(OWN,), more=None, ending="return", mounts=None):
        self.name, self.limits, self.says, self.finds, self.starts, self.ends = name, limits, says, finds, starts, ends
        self.more, self.ending, self.mounts = more, ending, mounts


FSIZE, NOFILE, SPACE = resource.RLIMIT_FSIZE, resource.RLIMIT_NOFILE, resource.RLIMIT_AS
TOO_LARGE, NO_DESCRIPTOR = "the limit on the size of files", "no free file descriptor"
NO_MEMFD = {"FAIL_MEMFD": "1"}
LIMITS = [
    Limit("file-size-0", (FSIZE, 0), says=TOO_LARGE, starts=False, ends=(1,)),
    *(Limit(f"file-size-{k}k", (FSIZE, k * KIB), says=TOO_LARGE) for k in (4, 8, 16, 64, 256)),
    Limit("file-size-16m", (FSIZE, 16 * MIB), says=TOO_LARGE, finds=True),
    *(Limit(f"descriptors-{n}", (NOFILE, n), says=NO_DESCRIPTOR, starts=False, ends=(126,)) for n in (4, 5)),
    *(Limit(f"descriptors-{n}", (NOFILE, n), says=NO_DESCRIPTOR, ends=(OWN, 126, 1)) for n in (6, 7)),
    *(Limit(f"descriptors-{n}", (NOFILE, n), says=NO_DESCRIPTOR, finds=True) for n in (8, 12)),
    Limit("descriptors-eaten", says=NO_DESCRIPTOR, ending="eat_all"),
    *(Limit(f"address-space-{m}m", (SPACE, m * MIB), says="memory ran out", ends=(OWN, 11)) for m in (300, 900)),
    Limit("no-threads", more={"FAIL_THREADS": "1"}, says="", finds=True),
    Limit("stack-256k", (resource.RLIMIT_STACK, 256 * KIB), says="", finds=True),
    *(Limit(f"data-{m}m", (resource.RLIMIT_DATA, m * MIB), says="", ends=(OWN, 1, 11, 126, 127)) for m in (8, 64)),
    *(Limit(f"address-space-{m}m", (SPACE, m * MIB), says="memory", ends=(OWN, 11)) for m in (2500, 5000)),
    Limit("no-memfd", more=NO_MEMFD, says="", finds=True),
    Limit("no-memfd-full-disk", more=NO_MEMFD, mounts="size=32k", says="No space left", ends=(OWN, 1)),
    Limit("full-disk", mounts="size=4k,nr_inodes=2", says="", finds=True),
]


def run_with_disk(runs, limit, command, more):
    """With a small file system for TMPDIR. None: such cannot be mounted here."""
    with tempfile.TemporaryDirectory(prefix="gpurace-test-") as folder:
        mount = ["unshare", "-m", "sh", "-c", 'mount -t tmpfs -o "$1" none "$2" || exit 77; shift 2; exec "$@"', "sh", limit.mounts, folder]
        if not shutil.which("unshare") or subprocess.run([*mount, "true"], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, check=False).returncode:
            return None
        return runs.finish(runs.start([*mount, *command], folder, more))


def check_limit(runs, limit, engine, kernel):
    """One limit: it is named, the program goes on, and what was found is reported."""
    more = {"LD_PRELOAD": runs.shim, **limit.more} if limit.more else None
    command = runs.command(engine, kernel, "after", limit.ending)
    done = run_with_disk(runs, limit, command, more) if limit.mounts else runs.run(command, more, limits=limit.limits)
    if done is None:
        return
    if limit.starts:
        expect("ends\n" in done.out or "no memory\n" in done.out or done.status in limit.ends[1:], f"the program has not come to its end\n{done.text()}")
        wanted = {"quiet": {"clean", "inconclusive"}, "racy": {"races"} if limit.finds else {"races", "inconclusive"}}[kernel]
        wanted = wanted if engine != "none" else {"inconclusive"}
        expect(done.verdict in wanted or done.status in limit.ends[1:], f"verdict {done.verdict}, and right is {' or '.join(sorted(wanted))}\n{done.text()}")
        check_own_mistakes(done)
    expect(done.status in limit.ends or (done.status == 66 and done.verdict == "races"), f"status {done.status}\n{done.text()}")
    expect(done.verdict in ("clean", "races") or engine == "none" or limit.says in done.err, f"it does not say {limit.says!r}\n{done.text()}")


# ---- Memory -----------------------------------------------------------------------------------------------------------


def check_memory(runs, engine, at, everything):
    """One allocation of the program's process fails, or all from that one on."""
    more = {"LD_PRELOAD": runs.shim, "FAIL_AT": str(at), "FAIL_NAME": "endings", **({"FAIL_ALL": "1"} if everything else {})}
    verdicts = {}
    for kernel in KERNELS:
        done = runs.run(runs.command(engine, kernel, "after", "return"), more)
        expect(done.status in (OWN, 11, 66), f"{kernel}: status {done.status}\n{done.text()}")
        check_own_mistakes(done)
        verdicts[kernel] = done.verdict
    for kernel, verdict in verdicts.items():
        found = "races" if kernel == "racy" else "clean"
        expect(verdict == "inconclusive" or (verdict == found and engine != "none"), f"{kernel}: verdict {verdict}")


# ---- All of it ----------------------------------------------------------------------------------------------------------


def jobs_of(runs, args):
    """What is to be run: (name, function, arguments)."""
    jobs = []

    def add(name, function, *arguments):
        jobs.append((name, function, (runs, *arguments)))

    def choose(number, choices):
        return choices if args.soak else [choices[number % len(choices)]]

    engines = [args.engine] if args.engine else ENGINES
    quick = engines if args.engine else ENGINES[:4]  # of `none` there is little to say
    for n, row in enumerate(ENDINGS):
        if not args.soak and ":" in row.ending and row.ending.split(":")[0] in ("handled", "ignored", "jump_from_handler") and n % 6:
            continue
        for engine in engines if args.soak else choose(n, quick):
            for kernel in choose(n // 2, KERNELS):
                for moment in choose(n // 3, row.moments):
                    add(f"{row.ending} {' '.join(row.options)}{engine} {kernel} {moment}", check_ending, row, engine, kernel, moment)
    for n, how in enumerate(LAUNCHER):
        for engine in engines if args.soak else choose(n, quick):
            for kernel in choose(n + 1, KERNELS):
                for moment in choose(n, MOMENTS):
                    add(f"launcher {how} {engine} {kernel} {moment}", check_launcher, how, engine, kernel, moment)
    for n, limit in enumerate(LIMITS):
        for engine in engines if args.soak else choose(n, quick):
            for kernel in choose(n, KERNELS[::-1]):
                add(f"limit {limit.name} {engine} {kernel}", check_limit, limit, engine, kernel)
    for at in range(0, ALLOCATIONS, 1 if args.soak else 20):
        for engine in engines if args.soak else choose(at // 20, quick):
            for everything in (False, True) if args.soak else [at // 20 % 2 == 1]:
                add(f"allocation {at}{' and all after it' if everything else ''} {engine}", check_memory, engine, at, everything)
    return [j for j in jobs if not args.rows or any(r in j[0] for r in args.rows)]


def attempt(job):
    """What went wrong, or None."""
    name, function, arguments = job
    try:
        function(*arguments)
    except Problem as problem:
        return f"{name}: {problem}"
    return None


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--gpurace", required=True)
    parser.add_argument("--nvcc", required=True)
    parser.add_argument("--folder", required=True, help="where the programs are built")
    parser.add_argument("--soak", action="store_true", help="each row with each engine, moment and kernel")
    parser.add_argument("--engine", choices=ENGINES)
    parser.add_argument("-j", dest="jobs", type=int, default=os.cpu_count())
    parser.add_argument("rows", nargs="*", help="parts of names; all without")
    args = parser.parse_args()
    runs = Runs(args)
    runs.build()
    jobs = jobs_of(runs, args)
    wrong = 0
    with concurrent.futures.ThreadPoolExecutor(args.jobs) as pool:
        for problem in pool.map(attempt, jobs):
            wrong += problem is not None
            if problem:
                print(problem, flush=True)
    print(f"{len(jobs)} runs, {wrong} wrong")
    sys.exit(bool(wrong) or not jobs)


if __name__ == "__main__":
    main()
