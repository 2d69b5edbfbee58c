#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Rewrites PTX files with an engine's pass and checks the text: test_rewrite.py GPURACE PTXAS DIR [--update]

accesses.ptx holds every shape of access that a pass must not be fooled by, and the other files of the table below those that
only some targets have. A kernel after rewriting must equal NAME.collider.expect line for line (--update writes that file), must
assemble, and must come out the same when parsed and printed again. Bad modules must be refused with the reason.
"""
import os
import pathlib
import re
import subprocess
import sys
import tempfile

gpurace, ptxas, here = sys.argv[1], sys.argv[2], pathlib.Path(sys.argv[3])
failures = 0
GOLDEN = [  # file, target, what standard error must say
    ("accesses", "sm_90", ["28 checked", "2 strong"]),
    ("tensor", "sm_100a", ["12 checked", "1 not instrumented: PTX only draws", "2 not instrumented: memory is named",
                           "2 not instrumented: it is waited for", "allocated"]),  # tcgen05, matrices of sm_100a
    ("wide", "sm_100", ["19 checked"]),  # .b128, .b8 registers, 256-bit vectors, cache hints
    ("copies", "sm_80", ["; 11 checked"]),  # cp.async
    ("deferred", "sm_100", ["5 checked", "3 strong", "a multimem address"]),  # st.async, st.bulk
    ("bulk", "sm_90", ["; 8 checked", "1 not instrumented: a tensor copy"]),
    ("hoisted", "sm_90", ["6 checked"]),  # loads whose value a thread may throw away
    ("matrices", "sm_90", ["20 checked"]),  # ldmatrix, stmatrix, wmma.load, wmma.store
    ("held", "sm_90", ["5 checked"]),  # asynchronous operations that a thread holds back
    ("loops", "sm_90", ["24 checked"]),  # which windows open, and which loads share one
]
THINNED = ["held", "loops"]  # the others with every window


def check(ok, what):
    global failures
    print(("ok   " if ok else "FAIL ") + what)
    failures += not ok


def rewrite(path, *options):
    return subprocess.run([gpurace, "ptx", *options, str(path)], capture_output=True, text=True)


def kernel(text):
    """The kernel's statements; declarations of inserted registers are the printer's business."""
    body = text[text.index(".visible .entry k(") :]
    return "".join(line + "\n" for line in body.splitlines() if not line.startswith("\t/*@gr*/ .reg"))


def orders_of_magnitude(text, most):
    """Draws delays as the inserted code does: every power of two below the maximum must be as likely, whatever was drawn before."""
    longest, step = re.search(r"shr\.u32 (%gr\d+), (\d+), \1;", text), re.search(r"mul\.lo\.u32 (%gr\d+), \1, (\d+);", text)
    if not longest or not step or int(longest.group(2)) != max(most * 2 // 5, 1):
        return False
    state, base, previous, draws = 0x9E3779B1, int(step.group(2)), 0, 100000
    seen = {}
    for _ in range(draws):
        digit, state = state * base >> 32, state * base & 0xFFFFFFFF
        seen[previous, digit] = seen.get((previous, digit), 0) + 1
        previous = digit
    expected = draws / base**2
    return (int(longest.group(2)) >> (base - 1)) <= 1 and len(seen) == base**2 and all(0.6 < n / expected < 1.4 for n in seen.values())


def write(folder, name, text):
    path = pathlib.Path(folder) / name
    path.write_text(text)
    return path


with tempfile.TemporaryDirectory() as tmp:
    for name, arch, counts in GOLDEN:
        source = here / f"{name}.ptx"
        done = rewrite(source, *([] if name in THINNED else ["--windows", "all"]))
        golden = here / f"{name}.collider.expect"
        if "--update" in sys.argv:
            golden.write_text(kernel(done.stdout))
        check(done.returncode == 0 and kernel(done.stdout) == golden.read_text(), f"{name}: the rewritten kernel is as expected")
        check(all(c in done.stderr for c in counts), f"{name}: standard error counts the sites: {done.stderr.strip()}")
        out = write(tmp, "out.ptx", done.stdout)
        for target in dict.fromkeys([arch, *(["sm_90a"] if arch == "sm_90" else []), "sm_100a"]) if ptxas else []:
            run = subprocess.run([ptxas, f"-arch={target}", out, "-o", f"{tmp}/o"], capture_output=True, text=True)
            check(run.returncode == 0, f"{name}: ptxas takes it for {target} " + run.stderr[:300])
        if ptxas and name not in THINNED:  # and with fewer windows
            budget = rewrite(source, "--budget", "2x", "--seed", "3")
            run = subprocess.run([ptxas, f"-arch={arch}", write(tmp, "budget.ptx", budget.stdout), "-o", f"{tmp}/o"], capture_output=True, text=True)
            check(budget.returncode == 0 and run.returncode == 0, f"{name}: ptxas takes it with --budget " + budget.stderr[:300] + run.stderr[:300])
        for size in re.findall(r"__gr_jam_bytes\[(\d+)\]", done.stdout):
            check(int(size) <= 1 << 18, f"{name}: a prefetch of {size} bytes takes an H100 as long as its size says")
        again = rewrite(out, "--engine", "none")
        check(again.stdout == done.stdout, f"{name}: parsed and printed again it is the same, tags included")

    source = here / "accesses.ptx"
    for option, absent in ((("--read-delay", "0", "--write-delay", "0"), "nanosleep"), (("--kernel", "other"), "@gr:")):
        run = rewrite(source, *option)
        check(run.returncode == 0 and absent not in run.stdout, f"{' '.join(option)} leaves out {absent}")
    refused = rewrite(source, "--budget", "1x")
    check(refused.returncode == 2 and "from 1.01 to 1000" in refused.stderr, f"--budget 1x is refused: {refused.stderr.strip()}")
    for most in (2, 20, 5000, 1000000):
        run = rewrite(source, "--windows", "all", "--read-delay", str(most), "--write-delay", str(most))
        check(orders_of_magnitude(run.stdout, most), f"delays below {most} ns have every order of magnitude")
    # No strong read of the kernel may be of it: each store of polled.ptx says whether that is so.
    polled, before = here / "polled.ptx", []
    expected = re.findall(r"(st\.[^;]*;) // (poisoned|as it is)", polled.read_text())
    for line in rewrite(polled, "--windows", "all", "--poison", "yes").stdout.splitlines():
        if expected and line.strip() == expected[0][0]:
            store, how = expected.pop(0)
            check(any(re.search(r"xor\.b32 %gr\d+, %gr\d+, 1;", b) for b in before) == (how == "poisoned"), f"--poison yes: {store} {how}")
            before = []
        before.append(line)
    check(not expected, f"--poison yes: all stores were seen, but {expected}")
    # In a kernel that asks which lanes are together, they go on together behind a branch, where no lane can need one that waits there: each label of together.ptx says whether it is
    # such a place.
    joins, text = here / "together.ptx", rewrite(here / "together.ptx").stdout
    for label, how in re.findall(r"(?m)^(\w+): // (joined|left)", joins.read_text()):
        behind = re.search(rf"(?m)^{label}:\n((?:\s*/\*@gr\*/.*\n)*)", text).group(1)
        check(("vote.sync.ballot" in behind) == (how == "joined"), f"{label}: {how}")
    check("vote.sync.ballot" not in rewrite(joins, "--windows", "all").stdout, "with all windows no lanes go on together")
    silent = write(tmp, "silent.ptx", re.sub(r"activemask\.b32 (%r\d+)", r"mov.u32 \1, 0", joins.read_text()))
    check("vote.sync.ballot" not in rewrite(silent).stdout, "nor in a kernel that does not ask")
    if ptxas:
        run = subprocess.run([ptxas, "-arch=sm_90", write(tmp, "joined.ptx", text), "-o", f"{tmp}/o"], capture_output=True, text=True)
        check(run.returncode == 0, "ptxas takes it " + run.stderr[:300])
    weak = write(tmp, "weak.ptx", re.sub(r"(?m)^.*(ld\.(volatile|relaxed|acquire)|atom\.).*\n", "", source.read_text()))
    poisoned = rewrite(weak, "--windows", "all", "--poison-writes").stdout
    lines = [line.split("*/ ")[-1].strip() for line in poisoned.splitlines()]
    # Each weak store of the kernel is preceded by one of the value with a bit turned, to the same bytes and under the same predicate: unless it may be an
    # address, or is where the host may look.
    for store, garbage, addresses, kept in (
            ("st.global.u8 [g+1], %r6;", r"st.relaxed.sys.global.b8 \[g\+1\], (%gr\d+);", 0, 1),
            ("@%p1 st.global.v4.f32 [%rd1], {%f1, %f2, %f3, %f4};",
             r"@(%gr\d+) st.relaxed.sys.global.v4.b32 \[%rd1\], \{%gr\d+, %gr\d+, %gr\d+, %gr\d+\};", 0, 1),
            ("@!%p1 st.v2.u64 [%rd1+16], {%rd1, 5};", r"@%gr\d+ st.relaxed.sys.v2.b64 \[%rd1\+16\], .*", 2, 1),
            ("st.shared::cluster.u32 [%r1], %r9;", r"st.relaxed.sys.shared::cluster.b32 \[%r1\], .*", 0, 0)):
        at = lines.index(store)
        garbages = [k for k in range(at - 8, at) if re.fullmatch(garbage, lines[k])]
        first = max(k for k in range(at) if "nanosleep" in lines[k] and k < garbages[0]) if garbages else at
        code = lines[first : garbages[0]] if garbages else []
        check(len(garbages) == 1 and any(line.startswith("xor.b") for line in code) and any("nanosleep" in line for line in lines[garbages[0] : at]),
              f"--poison-writes: garbage before {store}")
        check((sum("131071" in line for line in code), sum("__gr_control" in line for line in code)) == (addresses, 3 * kept),
              f"--poison-writes: no garbage where {store} stores an address, or the host may look: {code}")
    if ptxas:
        for name, text, arch in (("accesses", poisoned, "sm_90"), ("wide", rewrite(here / "wide.ptx", "--poison-writes").stdout, "sm_100")):
            run = subprocess.run([ptxas, f"-arch={arch}", write(tmp, "poisoned.ptx", text), "-o", f"{tmp}/o"],
                                 capture_output=True, text=True)
            check(run.returncode == 0, f"{name}: ptxas takes poisoned stores " + run.stderr[:300])
    shuffled = rewrite(source, "--shuffle-blocks")
    check(shuffled.returncode == 0 and "rem.u64" in shuffled.stdout, "--shuffle-blocks permutes the indices")
    if ptxas:
        run = subprocess.run([ptxas, "-arch=sm_90", write(tmp, "shuffled.ptx", shuffled.stdout), "-o", f"{tmp}/o"],
                             capture_output=True, text=True)
        check(run.returncode == 0, "ptxas takes them " + run.stderr[:300])
    one, two = rewrite(source, "--seed", "1").stdout, rewrite(source, "--seed", "2").stdout
    check(one != two, "the seed is part of the code")

    # Of a module of many kernels, the code that is inserted into one of them is in memory, not that of all: they took 49 KB each.
    many = write(tmp, "many.ptx", ".version 8.4\n.target sm_90\n.address_size 64\n" + "".join(
        f".visible .entry k{k}(.param .u64 p{k}) {{ .reg .b64 %a; .reg .b32 %r;\nld.param.u64 %a, [p{k}]; ld.global.u32 %r, [%a];"
        f" st.global.u32 [%a+4], %r; ret; }}\n" for k in range(3000)))
    pid = os.posix_spawn(gpurace, [gpurace, "ptx", str(many), "-o", f"{tmp}/many.out"], os.environ,
                         file_actions=[(os.POSIX_SPAWN_OPEN, 2, os.devnull, os.O_WRONLY, 0)])
    _, status, used = os.wait4(pid, 0)
    check(status == 0 and used.ru_maxrss < 60 << 10, f"3000 kernels in {used.ru_maxrss} KiB")
    check(rewrite(f"{tmp}/many.out", "--engine", "none").returncode == 0, "and the result parses")

    head = ".version 6.0\n.target sm_60\n.address_size 64\n.visible .entry k(){ .reg .b32 %r<3>; .reg .pred %p1;"
    old = write(tmp, "old.ptx", head + "shfl.down.b32 %r1|%p1, %r2, 1, 31; ret; }")
    run = rewrite(old)
    check(run.returncode == 1 and "shfl without .sync" in run.stderr and "compute_75" in run.stderr,
          "a module that cannot be raised is refused with the reason")
    young = write(tmp, "young.ptx", head + "ld.global.u32 %r1, [4]; ret; }")
    raised = rewrite(young).stdout
    check(".target sm_70" in raised and ".version 6.3" in raised, "an older target is raised, and no further than needed")
    narrow = write(tmp, "narrow.ptx", ".version 7.0\n.target sm_70\n.address_size 32\n.visible .entry k(){ ret; }")
    check("32-bit addresses" in rewrite(narrow).stderr, "32-bit modules are refused")
    bad = write(tmp, "bad.ptx", ".version 9.0\n.target sm_90\n.address_size 64\n.visible .entry k()\n{\n  add.s32 %r1, ;\n}\n")
    run = rewrite(bad)
    check(run.returncode == 1 and "bad.ptx:6:" in run.stderr, "malformed PTX: line and column " + run.stderr.strip())
    check(rewrite(f"{tmp}/absent.ptx").returncode == 1, "a missing file is an error")
    check(rewrite(source, "--engine", "nonesuch").returncode != 0, "an unknown engine is an error")

sys.exit(failures != 0)
