# SPDX-License-Identifier: Apache-2.0
"""What there is to test with: the GPUs and their driver, CUDA's toolkit, and what was built."""
import os
import re
import shutil
import subprocess
from dataclasses import dataclass, field
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent.parent
DEVICE_FILE = "/dev/nvidiactl"


def output_of(*command):
    """What a command prints; empty if it fails or is not there."""
    try:
        done = subprocess.run(command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, timeout=60, check=False)
    except (OSError, subprocess.TimeoutExpired):
        return ""
    return done.stdout if done.returncode == 0 else ""


@dataclass
class Machine:
    """`lacking` says why there is nothing to test on; empty: there is."""

    gpus: list = field(default_factory=list)  # "NVIDIA H100 80GB HBM3 (sm_90)", one for each
    driver: str = ""
    lacking: str = ""

    def in_words(self):
        kinds = {name: self.gpus.count(name) for name in self.gpus}
        gpus = ", ".join(f"{count} x {name}" if count > 1 else name for name, count in kinds.items())
        return f"{gpus}, driver {self.driver}"


def find(device_file=DEVICE_FILE):
    if not os.path.exists(device_file):
        return Machine(lacking=f"no NVIDIA GPU: {device_file} is not there")
    if not shutil.which("nvidia-smi"):
        return Machine(lacking=f"{device_file} is there, but no nvidia-smi on the PATH, which comes with NVIDIA's driver")
    listed = output_of("nvidia-smi", "--query-gpu=name,compute_cap,driver_version", "--format=csv,noheader")
    rows = [line.split(", ") for line in listed.splitlines() if line.count(", ") == 2]
    if not rows:
        return Machine(lacking="nvidia-smi names no GPU")
    shown = os.environ.get("CUDA_VISIBLE_DEVICES")
    if shown is not None:
        rows = rows[: len([word for word in shown.split(",") if word.strip() not in ("", "-1")])]
        if not rows:
            return Machine(lacking="CUDA_VISIBLE_DEVICES hides all GPUs")
    return Machine([f"{name} (sm_{cap.replace('.', '')})" for name, cap, _ in rows], rows[0][2])


@dataclass
class Built:
    """A build folder. One that was carried here from another machine will do: nothing is built in it."""

    folder: Path

    @property
    def gpurace(self):
        return str(self.folder / "gpurace")

    def program(self, *parts):
        return str(self.folder.joinpath(*parts))

    def complete_program(self, name):
        """A program of tests/complete, alone in its file if it was built so: of a file with several, the driver compiles all."""
        alone, together = (self.folder.joinpath("complete-programs", *more, name) for more in ((), ("tested",)))
        return str(together if together.exists() and not alone.exists() else alone)


class Toolkit:
    """The first CUDA toolkit that has nvcc, and the compilers' libraries, which may be Python packages. None where there is none."""

    def __init__(self, built):
        near = [os.environ.get("CUDA_HOME", ""), str(built.folder / "cuda"), "/usr/local/cuda"]
        found = shutil.which("nvcc")
        folders = ([os.path.dirname(os.path.dirname(os.path.realpath(found)))] if found else []) + [n for n in near if n]
        self.home = next((f for f in folders if os.access(os.path.join(f, "bin/nvcc"), os.X_OK)), None)
        self.nvcc = self.home and os.path.join(self.home, "bin/nvcc")
        self.nvrtc, self.nvjitlink = self.find_library("libnvrtc.so.13"), self.find_library("libnvJitLink.so.13")
        release = re.search(r"release ([\d.]+)", output_of(self.nvcc, "--version")) if self.nvcc else None
        self.release = release.group(1) if release else None

    def find_library(self, name):
        packages = output_of("python3", "-c", "import nvidia; print(list(nvidia.__path__)[0])").strip()
        for folder in filter(None, (self.home, packages)):
            for where, _, files in os.walk(folder, followlinks=True):
                if name in files:
                    return os.path.join(where, name)
        return None

    def cudart(self):
        """The folder of the shared runtime, for programs that the loader would not find it for."""
        found = self.find_library("libcudart.so.13")
        return found and os.path.dirname(found)
