#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""A model of warps that wait: how likely do windows see a race, for several ways to draw the waits?

    waits_model.py [--runs N] [--seed N]

Two to four warps begin together, as the warps of a block do, or up to 3 microseconds apart, as blocks do. Each has a list of accesses, and an access
takes the same time in each warp but for a twentieth. A race shows in a run when a store or an atomic access of one warp comes while another warp's window of the same
place is open; a store of the value that is there only where it is poisoned. The waits of collider_time.h were chosen by this model, and not by the
programs that docs/detection-gpu.md measures. The table has the share of five runs in a row that see each race.
"""
import argparse
import random

STEPS = (0.3, 0.5, 0.1, 0.2, 0.4, 0.1, 0.3, 0.2)  # microseconds between accesses

# Warps of (access, place): r load, w store, a atomic. How far apart they begin; whether stores leave the value as it was.
EXCHANGE = [[("r", f"in{k}"), ("w", f"s{k}"), ("r", f"s{1 - k}"), ("w", f"out{k}")] for k in range(2)]
RACES = {
    "store, load": (EXCHANGE, 0, False),
    "of 4 warps": ([[("r", f"in{k}"), ("w", f"s{k}"), ("r", f"s{3 - k}"), ("w", f"out{k}")] for k in range(4)], 0, False),
    "same value": (EXCHANGE, 0, True),
    "load, store": ([[("r", "b"), ("w", "a")], [("r", "a"), ("w", "b")]], 0, False),
    "one stores, one loads": ([[("w", "x")], [("r", "x"), ("w", "out")]], 0, False),
    "and loads late": ([[("r", "in"), ("w", "x")], [("r", "p"), ("r", "q"), ("r", "x"), ("w", "out")]], 0, False),
    "two stores": ([[("r", "p"), ("w", "x")], [("r", "q"), ("w", "x")]], 0, False),
    "of one value": ([[("r", "p"), ("w", "x")], [("r", "q"), ("w", "x")]], 0, True),
    "atomic, load": ([[("r", "p"), ("a", "x"), ("r", "x"), ("w", "out")], [("r", "q"), ("a", "x")]], 0, False),
    "blocks: += ": ([[("r", "x"), ("w", "x")]] * 2, 3, False),
    "blocks: store, load": (EXCHANGE, 3, False),
    "load, far store": ([[("r", "x"), ("w", "out")], [("r", "p"), ("w", "q"), ("r", "s"), ("w", "t"), ("r", "u"), ("w", "x")]], 0, False),
    "+=, far atomic": ([[("r", "x"), ("w", "x"), ("r", "p"), ("w", "p"), ("a", "y")], [("r", "y"), ("w", "y"), ("r", "q"), ("w", "q"), ("a", "x")]], 0, False),
    "far on both sides": ([[("r", "x"), ("r", "p"), ("w", "q"), ("r", "s"), ("w", "y")], [("r", "y"), ("r", "t"), ("w", "u"), ("r", "v"), ("w", "x")]], 0, False),
}


def never():
    return 0.0


def upto(most):
    return lambda: random.random() * most


def any_size(most):
    """Every power of two below the maximum is as likely."""
    return lambda: most * 0.4 * 2 ** -random.randrange(13) * random.random() * 2


def about(most):
    return lambda: most * (0.5 + 0.5 * random.random())


def now_and_then(wait, share):
    return lambda: wait() if random.random() < share else 0.0


def even(most, poison=True, late=True):
    return (about(most), now_and_then(about(most), 5 / 8), now_and_then(upto(most / 2), 0.5) if late else never, upto(most) if poison else None,
            upto(most) if late else never)


# After a load, after a store, before a store or atomic, between a poisoned store and the store (None: no poison), at the beginning. And the share of
# the warps that waits a quarter. Five runs, in a row.
WAYS = {
    "the paper, 5": [((any_size(5), any_size(5), never, None, never), 0)] * 5,
    "the paper, 100": [((any_size(100), any_size(100), never, None, never), 0)] * 5,
    "all poisoned, 5": [((any_size(5), any_size(5), any_size(5), any_size(5), never), 0)] * 5,
    "all poisoned, 100": [((any_size(100), any_size(100), any_size(100), any_size(100), never), 0)] * 5,
    "about one length, 5, nobody late": [(even(5, poison=False, late=False), 0)] * 5,
    "about one length, 5, not poisoned": [(even(5, poison=False), 0)] * 5,
    "about one length, 5": [(even(5), 0)] * 5,
    "about one length, 20": [(even(20), 0)] * 5,
    "5, 5, 20, 5, 80": [(even(most), 0) for most in (5, 5, 20, 5, 80)],
    "the same, half of the warps quicker in long ones": [(even(most), 0.5 * (most > 5)) for most in (5, 5, 20, 5, 80)],
    "and not poisoned": [(even(most, poison=False), 0.5 * (most > 5)) for most in (5, 5, 20, 5, 80)],
}
CHOSEN, PAPER = "the same, half of the warps quicker in long ones", "the paper, 5"


def shows(way, quicker, warps, apart, same):
    load, store, late, poison, begin = way
    changes, windows = [], []
    for warp, accesses in enumerate(warps):
        shorter = 0.25 if random.random() < quicker else 1.0
        t = random.random() * apart + begin() * shorter
        for k, (access, place) in enumerate(accesses):
            t += STEPS[k % len(STEPS)] * (1 + 0.05 * random.random())
            if access != "r":
                t += late() * shorter
            if access == "w" and poison:
                changes.append((t, place, warp))
                t += poison() * shorter
            if access != "r" and not (same and not poison):
                changes.append((t, place, warp))
            if access != "a":
                end = t + (load if access == "r" else store)() * shorter
                windows.append((t, end, place, warp))
                t, shorter = end, shorter * 7 / 8
    return any(place == p and warp != w and begun < t <= end for begun, end, place, warp in windows for t, p, w in changes)


def in_five(way, race, runs):
    """The share of five runs in a row that see it."""
    missed = 1.0
    for waits, quicker in way:
        missed *= 1 - sum(shows(waits, quicker, *race) for _ in range(runs)) / runs
    return 1 - missed


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--runs", type=int, default=2000)
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    random.seed(options.seed)
    print("| waits, up to so many microseconds | " + " | ".join(RACES) + " | mean |\n|---" + "|---" * (len(RACES) + 1) + "|")
    for name, way in WAYS.items():
        shares = [in_five(way, race, options.runs) for race in RACES.values()]
        print(f"| {name} | " + " | ".join(f"{100 * s:.0f} %" for s in shares) + f" | {100 * sum(shares) / len(shares):.0f} % |")


if __name__ == "__main__":
    main()
