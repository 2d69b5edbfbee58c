# SPDX-License-Identifier: Apache-2.0
"""What the engines of a command can do, as `gpurace engines` says it. By that, and not by names, tools decide how an engine is judged."""
import json
import subprocess
from dataclasses import dataclass


class EngineError(ValueError):
    pass


@dataclass(frozen=True)
class Engine:
    name: str
    can: frozenset  # src/options/caps.def, in lower case
    options: frozenset  # "--seed", ...: those that it heeds
    classes: frozenset

    def heeds(self, words):
        """Whether it heeds all options among these words."""
        return all(word in self.options for word in words if word.startswith("--"))


@dataclass(frozen=True)
class Chosen:
    """--engine NAME or A+B."""

    name: str
    finder: Engine  # of two engines in one run, the one whose reports the other confirms
    confirmed: bool  # there are two, and one follows what orders accesses


def load(gpurace):
    """The engines of a command, by name and in its order."""
    done = subprocess.run([gpurace, "engines", "--format", "json"], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, check=False)
    if done.returncode:
        raise EngineError(f"{gpurace} does not tell its engines: {done.stderr.strip()[-300:]}")
    return {e["name"]: Engine(e["name"], *(frozenset(e[key]) for key in ("can", "options", "classes")))
            for e in json.loads(done.stdout)["engines"]}


def choose(gpurace, name, device):
    """The engine of that name, if it finds races on the device."""
    known = load(gpurace)
    parts = [known.get(part) for part in name.split("+")]
    if not all(parts):
        raise EngineError(f"{gpurace} has no engine {name!r}; it has {', '.join(known)}")
    for part in parts:
        if "checks" not in part.can:
            raise EngineError(f"{part.name} finds no races")
        if device not in part.can:
            raise EngineError(f"{part.name} {'needs no run' if 'static' in part.can else f'does not run on this device: {device}'}")
    finder = next((part for part in parts if "causality" not in part.can), parts[0])
    return Chosen(name, finder, any("causality" in part.can for part in parts if part is not finder))
