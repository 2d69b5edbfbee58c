#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""A model of warps that wait: how likely do windows see a race, for several ways to draw the waits?

    waits_model.py [--runs N] [--seed N]

Two to four warps begin together, as the warps of a block do, or up to 3 microseconds apart, as blocks do. Each has a list of accesses, and an access
takes the same time in each warp but for a twentieth. A race shows in a run when a store or an atomic access of one warp comes while another warp's window of the same
place is open; a store of the value that is there only where it is poisoned. The waits of collider_time.h were chosen by this model, and not by the
programs that docs/detection-gpu.md measures. The last column is the mean over the races of what five runs find.
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


# After a load, after a store, before a store or atomic, between a poisoned store and the store (None: no poison), at the beginning.
WAYS = {
    "the paper, 5": (any_size(5), any_size(5), never, None, never),
    "the paper, 100": (any_size(100), any_size(100), never, None, never),
    "all poisoned, 5": (any_size(5), any_size(5), any_size(5), any_size(5), never),
    "all poisoned, 100": (any_size(100), any_size(100), any_size(100), any_size(100), never),
    "about one length, 5, nobody late": (about(5), now_and_then(about(5), 5 / 8), never, None, never),
    "about one length, 5, not poisoned": (about(5), now_and_then(about(5), 5 / 8), now_and_then(upto(2.5), 0.5), None, upto(5)),
    "collider_time.h, 5": (about(5), now_and_then(about(5), 5 / 8), now_and_then(upto(2.5), 0.5), upto(5), upto(5)),
    "collider_time.h, 20": (about(20), now_and_then(about(20), 5 / 8), now_and_then(upto(10), 0.5), upto(20), upto(20)),
}


def shows(way, warps, apart, same):
    load, store, late, poison, begin = way
    changes, windows = [], []
    for warp, accesses in enumerate(warps):
        t, shorter = random.random() * apart + begin(), 1.0
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


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--runs", type=int, default=4000)
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    random.seed(options.seed)
    print("| waits, up to so many microseconds | " + " | ".join(RACES) + " | in 5 runs |\n|---" + "|---" * (len(RACES) + 1) + "|")
    for name, way in WAYS.items():
        shares = [sum(shows(way, *race) for _ in range(options.runs)) / options.runs for race in RACES.values()]
        five = sum(1 - (1 - s) ** 5 for s in shares) / len(shares)
        print(f"| {name} | " + " | ".join(f"{100 * s:.0f} %" for s in shares) + f" | {100 * five:.0f} % |")


if __name__ == "__main__":
    main()
