#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""`gpurace campaign --slurm` with a real Slurm, of this machine alone: test_slurm.py GPURACE EXAMPLES RUNS

Starts munged, slurmctld and slurmd with a configuration of their own, below a scratch folder. A task is cancelled, so that it is lost. What
comes out must be what a campaign on one machine finds. Exit status 77, which CTest takes for "skipped": Slurm is not installed, or we are not root."""
import contextlib
import os
import pathlib
import shutil
import socket
import sqlite3
import subprocess
import sys
import tempfile
import time

GPURACE, EXAMPLES, RUNS = os.path.abspath(sys.argv[1]), pathlib.Path(sys.argv[2]).absolute(), int(sys.argv[3])
PROGRAM = str(EXAMPLES / "worklist_race")
LATER, TASKS = 75, 5
CONFIGURATION = """ClusterName=test
SlurmctldHost={host}(127.0.0.1)
SlurmctldPort={ports[0]}
SlurmdPort={ports[1]}
AuthType=auth/munge
AuthInfo=socket={folder}/munge.sock
CredType=cred/munge
SlurmUser=root
SlurmdUser=root
StateSaveLocation={folder}/state
SlurmdSpoolDir={folder}/spool
SlurmctldPidFile={folder}/slurmctld.pid
SlurmdPidFile={folder}/slurmd.pid
SlurmctldLogFile={folder}/slurmctld.log
SlurmdLogFile={folder}/slurmd.log
ProctrackType=proctrack/pgid
TaskPlugin=task/none
MpiDefault=none
AccountingStorageType=accounting_storage/none
JobCompType=jobcomp/none
SelectType=select/cons_tres
SelectTypeParameters=CR_Core
ReturnToService=2
SchedulerParameters=sched_interval=1,batch_sched_delay=1
SlurmdParameters=config_overrides
NodeName={host} NodeAddr=127.0.0.1 CPUs=2 State=UNKNOWN
PartitionName=all Nodes=ALL Default=YES MaxTime=INFINITE State=UP
"""


def free_ports(n):
    with contextlib.ExitStack() as stack:
        sockets = [stack.enter_context(socket.socket()) for _ in range(n)]
        for s in sockets:
            s.bind(("127.0.0.1", 0))
        return [s.getsockname()[1] for s in sockets]


@contextlib.contextmanager
def cluster(folder):
    """A cluster of this machine alone; what its commands need is in the environment meanwhile."""
    host = socket.gethostname().split(".")[0]
    (folder / "munge.key").write_bytes(os.urandom(1024))
    (folder / "munge.key").chmod(0o600)
    for name in ("state", "spool"):
        (folder / name).mkdir()
    (folder / "slurm.conf").write_text(CONFIGURATION.format(host=host, ports=free_ports(2), folder=folder))
    os.environ["SLURM_CONF"] = str(folder / "slurm.conf")
    commands = [["munged", "--force", "--foreground", f"--socket={folder}/munge.sock", f"--key-file={folder}/munge.key",
                 f"--pid-file={folder}/munged.pid", f"--log-file={folder}/munged.log", f"--seed-file={folder}/munge.seed"],
                ["slurmctld", "-D", "-f", f"{folder}/slurm.conf"],
                ["slurmd", "-D", "-f", f"{folder}/slurm.conf", "-N", host]]
    running = []
    try:
        for command in commands:
            with (folder / f"{command[0]}.out").open("wb") as out:
                running.append(subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=out, stderr=out))
            if command[0] == "munged":
                wait_for(lambda: (folder / "munge.sock").exists(), running, folder)
        wait_for(lambda: "idle" in subprocess.run(["sinfo", "-h", "-o", "%T"], capture_output=True, text=True).stdout, running, folder)
        yield
    finally:
        subprocess.run(["scancel", "--user=root"], capture_output=True)
        for process in reversed(running):
            process.terminate()
            process.wait()


def wait_for(is_so, running, folder):
    while not is_so():
        if any(process.poll() is not None for process in running):
            sys.exit("a part of Slurm ended: " + "".join(p.read_text(errors="replace")[-600:] for p in sorted(folder.glob("*.out"))))
        time.sleep(0.05)


def campaign(folder, state, *options):
    command = [GPURACE, "campaign", "--device", "cpu", "--seeds", f"1..{RUNS // 2}", "--engines", "exact,collider", "--state",
               str(folder / state), *options, "--", PROGRAM]
    return subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, text=True, cwd=folder)


def summary(done):
    text = done.stderr[done.stderr.index("gpurace: campaign: verdict"):]
    return [line for line in text.splitlines() if not line.startswith("  results")]


def result(path):
    with sqlite3.connect(f"file:{path}/campaign.sqlite?mode=ro", uri=True) as db:
        key = "run.seed, run.input, run.engine, run.schedule"
        return [db.execute(query).fetchall() for query in
                (f"SELECT {key}, verdict, status, report FROM run ORDER BY {key}", "SELECT * FROM race ORDER BY id",
                 f"SELECT {key}, race, count FROM seen JOIN run ON run.id = seen.run ORDER BY {key}, race")] + [(path / "growth.svg").read_text()]


def queued():
    return subprocess.run(["squeue", "-h", "-r", "-o", "%i"], capture_output=True, text=True, check=True).stdout.split()


def main():
    missing = [name for name in ("munged", "slurmctld", "slurmd", "sbatch", "squeue", "scancel", "sinfo") if not shutil.which(name)]
    if missing or os.geteuid():
        print(f"skipped: {'not found: ' + ', '.join(missing) + ' (Debian package slurm-wlm)' if missing else 'Slurm is started as root'}")
        return 77
    for name in [n for n in os.environ if n.startswith(("GPURACE", "SLURM", "SBATCH", "SQUEUE"))]:
        del os.environ[name]
    with tempfile.TemporaryDirectory(prefix="test-slurm-") as scratch, cluster(pathlib.Path(scratch)):
        folder = pathlib.Path(scratch)
        whole = campaign(folder, "whole")
        assert whole.returncode == 66, whole.stderr
        words = ("--slurm", "--tasks", str(TASKS), "--jobs", "1", "--sbatch", "--comment 'two words'")
        calls, submitted, lost = 0, 0, False
        while True:
            done = campaign(folder, "slurm", *words)
            calls += 1
            submitted += "of Slurm: " in done.stderr
            if done.returncode != LATER:
                break
            tasks = queued()
            if not lost and tasks:
                subprocess.run(["scancel", tasks[-1]], check=True)  # the last to begin
                lost = True
            time.sleep(0.3)
        assert done.returncode == 66, done.stderr
        assert submitted == 2, f"submitted {submitted} times: the cancelled task had to be submitted again: {done.stderr}"
        assert summary(done) == summary(whole), done.stderr
        assert result(folder / "slurm") == result(folder / "whole")
        assert not queued()
        merged = campaign(folder, "slurm", "--merge")
        assert (merged.returncode, summary(merged)) == (66, summary(whole)), merged.stderr
        print(f"{RUNS} runs by {TASKS} tasks of Slurm, one of them lost and submitted again: the same result; {calls} calls")
    return 0


sys.exit(main())
