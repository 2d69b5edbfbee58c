// SPDX-License-Identifier: Apache-2.0
// cases — the kernels of test_exact.c.
#ifndef GR_TEST_EXACT_CASES_H
#define GR_TEST_EXACT_CASES_H

#define WW   "write-write race"
#define RW   "read-write race"
#define SAME "same-value write"
#define VOL  "volatile race"
#define SPEC "speculated load"

// At the start of a body: with that option.
#define NO_SAME_VALUE "// --same-value no\n"
#define VOLATILES     "// --volatile yes\n"
#define SPECULATED    "// --speculated yes\n"
#define PROXY_READS   "// --proxy-reads yes\n"

// Stores to another word per thread, then reads the next thread's.
#define NEIGHBOUR(between)                                                                                   \
    "st.shared.u32 [%r6], %r1; // =A\n" between                                                              \
    "add.u32 %r10, %r1, 1; and.b32 %r10, %r10, 63; shl.b32 %r10, %r10, 2; add.u32 %r10, %r5, %r10;\n"        \
    "ld.shared.u32 %r11, [%r10]; // =B\n"

// Thread 0 of block 0 writes data and a flag; thread 0 of other blocks waits for the flag and reads.
#define MESSAGE_AFTER(release, acquire, after)                                                               \
    "@!%p3 bra READ;\n"                                                                                      \
    "st.global.u32 [%rd1+64], 7; // =D\n" release "ret;\n"                                                   \
    "READ: @!%p9 bra END;\n"                                                                                 \
    "AGAIN: " acquire "setp.eq.u32 %p10, %r12, 0; @%p10 bra AGAIN;\n" after                                  \
    "ld.global.u32 %r13, [%rd1+64]; // =E\n"                                                                 \
    "END:\n"

// Behind a barrier thread 0 stores two values to one place of shared memory, and then thread 34, unordered, stores 7.
#define TWICE_THEN(first, second)                                                                            \
    "bar.sync 0;\n@!%p1 bra OTHER;\nst.shared.u32 [%r5], " first "; // =A\n"                                 \
    "st.shared.u32 [%r5], " second "; // =B\n"                                                               \
    "st.relaxed.gpu.global.u32 [%rd1+68], 1;\nret;\n"                                                        \
    "OTHER: setp.eq.u32 %p11, %r1, 34; @!%p11 ret;\n"                                                        \
    "AGAIN: ld.relaxed.gpu.global.u32 %r11, [%rd1+68]; setp.eq.u32 %p12, %r11, 0; @%p12 bra AGAIN;\n"        \
    "st.shared.u32 [%r5], 7; // =C\n"

// Block 0 is behind its stores; block 1 waits for it, unordered, and stores.
#define LAST(value)                                                                                          \
    "E: bar.sync 0;\n@%p1 st.relaxed.gpu.global.u32 [%rd1+68], 1;\nret;\n"                                   \
    "OTHER: ld.relaxed.gpu.global.u32 %r11, [%rd1+68]; setp.eq.u32 %p12, %r11, 0; @%p12 bra OTHER;\n"        \
    "st.global.u32 [%rd3+512], " value "; // =D\n"
#define IN_TURN(first, second, third, last)                                                                  \
    "@!%p2 bra OTHER;\nst.global.u32 [%rd3+512], " first "; // =A\n"                                         \
    "st.global.u32 [%rd3+512], " second "; // =B\n" third                                                    \
    LAST(last)

static const Case cases[] = {
    {"own words",
     "st.shared.u32 [%r6], %r1; // =A\nld.shared.u32 %r10, [%r6]; // =B\nst.global.u32 [%rd3], %r10; // =C\n",
     1, 64, ""},
    {"all store to one word", "st.global.u32 [%rd1], %r1; // =A\n", 1, 32, "A-A " WW},
    {"blocks store to one word", "@%p1 st.global.u32 [%rd1], %r2; // =A\n", 4, 32, "A-A " WW},

    // Block 0 reads a line and writes to it; some time later block 1 reads what it wrote.
    {"a block reads a line that another has read and written since",
     "selp.b32 %r10, 0, 2000, %p2;\nD: setp.eq.u32 %p10, %r10, 0; @%p10 bra E; sub.u32 %r10, %r10, 1; bra "
     "D;\nE:\n"
     "mul.wide.u32 %rd10, %r2, 4; add.s64 %rd10, %rd1, %rd10;\n"
     "@%p1 ld.global.u32 %r10, [%rd10]; // =A\n@%p3 st.global.u32 [%rd10+4], 7; // =B\n",
     2, 32, "A-B " RW},
    {"blocks read what they all read, and one writes there",
     "mov.u32 %r10, 0;\nL: ld.global.u32 %r11, [%rd3]; // =A\nadd.u32 %r10, %r10, 1; setp.lt.u32 %p10, %r10, "
     "9; @%p10 bra L;\n"
     "setp.eq.u32 %p11, %r2, 1; and.pred %p11, %p11, %p1; @%p11 st.global.u32 [%rd1+4], %r1; // =B\n"
     "ld.global.u32 %r12, [%rd1+4]; // =C\n",
     4, 64, "A-B " RW "; B-C " RW},
    {"blocks store one value", "@%p1 st.global.u32 [%rd1], 7; // =A\n", 4, 32, "A-A " SAME},
    {"all store one value", "st.shared.u32 [%r5], 7; // =A\n", 1, 64, "A-A " SAME},
    {"all store one value, which nobody wants to hear", NO_SAME_VALUE "st.shared.u32 [%r5], 7; // =A\n", 1,
     64, ""},
    // Even lanes 1, odd ones 2.
    {"all store one of two values", "and.b32 %r10, %r1, 1; st.shared.u32 [%r5], %r10; // =A\n", 1, 32,
     "A-A " WW "; A-A " SAME},
    {"one value from two places",
     "@%p5 st.global.u32 [%rd1], 7; // =A\n@!%p5 st.global.u32 [%rd1], 7; // =B\n", 1, 64,
     "A-A " SAME "; A-B " SAME "; B-B " SAME},
    {"two values from two places",
     "@%p1 st.global.u32 [%rd1], 7; // =A\n@%p4 st.global.u32 [%rd1], 8; // =B\n", 1, 32, "A-B " WW},
    {"same values but for one byte of a vector",
     "mov.u32 %r10, 1; setp.eq.u32 %p10, %r1, 0; selp.u32 %r11, 256, 0, %p10;\n"
     "@%p1 st.global.v2.u32 [%rd1], {%r10, %r11}; // =A\n@%p4 st.global.v2.u32 [%rd1], {%r10, %r11}; // =B\n",
     1, 32, "A-B " WW "; A-B " SAME},
    // Lanes in pairs, 32 bytes apart and downwards; each pair stores a vector of its own.
    {"pairs of lanes store one vector each",
     "shr.u32 %r10, %r1, 1; xor.b32 %r10, %r10, 15; mul.wide.u32 %rd10, %r10, 32; add.s64 %rd10, %rd1, "
     "%rd10;\n"
     "st.global.v4.u32 [%rd10], {%r10, 0, 7, %r10}; // =A\n",
     1, 32, "A-A " SAME},
    {"pairs of lanes store vectors that differ in one word",
     "shr.u32 %r10, %r1, 1; xor.b32 %r10, %r10, 15; mul.wide.u32 %rd10, %r10, 32; add.s64 %rd10, %rd1, "
     "%rd10;\n"
     "st.global.v4.u32 [%rd10], {%r10, 0, %r1, %r10}; // =A\n",
     1, 32, "A-A " WW "; A-A " SAME},
    {"vectors of which some words change, over and over and then by another block",
     "mul.wide.u32 %rd10, %r1, 32; add.s64 %rd10, %rd1, %rd10; mov.u32 %r10, 0;\n"
     "L: @%p2 st.global.v4.u32 [%rd10], {%r10, 5, 5, %r10}; // =A\n"
     "@%p2 st.global.v4.u32 [%rd10], {%r1, 5, %r10, 5}; // =B\n"
     "add.u32 %r10, %r10, 1; setp.lt.u32 %p10, %r10, 9; @%p10 bra L;\n"
     "@%p8 st.global.v4.u32 [%rd10], {1000, 5, 1000, 1000}; // =C\n",
     2, 32, "A-C " WW "; B-C " WW "; A-C " SAME "; B-C " SAME},
    {"lanes store one value into bytes side by side, from two places",
     "and.b32 %r10, %r1, 3; cvt.u64.u32 %rd10, %r10; add.s64 %rd10, %rd1, %rd10; shr.u32 %r11, %r1, 1;\n"
     "and.b32 %r11, %r11, 7; cvt.u64.u32 %rd11, %r11; add.s64 %rd11, %rd1, %rd11; mov.u32 %r12, 1;\n"
     "st.global.u8 [%rd10], %r12; // =A\nst.global.u8 [%rd11], %r12; // =B\n",
     1, 32, "A-A " SAME "; A-B " SAME "; B-B " SAME},
    {"lanes store one value into bytes, halves and words of shared memory",
     "and.b32 %r10, %r1, 7; add.u32 %r10, %r5, %r10; and.b32 %r11, %r10, -2; and.b32 %r12, %r10, -4; mov.u32 "
     "%r13, 0x01010101; cvt.u16.u32 %h1, %r13;\n"
     "st.shared.u8 [%r10], %r13; // =A\nst.shared.u16 [%r11], %h1; // =B\nst.shared.u32 [%r12], %r13; // =C\n"
     "st.shared.v2.u32 [%r5], {%r13, %r13}; // =D\n",
     1, 32,
     "A-A " SAME "; A-B " SAME "; A-C " SAME "; A-D " SAME "; B-B " SAME "; B-C " SAME "; B-D " SAME
     "; C-C " SAME "; C-D " SAME "; D-D " SAME},
    // The word changes, and the byte that both store does not.
    {"a word of which one byte is another's",
     "@%p1 st.global.u8 [%rd1], 1; // =A\n@%p4 st.global.u32 [%rd1], 0x00020001; // =B\n"
     "setp.eq.u32 %p10, %r1, 2; @%p10 st.global.u8 [%rd1], 1; // =C\n",
     1, 32, "A-B " SAME "; A-C " SAME "; B-C " SAME},
    {"the same byte into different words",
     "@%p1 st.global.u32 [%rd1], 0x01020304; // =A\n@%p4 st.global.u8 [%rd1+1], 3; // =B\n", 1, 32,
     "A-B " SAME},
    {"an atomic that changes nothing is no store of the same value",
     "@%p1 st.global.u32 [%rd1], 7; // =A\n@%p4 atom.global.exch.b32 %r10, [%rd1], 7; // =B\n", 1, 32,
     "A-B " WW},
    // Threads 0, 1 and 2 one after the other; thread 2 is ordered with neither.
    {"the same value, but others came in between",
     "@%p4 bra SECOND;\n@!%p1 bra THIRD;\nst.global.u32 [%rd1], 8; // =A\n"
     "st.release.gpu.global.u32 [%rd1+64], 1;\nret;\n"
     "SECOND: ld.acquire.gpu.global.u32 %r10, [%rd1+64]; setp.eq.u32 %p10, %r10, 0; @%p10 bra SECOND;\n"
     "st.global.u32 [%rd1], 7; // =B\nst.global.u32 [%rd1], 8; // =C\n"
     "st.relaxed.gpu.global.u32 [%rd1+68], 1;\nret;\n"
     "THIRD: setp.eq.u32 %p11, %r1, 2; @!%p11 ret;\n"
     "AGAIN: ld.relaxed.gpu.global.u32 %r11, [%rd1+68]; setp.eq.u32 %p12, %r11, 0; @%p12 bra AGAIN;\n"
     "st.global.u32 [%rd1], 8; // =D\n",
     1, 32, "A-D " WW "; B-D " WW "; C-D " SAME},
    // Whole warps of two blocks, one after the other: the second one finds what the first one's two or three stores
    // left.
    {"warps store one value twice",
     "st.global.u32 [%rd3], 7; // =A\nst.global.u32 [%rd3], 7; // =B\nst.global.u32 [%rd3], 7; // =C\n", 2,
     32, "A-A " SAME "; A-B " SAME "; B-B " SAME "; A-C " SAME "; B-C " SAME "; C-C " SAME},
    {"warps store two values, and the last is stored again", IN_TURN("8", "7", "", "7"), 2, 32,
     "A-D " WW "; B-D " SAME},
    {"warps store one value twice, and another block stores it too", IN_TURN("7", "7", "", "7"), 2, 32,
     "A-D " SAME "; B-D " SAME},
    {"warps store one value twice, and another block stores another", IN_TURN("7", "7", "", "8"), 2, 32,
     "A-D " WW "; B-D " WW},
    {"warps store a value, another one and the first again by the same instruction",
     "@!%p2 bra OTHER;\nmov.u32 %r10, 0;\nL: st.global.u32 [%rd3+512], 7; // =A\n"
     "setp.eq.u32 %p10, %r10, 1; @%p10 bra E; st.global.u32 [%rd3+512], 8; // =B\n"
     "mov.u32 %r10, 1; bra L;\n" LAST("7"),
     2, 32, "A-D " WW "; A-D " SAME "; B-D " WW},
    {"warps store one value by the same two instructions again",
     "@!%p2 bra OTHER;\nmov.u32 %r10, 0;\nL: st.global.u32 [%rd3+512], 7; // =A\n"
     "setp.eq.u32 %p10, %r10, 1; @%p10 bra E; st.global.u32 [%rd3+512], 7; // =B\n"
     "mov.u32 %r10, 1; bra L;\n" LAST("7"),
     2, 32, "A-D " SAME "; B-D " SAME},
    {"warps store a vector twice, and another block stores half of it",
     "@!%p2 bra OTHER;\nmul.wide.u32 %rd10, %r1, 8; add.s64 %rd10, %rd1, %rd10;\nmov.u32 %r10, 7;\n"
     "st.global.v2.u32 [%rd10+512], {%r10, %r10}; // =A\nst.global.v2.u32 [%rd10+512], {%r10, %r10}; // "
     "=B\n" LAST("7"),
     2, 32, "A-D " SAME "; B-D " SAME},
    // Of shared memory, where the stores of thread 0 were only written down until thread 34 comes.
    {"the same value, stored twice behind a barrier", TWICE_THEN("7", "7"), 1, 64, "A-C " SAME "; B-C " SAME},
    {"the same value, but another came in between, behind a barrier", TWICE_THEN("8", "7"), 1, 64,
     "A-C " WW "; B-C " SAME},
    {"zero by all, but behind a barrier",
     "st.shared.u32 [%r6], 0; // =A\nbar.sync 0;\n@%p4 st.shared.u32 [%r5], 0; // =B\n", 1, 64, ""},

    // 40 times, 64 words from another place on; __syncwarp() in between.
    {"reads of shared memory over and over, and then one writes there",
     "bar.sync 0;\nmov.u32 %r10, 0; mov.u32 %r11, %r6;\n"
     "L: ld.shared.u32 %r12, [%r11]; // =A\nld.shared.u32 %r13, [%r11+4]; // =B\n"
     "add.u32 %r10, %r10, 1; mad.lo.u32 %r11, %r10, 4, %r6; and.b32 %r14, %r10, 7; setp.eq.u32 %p11, %r14, "
     "0; @%p11 "
     "bar.warp.sync -1;\nsetp.lt.u32 %p10, %r10, 40; @%p10 bra L;\n"
     "@%p1 st.shared.u32 [%r5+252], %r10; // =C\n@%p1 st.shared.u32 [%r5+256], %r10; // =D\n",
     1, 64, "A-C " RW "; A-D " RW "; B-C " RW "; B-D " RW},
    {"reads of shared memory over and over, ordered with the stores before and after",
     "bar.sync 0;\nst.shared.u32 [%r6], %r1; // =A\nbar.warp.sync -1;\nmov.u32 %r10, 0; mad.lo.u32 %r11, "
     "%r3, -4, %r6;\n"
     "L: ld.shared.u32 %r12, [%r11]; // =B\nadd.u32 %r11, %r11, 4; add.u32 %r10, %r10, 1; setp.lt.u32 %p10, "
     "%r10, 32; @%p10 bra L;\n"
     "bar.warp.sync -1;\nst.shared.u32 [%r6], %r10; // =C\nbar.warp.sync -1;\n@%p4 st.shared.u32 [%r6+4], "
     "%r10; // =D\n"
     "@%p1 st.shared.u32 [%r6+8], %r10; // =E\n@%p1 st.shared.u32 [%r6+8], %r10; // =F\n",
     1, 64, "D-E " SAME "; D-F " SAME},

    // The warps read one after the other, unordered; then the first learns of the last, not of those between.
    {"warps read here and there, and one writes that knows of the first and the last",
     "shr.u32 %r15, %r1, 5;\nW: ld.relaxed.gpu.global.u32 %r11, [%rd1+256]; setp.lt.u32 %p10, %r11, %r15; "
     "@%p10 bra W;\n"
     "mul.lo.u32 %r12, %r3, 28; and.b32 %r12, %r12, 124; cvt.u64.u32 %rd10, %r12; add.s64 %rd10, %rd1, "
     "%rd10;\n"
     "ld.global.u32 %r13, [%rd10]; // =A\nbar.warp.sync -1;\n"
     "add.u32 %r14, %r15, 1; setp.eq.u32 %p11, %r3, 0; @%p11 st.relaxed.gpu.global.u32 [%rd1+256], %r14;\n"
     "setp.eq.u32 %p12, %r15, 0; setp.eq.u32 %p13, %r15, 3; or.pred %p12, %p12, %p13; @!%p12 ret;\n"
     "bar.sync 1, 64;\n@%p1 st.global.u32 [%rd1], 7; // =B\n",
     1, 128, "A-B " RW},

    {"spinning on a volatile flag",
     "@!%p3 bra READ;\nst.volatile.global.u32 [%rd1], 1; // =A\nret;\n"
     "READ: @!%p9 ret;\nAGAIN: ld.volatile.global.u32 %r12, [%rd1]; // =B\n"
     "setp.eq.u32 %p10, %r12, 0; @%p10 bra AGAIN;\n",
     2, 32, ""},
    {"spinning on a volatile flag, as CUDA C++ sees it",
     VOLATILES "@!%p3 bra READ;\nst.volatile.global.u32 [%rd1], 1; // =A\nret;\n"
               "READ: @!%p9 ret;\nAGAIN: ld.volatile.global.u32 %r12, [%rd1]; // =B\n"
               "setp.eq.u32 %p10, %r12, 0; @%p10 bra AGAIN;\n",
     2, 32, "A-B " VOL},
    // The loop looks like one that polls, but it stores what it has loaded.
    {"lanes count by tags in a volatile word",
     "@%p1 st.shared.u32 [%r5], 0;\nbar.warp.sync -1;\nshl.b32 %r10, %r3, 8;\n"
     "L: ld.volatile.shared.u32 %r11, [%r5]; // =A\nand.b32 %r11, %r11, 255; add.u32 %r11, %r11, 1; or.b32 "
     "%r11, "
     "%r11, %r10;\nst.volatile.shared.u32 [%r5], %r11; // =B\n"
     "ld.volatile.shared.u32 %r12, [%r5]; // =C\nsetp.ne.u32 %p10, %r11, %r12; @%p10 bra L;\n",
     1, 32, "A-B " VOL},
    {"a volatile flag and fences",
     VOLATILES
     "@!%p3 bra READ;\nst.global.u32 [%rd1+64], 7; // =D\nmembar.gl;\nst.volatile.global.u32 [%rd1], 1; // "
     "=A\nret;\n"
     "READ: @!%p9 ret;\nAGAIN: ld.volatile.global.u32 %r12, [%rd1]; // =B\n"
     "setp.eq.u32 %p10, %r12, 0; @%p10 bra AGAIN;\nmembar.gl;\nld.global.u32 %r13, [%rd1+64]; // =E\n",
     2, 32, "A-B " VOL},
    {"volatile beside an atomic",
     VOLATILES
     "@%p1 ld.volatile.global.u32 %r10, [%rd1]; // =A\n@%p4 atom.global.add.u32 %r11, [%rd1], 1; // =B\n",
     1, 32, "A-B " VOL},
    {"volatile behind a barrier",
     VOLATILES
     "@%p1 st.volatile.shared.u32 [%r5], 1; // =A\nbar.sync 0;\nld.volatile.shared.u32 %r10, [%r5]; // =B\n",
     1, 64, ""},
    {"relaxed is not volatile",
     VOLATILES
     "@%p1 st.relaxed.gpu.global.u32 [%rd1], 1; // =A\n@%p4 ld.relaxed.gpu.global.u32 %r10, [%rd1]; // =B\n",
     1, 32, ""},

// What nvcc makes of `if (t == 0) v = s[0];` and of `v = t == 0 ? s[0] * 3 + 7 : 0`.
#define HOISTED                                                                                              \
    "@%p4 st.shared.u32 [%r5], 5; // =A\nld.shared.u32 %r10, [%r5]; // =B\nselp.b32 %r11, %r10, 9, "         \
    "%p7;\nst.global.u32 [%rd3], %r11; // =C\n"
#define HOISTED_SUM                                                                                          \
    "@%p4 st.shared.u32 [%r5], 5; // =A\nld.shared.u32 %r10, [%r5]; // =B\nmad.lo.s32 %r12, %r10, 3, "       \
    "7;\nselp.b32 %r11, 9, %r12, %p7;\nst.global.u32 [%rd3], %r11; // =C\n"
    {"a hoisted load that nobody keeps", HOISTED, 1, 32, ""},
    {"a hoisted load that thread 32 keeps", HOISTED, 1, 64, "A-B " RW},
    {"a hoisted load, all of it", SPECULATED HOISTED, 1, 64, "A-B " RW "; A-B " SPEC},
    {"a hoisted sum that all but thread 32 keep", HOISTED_SUM, 1, 64, "A-B " RW},
    {"a hoisted sum that the only reader discards",
     "@%p4 st.shared.u32 [%r5], 5; // =A\n@%p1 ld.shared.u32 %r10, [%r5]; // =B\nmad.lo.s32 %r12, %r10, 3, "
     "7;\nselp.b32 %r11, 9, %r12, %p1;\nst.global.u32 [%rd3], %r11; // =C\n",
     1, 32, ""},
    {"a hoisted load, written to after its fate was decided",
     "ld.shared.u32 %r10, [%r5]; // =B\nselp.b32 %r11, %r10, 9, %p7;\nst.global.u32 [%rd3], %r11; // =C\n"
     "@%p4 st.shared.u32 [%r5], 5; // =A\n",
     1, 64, "A-B " RW},
    {"a hoisted load that overwrites its own address",
     "@%p4 st.shared.u32 [%r5], 5; // =A\nadd.u32 %r10, %r5, 0;\nld.shared.u32 %r12, [%r10]; // =B\nadd.u32 "
     "%r10, %r10, 400;\nselp.b32 %r11, %r12, %r10, %p7;\nst.global.u32 [%rd3], %r11; // =C\n",
     1, 64, "A-B " RW},
// nvcc puts other things between the load and the choice, and merges the value with others.
#define HOISTED_FAR(pred)                                                                                    \
    "ld.shared.u32 %r10, [%r5]; // =B\n@!%p4 bra OVER;\nst.shared.u32 [%r5], 6; // =A\nOVER: selp.b32 "      \
    "%r11, "                                                                                                 \
    "%r10, 0, " pred ";\nst.global.u32 [%rd3], %r11; // =C\n"
#define HOISTED_MERGED(pred)                                                                                 \
    "@%p4 bra ONE;\nld.shared.u32 %r10, [%r5]; // =B\nbra MEET;\nONE: mov.u32 %r10, 6; st.shared.u32 "       \
    "[%r5], "                                                                                                \
    "%r10; // =A\nMEET: selp.b32 %r11, %r10, 0, " pred ";\nst.global.u32 [%rd3], %r11; // =C\n"
#define HOISTED_COMPARED(pred)                                                                               \
    "ld.shared.u32 %r10, [%r5]; // =B\n@%p4 st.shared.u32 [%r5], 6; // =A\nsetp.lt.u32 %p10, %r1, %r10; "    \
    "and.pred %p11, " pred ", %p10; selp.b32 %r11, %r10, %r1, %p11;\nst.global.u32 [%rd3], %r11; // =C\n"
    {"a hoisted load, chosen behind a branch by who stored", HOISTED_FAR("%p4"), 1, 32, ""},
    {"a hoisted load, chosen behind a branch by another", HOISTED_FAR("%p1"), 1, 32, "A-B " RW},
    {"a hoisted load, merged and chosen by who stored", HOISTED_MERGED("%p4"), 1, 32, ""},
    {"a hoisted load, merged and chosen by another", HOISTED_MERGED("%p1"), 1, 32, "A-B " RW},
    {"a hoisted load, compared by who stored", HOISTED_COMPARED("%p4"), 1, 32, ""},
    {"a hoisted load, compared by another", HOISTED_COMPARED("%p1"), 1, 32, "A-B " RW},
    {"a hoisted load, compared with its own value",
     "ld.shared.u32 %r10, [%r5]; // =B\n@%p4 st.shared.u32 [%r5], 6; // =A\nsetp.gt.u32 %p10, %r1, %r10; "
     "selp.b32 %r11, %r10, %r1, %p10;\nst.global.u32 [%rd3], %r11; // =C\n",
     1, 32, "A-B " RW},
    {"a hoisted load that is chosen in a later iteration",
     "ld.shared.u32 %r10, [%r5]; // =B\n@%p4 st.shared.u32 [%r5], 5; // =A\nmov.u32 %r12, 0;\n"
     "LOOP: setp.eq.u32 %p10, %r12, 2; selp.b32 %r11, %r10, 0, %p10; add.u32 %r12, %r12, 1; setp.lt.u32 "
     "%p11, "
     "%r12, 3; @%p11 bra LOOP;\nst.global.u32 [%rd3], %r11; // =C\n",
     1, 32, "A-B " RW},
    {"a hoisted load, and exit before the choice",
     "ld.shared.u32 %r10, [%r5]; // =B\n@%p4 st.shared.u32 [%r5], 5; // =A\n@!%p4 ret;\nselp.b32 %r11, %r10, "
     "9, "
     "%p4;\nst.global.u32 [%rd3], %r11; // =C\n",
     1, 32, ""},
    {"a hoisted load, and a barrier of the warp before the choice is taken as it is",
     "ld.shared.u32 %r10, [%r5]; // =B\n@%p4 st.shared.u32 [%r5], 5; // =A\nbar.warp.sync "
     "0xffffffff;\nselp.b32 "
     "%r11, %r10, 9, %p4;\nst.global.u32 [%rd3], %r11; // =C\n",
     1, 32, "A-B " RW},
    {"a hoisted load in a loop",
     "mov.u32 %r12, 0;\nLOOP: ld.shared.u32 %r10, [%r5]; // =B\n@%p4 st.shared.u32 [%r5], 6; // =A\nselp.b32 "
     "%r11, "
     "%r10, 0, %p4; add.u32 %r12, %r12, 1; setp.lt.u32 %p11, %r12, 3; @%p11 bra LOOP;\nst.global.u32 [%rd3], "
     "%r11; // =C\n",
     1, 32, ""},
    {"a load whose value is used elsewhere too",
     "@%p4 st.shared.u32 [%r5], 5; // =A\nld.shared.u32 %r10, [%r5]; // =B\nselp.b32 %r11, %r10, 9, "
     "%p8;\nst.global.u32 [%rd3], %r11; // =C\nst.global.u32 [%rd3+512], %r10; // =D\n",
     1, 32, "A-B " RW},
    {"a hoisted load with a fence before the choice is taken as it is",
     "@%p4 st.shared.u32 [%r5], 5; // =A\nld.shared.u32 %r10, [%r5]; // =B\nmembar.cta;\nselp.b32 %r11, "
     "%r10, 9, "
     "%p8;\nst.global.u32 [%rd3], %r11; // =C\n",
     1, 32, "A-B " RW},
    {"neighbour without barrier", NEIGHBOUR(""), 1, 64, "A-B " RW},
    {"neighbour with barrier", NEIGHBOUR("bar.sync 0;\n"), 1, 64, ""},
    {"neighbour with counted barrier", NEIGHBOUR("bar.sync 3, 64;\n"), 1, 64, ""},
    {"neighbour with fence only", NEIGHBOUR("fence.acq_rel.cta;\n"), 1, 64, "A-B " RW},
    {"neighbour with warp sync across warps", NEIGHBOUR("bar.warp.sync 0xffffffff;\n"), 1, 64, "A-B " RW},
    {"warp sync of the warp",
     "st.shared.u32 [%r6], %r1; // =A\nbar.warp.sync 0xffffffff;\nxor.b32 %r10, %r1, 1; shl.b32 %r10, %r10, "
     "2; add.u32 "
     "%r10, %r5, %r10;\nld.shared.u32 %r11, [%r10]; // =B\n",
     1, 64, ""},
    {"warp sync of halves",
     "st.shared.u32 [%r6], %r1; // =A\nsetp.lt.u32 %p10, %r3, 16; @%p10 bra LOW;\nbar.warp.sync 0xffff0000; "
     "bra GO;\nLOW: "
     "bar.warp.sync 0x0000ffff;\nGO: xor.b32 %r10, %r1, 1; shl.b32 %r10, %r10, 2; add.u32 %r10, %r5, "
     "%r10;\nld.shared.u32 %r11, [%r10]; // =B\nxor.b32 %r10, %r1, 16; shl.b32 %r10, %r10, 2; add.u32 %r10, "
     "%r5, "
     "%r10;\nld.shared.u32 %r11, [%r10]; // =C\n",
     1, 32, "A-C " RW},
    {"warp syncs that overlap", // 0 and 1, then 1 and 2: 2 knows of 0
     "@%p1 st.shared.u32 [%r5], %r1; // =A\nsetp.gt.u32 %p10, %r1, 1; @%p10 bra SECOND;\nbar.warp.sync "
     "3;\nSECOND: "
     "setp.eq.u32 %p11, %r1, 0; @%p11 bra OUT;\nsetp.gt.u32 %p12, %r1, 2; @%p12 bra OUT;\nbar.warp.sync "
     "6;\nsetp.eq.u32 "
     "%p13, %r1, 2;\n@%p13 ld.shared.u32 %r11, [%r5]; // =B\nOUT: setp.eq.u32 %p14, %r1, 3;\n@%p14 "
     "ld.shared.u32 %r11, [%r5]; // "
     "=C\n",
     1, 32, "A-C " RW},
    {"lockstep is no order",
     "st.shared.u32 [%r6], %r1; // =A\nxor.b32 %r10, %r1, 1; shl.b32 %r10, %r10, 2; add.u32 %r10, %r5, "
     "%r10;\nld.shared.u32 %r11, [%r10]; // =B\n",
     1, 32, "A-B " RW},
    {"barrier between steps, reads and writes",
     "st.shared.u32 [%r6], %r1; // =A\nbar.sync 0;\nxor.b32 %r10, %r1, 33; shl.b32 %r10, %r10, 2; add.u32 "
     "%r10, %r5, "
     "%r10;\nld.shared.u32 %r11, [%r10]; // =B\nst.shared.u32 [%r6], %r11; // =C\n",
     1, 64, "B-C " RW},
    {"exited threads at a barrier",
     "setp.ge.u32 %p10, %r1, 48; @!%p10 bra STAY;\nst.shared.u32 [%r5+512], %r1; // =A\nret;\nSTAY: "
     "st.shared.u32 [%r6], %r1; // "
     "=B\nbar.sync 0;\n@%p1 ld.shared.u32 %r11, [%r5+512]; // =C\n@%p1 ld.shared.u32 %r12, [%r5+128]; // "
     "=D\n",
     1, 64, "A-A " WW "; A-C " RW},
    {"left after a warp sync, before a barrier",
     "setp.eq.u32 %p10, %r1, 3; @%p10 st.shared.u32 [%r5+512], %r1; // =A\nbar.warp.sync 0xffffffff;\n@%p10 "
     "bra OUT;\n"
     "bar.sync 0;\n@%p1 ld.shared.u32 %r11, [%r5+512]; // =B\nOUT:\n",
     1, 64, ""},
    {"left without a warp sync, before a barrier",
     "setp.eq.u32 %p10, %r1, 3; @%p10 st.shared.u32 [%r5+512], %r1; // =A\n@%p10 bra OUT;\n"
     "bar.sync 0;\n@%p1 ld.shared.u32 %r11, [%r5+512]; // =B\nOUT:\n",
     1, 64, "A-B " RW},
    {"fences of one side each",
     MESSAGE_AFTER("fence.release.gpu; st.relaxed.gpu.global.u32 [%rd1], 1;\n",
                   "ld.relaxed.gpu.global.u32 %r12, [%rd1];", "fence.acquire.gpu;\n"),
     2, 32, ""},
    {"fences of the wrong sides",
     MESSAGE_AFTER("fence.acquire.gpu; st.relaxed.gpu.global.u32 [%rd1], 1;\n",
                   "ld.relaxed.gpu.global.u32 %r12, [%rd1];", "fence.release.gpu;\n"),
     2, 32, "D-E " RW},
    {"a release operation and a later relaxed store to the same place",
     MESSAGE_AFTER("st.release.gpu.global.u32 [%rd1], 0; st.relaxed.gpu.global.u32 [%rd1], 1;\n",
                   "ld.acquire.gpu.global.u32 %r12, [%rd1];", ""),
     2, 32, ""},
    {"a release operation and a later relaxed store to another place",
     MESSAGE_AFTER("st.release.gpu.global.u32 [%rd1+8], 1; st.relaxed.gpu.global.u32 [%rd1], 1;\n",
                   "ld.acquire.gpu.global.u32 %r12, [%rd1];", ""),
     2, 32, "D-E " RW},
    {"producer arrives, consumer syncs",
     "@%p5 bra PRODUCE;\nbar.sync 1, 64;\nadd.u32 %r10, %r6, -128; ld.shared.u32 %r11, [%r10]; // =B\nbra "
     "END;\nPRODUCE: "
     "st.shared.u32 [%r6], %r1; // =A\nbar.arrive 1, 64;\nst.shared.u32 [%r6+1024], %r1; // =C\nEND: \n",
     1, 64, ""},
    {"producer writes after arriving",
     "@%p5 bra PRODUCE;\nbar.sync 1, 64;\nadd.u32 %r10, %r6, -128; ld.shared.u32 %r11, [%r10]; // =B\nbra "
     "END;\nPRODUCE: "
     "bar.arrive 1, 64;\nst.shared.u32 [%r6], %r1; // =A\nEND: \n",
     1, 64, "A-B " RW},
    {"arriving learns nothing",
     "@%p5 bra PRODUCE;\nst.shared.u32 [%r6], %r1; // =A\nbar.sync 1, 64;\nbra END;\nPRODUCE: bar.arrive 1, "
     "64;\nld.shared.u32 %r11, [%r6+128]; // =B\nEND: \n",
     1, 64, "A-B " RW},
    {"barrier of half the block",
     "@!%p6 bra REST;\nst.shared.u32 [%r6], %r1; // =A\nbar.sync 1, 64;\nxor.b32 %r10, %r4, 128; add.u32 "
     "%r10, %r5, "
     "%r10;\nld.shared.u32 %r11, [%r10]; // =B\nbra END;\nREST: add.u32 %r10, %r6, -256; ld.shared.u32 %r11, "
     "[%r10]; // =C\nEND: "
     "\n",
     1, 128, "A-C " RW},
    {"bytes of one word",
     "add.u32 %r10, %r5, %r1; cvt.u16.u32 %h1, %r1; st.shared.u8 [%r10], %h1; // =A\nld.shared.u8 %h2, "
     "[%r10]; // =B\n",
     1, 64, ""},
    {"a word over a byte",
     "cvt.u16.u32 %h1, %r1; @%p4 st.shared.u8 [%r5+3], %h1; // =A\n@%p1 st.shared.u32 [%r5], %r1; // "
     "=B\n@%p7 ld.shared.u16 "
     "%h2, [%r5]; // =C\n",
     1, 64, "A-B " WW "; B-C " RW},
    {"vector over its last word",
     "@%p1 st.global.v4.u32 [%rd1], {%r1, %r1, %r1, %r1}; // =A\n@%p7 st.global.u32 [%rd1+12], %r1; // "
     "=B\n@%p4 "
     "ld.global.u32 %r10, [%rd1+16]; // =C\n",
     1, 64, "A-B " WW},
    {"atomics on one word",
     "atom.global.add.u32 %r10, [%rd1], 1; // =A\nred.global.add.u32 [%rd1], 1; // =B\n", 4, 64, ""},
    {"atomics of block scope, in blocks", "@%p1 atom.cta.global.add.u32 %r10, [%rd1], 1; // =A\n", 4, 32,
     "A-A insufficient scope"},
    {"atomics of block scope, in one block", "atom.cta.shared.add.u32 %r10, [%r5], 1; // =A\n", 4, 64, ""},
    {"atomic and plain store",
     "atom.global.add.u32 %r10, [%rd1], 1; // =A\n@%p1 st.global.u32 [%rd1], %r1; // =B\n", 1, 64, "A-B " WW},
    {"atomics of two sizes",
     "@%p1 atom.global.add.u32 %r10, [%rd1], 1; // =A\n@%p4 atom.global.add.u64 %rd10, [%rd1], 1; // "
     "=B\n",
     1, 32, "A-B mixed-size race"},
    {"volatile both",
     "@%p1 st.volatile.global.u32 [%rd1], %r1; // =A\n@%p7 ld.volatile.global.u32 %r10, [%rd1]; // =B\n", 1,
     64, ""},
    {"volatile and plain",
     "@%p1 st.volatile.global.u32 [%rd1], %r1; // =A\n@%p7 ld.global.u32 %r10, [%rd1]; // =B\n", 1, 64,
     "A-B " RW},

    // Elements of a vector are read in ascending order: the data before the flag, here also by all lanes of a warp.
    {"a vector load that acquires behind its data",
     "@!%p3 bra READ;\nst.global.u32 [%rd1], 7; // =A\nst.release.gpu.global.u32 [%rd1+4], 1;\nret;\n"
     "READ: @!%p9 bra END;\n"
     "AGAIN: ld.acquire.gpu.global.v2.u32 {%r12, %r13}, [%rd1]; // =B\n"
     "setp.eq.u32 %p10, %r13, 0; @%p10 bra AGAIN;\nEND:\n",
     2, 32, "A-B " RW},
    {"a vector load that acquires behind its data, once all is written",
     "@!%p3 bra READ;\nst.global.u32 [%rd1], 7; // =A\nst.release.gpu.global.u32 [%rd1+4], 1;\n"
     "st.relaxed.gpu.global.u32 [%rd1+8], 1;\nret;\n"
     "READ: @%p2 bra END;\n"
     "AGAIN: ld.relaxed.gpu.global.u32 %r12, [%rd1+8]; setp.eq.u32 %p10, %r12, 0; @%p10 bra AGAIN;\n"
     "ld.acquire.gpu.global.v2.u32 {%r12, %r13}, [%rd1]; // =B\nEND:\n",
     2, 32, "A-B " RW},
    {"a vector load that acquires before its data",
     "@!%p3 bra READ;\nst.global.u32 [%rd1+4], 7; // =A\nst.release.gpu.global.u32 [%rd1], 1;\n"
     "st.relaxed.gpu.global.u32 [%rd1+8], 1;\nret;\n"
     "READ: @%p2 bra END;\n"
     "AGAIN: ld.relaxed.gpu.global.u32 %r12, [%rd1+8]; setp.eq.u32 %p10, %r12, 0; @%p10 bra AGAIN;\n"
     "ld.acquire.gpu.global.v2.u32 {%r12, %r13}, [%rd1]; // =B\nEND:\n",
     2, 32, ""},
    {"release and acquire",
     MESSAGE_AFTER("st.release.gpu.global.u32 [%rd1], 1;\n", "ld.acquire.gpu.global.u32 %r12, [%rd1];", ""),
     2, 32, ""},
    {"release and acquire of block scope",
     MESSAGE_AFTER("st.release.cta.global.u32 [%rd1], 1; // =F\n",
                   "ld.acquire.cta.global.u32 %r12, [%rd1]; // =G\n", ""),
     2, 32, "D-E " RW "; F-G insufficient scope"},
    {"narrow acquire",
     MESSAGE_AFTER("st.release.gpu.global.u32 [%rd1], 1; // =F\n",
                   "ld.acquire.cta.global.u32 %r12, [%rd1]; // =G\n", ""),
     2, 32, "D-E " RW "; F-G insufficient scope"},
    {"relaxed flag",
     MESSAGE_AFTER("st.relaxed.gpu.global.u32 [%rd1], 1;\n", "ld.relaxed.gpu.global.u32 %r12, [%rd1];", ""),
     2, 32, "D-E " RW},
    {"relaxed flag and fences",
     MESSAGE_AFTER("fence.acq_rel.gpu; st.relaxed.gpu.global.u32 [%rd1], 1;\n",
                   "ld.relaxed.gpu.global.u32 %r12, [%rd1];", "fence.acq_rel.gpu;\n"),
     2, 32, ""},
    {"fence of the writer only",
     MESSAGE_AFTER("fence.acq_rel.gpu; st.relaxed.gpu.global.u32 [%rd1], 1;\n",
                   "ld.relaxed.gpu.global.u32 %r12, [%rd1];", ""),
     2, 32, "D-E " RW},
    {"fence of the reader only",
     MESSAGE_AFTER("st.relaxed.gpu.global.u32 [%rd1], 1;\n", "ld.relaxed.gpu.global.u32 %r12, [%rd1];",
                   "fence.acq_rel.gpu;\n"),
     2, 32, "D-E " RW},
    {"fences of block scope",
     MESSAGE_AFTER("fence.acq_rel.cta; st.relaxed.gpu.global.u32 [%rd1], 1;\n",
                   "ld.relaxed.gpu.global.u32 %r12, [%rd1];", "fence.acq_rel.cta;\n"),
     2, 32, "D-E " RW},
    {"wide release, fence acquires",
     MESSAGE_AFTER("st.release.sys.global.u32 [%rd1], 1;\n", "ld.relaxed.sys.global.u32 %r12, [%rd1];",
                   "fence.acq_rel.sys;\n"),
     2, 32, ""},
    {"volatile flag and fences",
     MESSAGE_AFTER("membar.gl; st.volatile.global.u32 [%rd1], 1;\n", "ld.volatile.global.u32 %r12, [%rd1];",
                   "membar.gl;\n"),
     2, 32, ""},
    {"weak flag",
     MESSAGE_AFTER("st.global.u32 [%rd1], 1; // =F\n", "ld.global.u32 %r12, [%rd1]; // =G\n", ""), 2, 32,
     "D-E " RW "; F-G " RW},
    {"weak flag, fence.sc on both sides",
     MESSAGE_AFTER("fence.sc.gpu; st.global.u32 [%rd1], 1; // =F\n", "ld.global.u32 %r12, [%rd1]; // =G\n",
                   "fence.sc.gpu;\n"),
     2, 32, "F-G " RW},
    {"weak flag, narrow fence.sc",
     MESSAGE_AFTER("fence.sc.cta; st.global.u32 [%rd1], 1; // =F\n", "ld.global.u32 %r12, [%rd1]; // =G\n",
                   "fence.sc.gpu;\n"),
     2, 32, "D-E " RW "; F-G " RW},
    {"chain of read-modify-writes",
     // Block 0 releases, block 1 adds to it relaxed, block 2 acquires when it sees both.
     "@!%p1 bra END;\nsetp.eq.u32 %p10, %r2, 1; @%p10 bra MIDDLE; setp.eq.u32 %p11, %r2, 2; @%p11 bra "
     "LAST;\nst.global.u32 "
     "[%rd1+64], 7; // =D\nst.release.gpu.global.u32 [%rd1], 1; bra END;\nMIDDLE: "
     "atom.relaxed.gpu.global.cas.b32 %r10, [%rd1], "
     "1, 2; setp.ne.u32 %p12, %r10, 1; @%p12 bra MIDDLE; bra END;\nLAST: ld.acquire.gpu.global.u32 %r10, "
     "[%rd1]; setp.ne.u32 "
     "%p12, %r10, 2; @%p12 bra LAST;\nld.global.u32 %r11, [%rd1+64]; // =E\nEND: \n",
     3, 32, ""},
    {"chain broken by a store",
     "@!%p1 bra END;\nsetp.eq.u32 %p10, %r2, 1; @%p10 bra MIDDLE; setp.eq.u32 %p11, %r2, 2; @%p11 bra "
     "LAST;\nst.global.u32 "
     "[%rd1+64], 7; // =D\nst.release.gpu.global.u32 [%rd1], 1; bra END;\nMIDDLE: ld.relaxed.gpu.global.u32 "
     "%r10, [%rd1]; "
     "setp.ne.u32 %p12, %r10, 1; @%p12 bra MIDDLE; st.relaxed.gpu.global.u32 [%rd1], 2; bra END;\nLAST: "
     "ld.acquire.gpu.global.u32 %r10, [%rd1]; setp.ne.u32 %p12, %r10, 2; @%p12 bra LAST;\nld.global.u32 "
     "%r11, [%rd1+64]; // "
     "=E\nEND: \n",
     3, 32, "D-E " RW},
    {"a lock",
     "LOOP: atom.acquire.gpu.global.cas.b32 %r10, [%rd1], 0, 1; setp.ne.u32 %p10, %r10, 0; @%p10 bra "
     "LOOP;\nld.global.u32 %r11, "
     "[%rd1+64]; // =A\nadd.u32 %r11, %r11, 1; st.global.u32 [%rd1+64], %r11; // "
     "=B\nst.release.gpu.global.u32 [%rd1], 0;\n",
     2, 64, ""},
    {"a lock with fences",
     "LOOP: atom.global.cas.b32 %r10, [%rd1], 0, 1; setp.ne.u32 %p10, %r10, 0; @%p10 bra "
     "LOOP;\nmembar.gl;\nld.global.u32 %r11, "
     "[%rd1+64]; // =A\nadd.u32 %r11, %r11, 1; st.global.u32 [%rd1+64], %r11; // "
     "=B\nmembar.gl;\natom.global.exch.b32 %r12, [%rd1], "
     "0;\n",
     2, 64, ""},
    {"a lock without fences",
     "LOOP: atom.global.cas.b32 %r10, [%rd1], 0, 1; setp.ne.u32 %p10, %r10, 0; @%p10 bra "
     "LOOP;\nld.global.u32 %r11, [%rd1+64]; // "
     "=A\nadd.u32 %r11, %r11, 1; st.global.u32 [%rd1+64], %r11; // =B\natom.global.exch.b32 %r12, [%rd1], "
     "0;\n",
     2, 64, "A-B " RW "; B-B " WW},
    {"the last block",
     // Each block writes, fences and counts; the last reads all and resets the counter with a plain store.
     "mul.wide.u32 %rd5, %r2, 4; add.s64 %rd5, %rd1, %rd5;\n@!%p1 bra END;\nst.global.u32 [%rd5+64], %r2; // "
     "=A\nmembar.gl;\natom.global.inc.u32 %r10, [%rd1], 7; // =B\nsetp.ne.u32 %p10, %r10, 3; @%p10 bra "
     "END;\nmembar.gl;\n"
     "ld.global.v4.u32 {%r11, %r12, %r13, %r14}, [%rd1+64]; // =C\nst.global.u32 [%rd1], 0; // =D\nEND: \n",
     4, 32, ""},
    {"the last block, without fences",
     "mul.wide.u32 %rd5, %r2, 4; add.s64 %rd5, %rd1, %rd5;\n@!%p1 bra END;\nst.global.u32 [%rd5+64], %r2; // "
     "=A\natom.global.inc.u32 %r10, [%rd1], 7; // =B\nsetp.ne.u32 %p10, %r10, 3; @%p10 bra END;\n"
     "ld.global.v4.u32 {%r11, %r12, %r13, %r14}, [%rd1+64]; // =C\nst.global.u32 [%rd1], 0; // =D\nEND: \n",
     4, 32, "A-C " RW},
    {"barrier carries what one thread acquired",
     "@!%p2 bra OTHER;\nst.global.u32 [%rd3+64], %r1; // =A\nbar.sync 0;\n@%p1 st.release.gpu.global.u32 "
     "[%rd1], 1;\nbra "
     "END;\nOTHER: @!%p1 bra MEET;\nAGAIN: ld.acquire.gpu.global.u32 %r10, [%rd1]; setp.eq.u32 %p10, %r10, "
     "0; @%p10 bra "
     "AGAIN;\nMEET: bar.sync 0;\nld.global.u32 %r11, [%rd3+64]; // =B\nEND: \n",
     2, 64, ""},
    {"no barrier after the acquire",
     "@!%p2 bra OTHER;\nst.global.u32 [%rd3+64], %r1; // =A\nbar.sync 0;\n@%p1 st.release.gpu.global.u32 "
     "[%rd1], 1;\nbra "
     "END;\nOTHER: @!%p1 bra MEET;\nAGAIN: ld.acquire.gpu.global.u32 %r10, [%rd1]; setp.eq.u32 %p10, %r10, "
     "0; @%p10 bra "
     "AGAIN;\nMEET: ld.global.u32 %r11, [%rd3+64]; // =B\nEND: \n",
     2, 64, "A-B " RW},

    {"cp.async, waited and met",
     "cp.async.ca.shared.global [%r6], [%rd3], 4; // =A\ncp.async.commit_group; cp.async.wait_group "
     "0;\nbar.sync 0;\nxor.b32 %r10, "
     "%r4, 128; add.u32 %r10, %r5, %r10;\nld.shared.u32 %r11, [%r10]; // =B\n",
     1, 64, ""},
    {"cp.async, waited for by each, a neighbour's read",
     "cp.async.ca.shared.global [%r6], [%rd3], 4; // =A\ncp.async.wait_all;\nxor.b32 %r10, %r4, 4; add.u32 "
     "%r10, %r5, %r10;\nld.shared.u32 %r11, [%r10]; // =B\nld.shared.u32 %r11, [%r6]; // =C\n",
     1, 32, "A-B " RW},
    {"cp.async, waited for by each, a neighbour's read after a warp sync",
     "cp.async.ca.shared.global [%r6], [%rd3], 4; // =A\ncp.async.wait_all;\nbar.warp.sync 0xffffffff;\n"
     "xor.b32 %r10, %r4, 4; add.u32 %r10, %r5, %r10;\nld.shared.u32 %r11, [%r10]; // =B\n",
     1, 64, ""},
    {"cp.async, not waited",
     "cp.async.ca.shared.global [%r6], [%rd3], 4; // =A\ncp.async.commit_group;\nld.shared.u32 %r11, [%r6]; "
     "// "
     "=B\ncp.async.wait_group 0;\n",
     1, 64, "A-B " RW},
    {"cp.async, waited for too little",
     "cp.async.ca.shared.global [%r6], [%rd3], 4; // =A\ncp.async.commit_group; cp.async.ca.shared.global "
     "[%r6+1024], [%rd3], 4; // "
     "=B\ncp.async.commit_group; cp.async.wait_group 1;\nld.shared.u32 %r11, [%r6]; // =C\nld.shared.u32 "
     "%r11, [%r6+1024]; // "
     "=D\ncp.async.wait_all;\nld.shared.u32 %r11, [%r6+1024]; // =E\n",
     1, 32, "B-D " RW},
    {"cp.async, source changed too early",
     "cp.async.ca.shared.global [%r6], [%rd3], 4; // =A\nst.global.u32 [%rd3], %r1; // "
     "=B\ncp.async.wait_all;\nst.global.u32 [%rd3], "
     "%r1; // =C\n",
     1, 32, "A-B " RW},
    {"cp.async, told by an mbarrier after its own threads had waited",
     ".shared .align 8 .b64 m;\n@%p1 mbarrier.init.shared.b64 [m], 32;\nbar.sync 0;\nsetp.lt.u32 %p10, %r1, "
     "32; @%p10 bra TOLD;\ncp.async.ca.shared.global [%r6], [%rd3], 4; // =A\n"
     "cp.async.mbarrier.arrive.noinc.shared.b64 [m];\ncp.async.wait_all;\nbra.uni END;\n"
     "TOLD: mbarrier.test_wait.parity.shared.b64 %p10, [m], 0; @!%p10 bra TOLD;\n"
     "ld.shared.u32 %r11, [%r6+128]; // =B\nEND: \n",
     8, 64, ""},
    {"cp.async, the first of a hundred that their threads have waited for, told by an mbarrier",
     ".shared .align 8 .b64 m;\n@%p1 mbarrier.init.shared.b64 [m], 32;\nbar.sync 0;\nsetp.lt.u32 %p10, %r1, "
     "32; @%p10 bra TOLD;\ncp.async.ca.shared.global [%r6], [%rd3], 4; // =A\ncp.async.wait_all;\nmov.u32 "
     "%r10, 0;\nMORE: cp.async.ca.shared.global [%r6+1024], [%rd3], 4;\ncp.async.wait_all;\nadd.u32 %r10, "
     "%r10, 1; setp.lt.u32 %p10, %r10, 99; @%p10 bra MORE;\n"
     "cp.async.mbarrier.arrive.noinc.shared.b64 [m];\nbra.uni END;\n"
     "TOLD: mbarrier.test_wait.parity.shared.b64 %p10, [m], 0; @!%p10 bra TOLD;\n"
     "ld.shared.u32 %r11, [%r6+128]; // =B\nEND: \n",
     1, 64, ""},
    {"cp.async, issued after the arrival that an mbarrier tells of",
     ".shared .align 8 .b64 m;\n@%p1 mbarrier.init.shared.b64 [m], 32;\nbar.sync 0;\nsetp.lt.u32 %p10, %r1, "
     "32; @%p10 bra TOLD;\ncp.async.ca.shared.global [%r6], [%rd3], 4; // =A\n"
     "cp.async.mbarrier.arrive.noinc.shared.b64 [m];\ncp.async.ca.shared.global [%r6+1024], [%rd3], 4; // "
     "=C\n"
     "cp.async.wait_all;\nbra.uni END;\n"
     "TOLD: mbarrier.test_wait.parity.shared.b64 %p10, [m], 0; @!%p10 bra TOLD;\n"
     "ld.shared.u32 %r11, [%r6+128]; // =B\nld.shared.u32 %r11, [%r6+1152]; // =D\nEND: \n",
     1, 64, "C-D " RW},
    {"cp.async, under way over two barriers",
     "cp.async.ca.shared.global [%r6], [%rd3], 4; // =A\nbar.sync 0;\nst.shared.u32 [%r6+1024], %r1; // "
     "=B\nbar.sync 0;\nxor.b32 %r10, %r4, 128; add.u32 %r10, %r5, %r10;\nld.shared.u32 %r11, [%r10+1024]; "
     "// =C\n@%p1 ld.shared.u32 %r11, [%r10]; // =D\ncp.async.wait_all;\nbar.sync 0;\n"
     "ld.shared.u32 %r11, [%r10]; // =E\n",
     1, 64, "A-D " RW},
    {"cp.async, to where others have read since the barrier",
     "bar.sync 0;\nxor.b32 %r10, %r4, 128; add.u32 %r10, %r5, %r10;\nld.shared.u32 %r11, [%r10]; // =A\n"
     "cp.async.ca.shared.global [%r6], [%rd3], 4; // =B\ncp.async.wait_all;\n",
     1, 64, "A-B " RW},
    {"cp.async, to where others have read before the barrier",
     "bar.sync 0;\nxor.b32 %r10, %r4, 128; add.u32 %r10, %r5, %r10;\nld.shared.u32 %r11, [%r10]; // =A\n"
     "bar.sync 0;\ncp.async.ca.shared.global [%r6], [%rd3], 4; // =B\ncp.async.wait_all;\n",
     1, 64, ""},
    {"cp.async, to where its own thread has copied and waited",
     "cp.async.ca.shared.global [%r6], [%rd3], 4; // =A\ncp.async.wait_all;\nld.shared.u32 %r11, [%r6]; // "
     "=B\ncp.async.ca.shared.global [%r6], [%rd3], 4; // =C\ncp.async.wait_all;\n",
     1, 64, ""},
    {"cp.async, to where its own thread has copied and not waited",
     "cp.async.ca.shared.global [%r6], [%rd3], 4; // =A\ncp.async.commit_group;\n"
     "cp.async.ca.shared.global [%r6], [%rd3+256], 4; // =B\ncp.async.wait_all;\n",
     1, 64, "A-B " SAME},
    {"mbarrier",
     ".shared .align 8 .b64 m;\n@%p1 mbarrier.init.shared.b64 [m], 64;\nbar.sync 0;\nst.shared.u32 [%r6], "
     "%r1; // =A\n"
     "mbarrier.arrive.shared.b64 %rd5, [m];\nAGAIN: mbarrier.test_wait.shared.b64 %p10, [m], %rd5; @!%p10 "
     "bra AGAIN;\nxor.b32 %r10, %r4, "
     "128; add.u32 %r10, %r5, %r10;\nld.shared.u32 %r11, [%r10]; // =B\n",
     1, 64, ""},
    {"read by many blocks, written by the first",
     "@%p1 ld.global.u32 %r10, [%rd1]; // =A\n@%p3 st.global.u32 [%rd1], %r1; // =B\n", 9, 32, "A-B " RW},
    {"read by many blocks, written by the last",
     "setp.eq.u32 %p10, %r2, 8; and.pred %p10, %p10, %p1; @%p1 ld.global.u32 %r10, [%rd1]; // =A\n"
     "@%p10 st.global.u32 [%rd1], %r1; // =B\n",
     9, 32, "A-B " RW},
    {"read by many blocks here and there, written by the first",
     "and.b32 %r10, %r1, 7; mul.lo.u32 %r10, %r10, %r10; mul.wide.u32 %rd5, %r10, 4; add.s64 %rd5, %rd1, "
     "%rd5;\n"
     "ld.global.u32 %r11, [%rd5]; // =A\n@%p3 st.global.u32 [%rd1+196], %r1; // =B\n",
     9, 64, "A-B " RW},
    {"mbarrier not waited for",
     ".shared .align 8 .b64 m;\n@%p1 mbarrier.init.shared.b64 [m], 64;\nbar.sync 0;\nst.shared.u32 [%r6], "
     "%r1; // =A\n"
     "mbarrier.arrive.shared.b64 %rd5, [m];\nxor.b32 %r10, %r4, 128; add.u32 %r10, %r5, %r10;\nld.shared.u32 "
     "%r11, [%r10]; // =B\n",
     1, 64, "A-B " RW},
    {"bulk copy and mbarrier",
     ".shared .align 8 .b64 m;\n@%p1 mbarrier.init.shared.b64 [m], 1;\nbar.sync 0;\n@!%p1 bra WAIT;\n"
     "mbarrier.arrive.expect_tx.shared.b64 %rd5, [m], 256;\n"
     "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%r5], [%rd1], 256, [m]; // =A\n"
     "WAIT: mbarrier.try_wait.parity.shared.b64 %p10, [m], 0; @!%p10 bra WAIT;\nld.shared.u32 %r11, [%r6]; "
     "// =B\n",
     1, 64, ""},
    {"bulk copy not waited for",
     ".shared .align 8 .b64 m;\n@%p1 mbarrier.init.shared.b64 [m], 1;\nbar.sync 0;\n@!%p1 bra GO;\n"
     "mbarrier.arrive.expect_tx.shared.b64 %rd5, [m], 256;\n"
     "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%r5], [%rd1], 256, [m]; // =A\n"
     "GO: ld.shared.u32 %r11, [%r6]; // =B\nWAIT: mbarrier.try_wait.parity.shared.b64 %p10, [m], 0; @!%p10 "
     "bra WAIT;\n",
     1, 64, "A-B " RW},
    {"bulk store with a proxy fence",
     "st.shared.u32 [%r6], %r1; // =A\nfence.proxy.async.shared::cta;\nbar.sync 0;\n@!%p1 bra END;\n"
     "cp.async.bulk.global.shared::cta.bulk_group [%rd1], [%r5], 256; // =B\ncp.async.bulk.commit_group;\n"
     "cp.async.bulk.wait_group.read 0;\nst.shared.u32 [%r5], %r1; // =C\ncp.async.bulk.wait_group "
     "0;\nld.global.u32 %r11, [%rd1]; // "
     "=D\nEND: \n",
     1, 64, ""},
    {"bulk store without a proxy fence",
     "st.shared.u32 [%r6], %r1; // =A\nbar.sync 0;\n@!%p1 bra END;\n"
     "cp.async.bulk.global.shared::cta.bulk_group [%rd1], [%r5], 256; // =B\ncp.async.bulk.commit_group;\n"
     "cp.async.bulk.wait_group 0;\nEND: \n",
     1, 64, "A-B proxy race"},
    {"bulk store, a third thread's proxy fence between two barriers",
     "st.shared.u32 [%r6], %r1; // =A\nbar.sync 0;\n@%p7 fence.proxy.async.shared::cta;\nbar.sync 0;\n@!%p1 "
     "bra "
     "END;\n"
     "cp.async.bulk.global.shared::cta.bulk_group [%rd1], [%r5], 256; // =B\ncp.async.bulk.commit_group;\n"
     "cp.async.bulk.wait_group 0;\nEND: \n",
     1, 64, ""},
    {"bulk store, a third thread's proxy fence before the barrier",
     "st.shared.u32 [%r6], %r1; // =A\n@%p7 fence.proxy.async.shared::cta;\nbar.sync 0;\n@!%p1 bra END;\n"
     "cp.async.bulk.global.shared::cta.bulk_group [%rd1], [%r5], 256; // =B\ncp.async.bulk.commit_group;\n"
     "cp.async.bulk.wait_group 0;\nEND: \n",
     1, 64, "A-B proxy race"},
    {"a stage is read and filled again",
     PROXY_READS
     ".shared .align 8 .b64 m;\n@%p1 mbarrier.init.shared.b64 [m], 1;\nld.shared.u32 %r11, [%r6]; // "
     "=A\nbar.sync 0;\n"
     "@!%p1 bra WAIT;\nmbarrier.arrive.expect_tx.shared.b64 %rd5, [m], 256;\n"
     "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%r5], [%rd1], 256, [m]; // =B\n"
     "WAIT: mbarrier.try_wait.parity.shared.b64 %p10, [m], 0; @!%p10 bra WAIT;\nld.shared.u32 %r11, [%r6]; "
     "// =C\n",
     1, 64, "A-B proxy read race"},
    {"a stage is read and filled again, which nobody wants to hear",
     ".shared .align 8 .b64 m;\n@%p1 mbarrier.init.shared.b64 [m], 1;\nld.shared.u32 %r11, [%r6]; // "
     "=A\nbar.sync 0;\n"
     "@!%p1 bra WAIT;\nmbarrier.arrive.expect_tx.shared.b64 %rd5, [m], 256;\n"
     "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%r5], [%rd1], 256, [m]; // =B\n"
     "WAIT: mbarrier.try_wait.parity.shared.b64 %p10, [m], 0; @!%p10 bra WAIT;\nld.shared.u32 %r11, [%r6]; "
     "// =C\n",
     1, 64, ""},
    {"a stage is read and filled again behind a proxy fence",
     PROXY_READS
     ".shared .align 8 .b64 m;\n@%p1 mbarrier.init.shared.b64 [m], 1;\nld.shared.u32 %r11, [%r6]; // "
     "=A\nfence.proxy.async.shared::cta;\nbar.sync 0;\n"
     "@!%p1 bra WAIT;\nmbarrier.arrive.expect_tx.shared.b64 %rd5, [m], 256;\n"
     "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%r5], [%rd1], 256, [m]; // =B\n"
     "WAIT: mbarrier.try_wait.parity.shared.b64 %p10, [m], 0; @!%p10 bra WAIT;\nld.shared.u32 %r11, [%r6]; "
     "// =C\n",
     1, 64, ""},
    {"global memory is read, and a bulk store overwrites it",
     PROXY_READS "st.shared.u32 [%r6], %r1;\nfence.proxy.async;\nbar.sync 0;\nld.global.u32 %r11, [%rd1]; // "
                 "=A\nbar.sync 0;\n@!%p1 bra END;\n"
                 "cp.async.bulk.global.shared::cta.bulk_group [%rd1], [%r5], 256; // =B\n"
                 "cp.async.bulk.commit_group;\ncp.async.bulk.wait_group.read 0;\nst.shared.u32 [%r5], 1; // "
                 "=C\ncp.async.bulk.wait_group 0;\nEND: \n",
     1, 64, "A-B proxy read race"},
    {"global memory is read, and a bulk store overwrites it behind a proxy fence",
     PROXY_READS "st.shared.u32 [%r6], %r1;\nfence.proxy.async;\nbar.sync 0;\nld.global.u32 %r11, [%rd1]; // "
                 "=A\nfence.proxy.async;\nbar.sync 0;\n@!%p1 bra END;\n"
                 "cp.async.bulk.global.shared::cta.bulk_group [%rd1], [%r5], 256; // =B\n"
                 "cp.async.bulk.commit_group;\ncp.async.bulk.wait_group.read 0;\nst.shared.u32 [%r5], 1; // "
                 "=C\ncp.async.bulk.wait_group 0;\nEND: \n",
     1, 64, ""},
    {"global memory is read, and a bulk reduction changes it",
     PROXY_READS "st.shared.u32 [%r6], %r1;\nfence.proxy.async;\nbar.sync 0;\nld.global.u32 %r11, [%rd1]; // "
                 "=A\nbar.sync 0;\n@!%p1 bra END;\n"
                 "cp.reduce.async.bulk.global.shared::cta.bulk_group.add.u32 [%rd1], [%r5], 256; // =B\n"
                 "cp.async.bulk.commit_group;\ncp.async.bulk.wait_group.read 0;\nst.shared.u32 [%r5], 1; // "
                 "=C\ncp.async.bulk.wait_group 0;\nEND: \n",
     1, 64, "A-B proxy read race"},
    {"cp.async of a part of its source",
     "cp.async.cg.shared.global [%r5], [%rd1], 16, 4; // =A\n@%p1 st.global.u32 [%rd1+4], %r1; // "
     "=B\ncp.async.wait_all;\n",
     1, 1, ""},
    {"cp.async of a part of its source, which changes",
     "cp.async.cg.shared.global [%r5], [%rd1], 16, 8; // =A\n@%p1 st.global.u32 [%rd1+4], %r1; // "
     "=B\ncp.async.wait_all;\n",
     1, 1, "A-B " RW},
    {"mbarrier, relaxed with fences",
     ".shared .align 8 .b64 m;\n@%p1 mbarrier.init.shared.b64 [m], 64;\nbar.sync 0;\nst.shared.u32 [%r6], "
     "%r1; // =A\nfence.acq_rel.cta;\n"
     "mbarrier.arrive.relaxed.cta.shared.b64 %rd5, [m];\nAGAIN: mbarrier.test_wait.relaxed.cta.shared.b64 "
     "%p10, [m], %rd5; @!%p10 "
     "bra AGAIN;\nfence.acq_rel.cta;\nxor.b32 %r10, %r4, "
     "128; add.u32 %r10, %r5, %r10;\nld.shared.u32 %r11, [%r10]; // =B\n",
     1, 64, ""},
    {"mbarrier, relaxed with one fence",
     ".shared .align 8 .b64 m;\n@%p1 mbarrier.init.shared.b64 [m], 64;\nbar.sync 0;\nst.shared.u32 [%r6], "
     "%r1; // =A\nfence.acq_rel.cta;\n"
     "mbarrier.arrive.relaxed.cta.shared.b64 %rd5, [m];\nAGAIN: mbarrier.test_wait.relaxed.cta.shared.b64 "
     "%p10, [m], %rd5; @!%p10 "
     "bra AGAIN;\nxor.b32 %r10, %r4, "
     "128; add.u32 %r10, %r5, %r10;\nld.shared.u32 %r11, [%r10]; // =B\n",
     1, 64, "A-B " RW},
    {"bulk store, destination read too early",
     "st.shared.u32 [%r6], %r1; // =A\nfence.proxy.async.shared::cta;\nbar.sync 0;\n@!%p1 bra END;\n"
     "cp.async.bulk.global.shared::cta.bulk_group [%rd1], [%r5], 256; // =B\ncp.async.bulk.commit_group;\n"
     "cp.async.bulk.wait_group.read 0;\nld.global.u32 %r11, [%rd1]; // =D\ncp.async.bulk.wait_group 0;\nEND: "
     "\n",
     1, 64, "B-D " RW},

#define OTHER_BLOCK                                                                                          \
    "mov.u32 %r10, %cluster_ctarank; xor.b32 %r10, %r10, 1; mapa.shared::cluster.u32 %r11, %r6, %r10;\n"
#define CLUSTER_BARRIER "barrier.cluster.arrive; barrier.cluster.wait;\n"
    {"cluster: the other block's memory behind a barrier",
     "st.shared.u32 [%r6], %r1; // =A\n" CLUSTER_BARRIER OTHER_BLOCK
     "ld.shared::cluster.u32 %r12, [%r11]; // =B\n" CLUSTER_BARRIER,
     4, 64, ""},
    {"cluster: the other block's memory, over and over behind barriers",
     "mov.u32 %r13, 0;\nMORE: st.shared.u32 [%r6], %r1;\n" CLUSTER_BARRIER OTHER_BLOCK
     "ld.shared.u32 %r12, [%r6]; ld.shared::cluster.u32 %r12, [%r11];\n" CLUSTER_BARRIER
     "add.u32 %r13, %r13, 1; setp.lt.u32 %p10, %r13, 3; @%p10 bra MORE;\n",
     4, 64, ""},
    {"cluster: the other block's memory, too early behind the second barrier",
     "st.shared.u32 [%r6], %r1;\n" CLUSTER_BARRIER OTHER_BLOCK
     "ld.shared::cluster.u32 %r12, [%r11];\n" CLUSTER_BARRIER "st.shared.u32 [%r6], %r1; // =A\n"
     "ld.shared::cluster.u32 %r12, [%r11]; // =B\n" CLUSTER_BARRIER,
     4, 64, "A-B " RW},
    {"cluster: some go on between arriving and waiting",
     "@%p2 bra FIRST;\n" CLUSTER_BARRIER OTHER_BLOCK
     "ld.shared::cluster.u32 %r12, [%r11]; // =B\nbra END;\nFIRST: barrier.cluster.arrive;\n"
     "st.shared.u32 [%r6], %r1; // =A\nbarrier.cluster.wait;\nEND: " CLUSTER_BARRIER,
     2, 64, "A-B " RW},
    {"cluster: cp.async under way over a barrier",
     "cp.async.ca.shared.global [%r6], [%rd3], 4; // =A\n" CLUSTER_BARRIER OTHER_BLOCK
     "ld.shared::cluster.u32 %r12, [%r11]; // =B\ncp.async.wait_all;\n" CLUSTER_BARRIER
     "ld.shared::cluster.u32 %r12, [%r11]; // =C\n" CLUSTER_BARRIER,
     4, 64, "A-B " RW},
    {"cluster: the other block's memory without a barrier",
     "st.shared.u32 [%r6], %r1; // =A\n" OTHER_BLOCK
     "ld.shared::cluster.u32 %r12, [%r11]; // =B\n" CLUSTER_BARRIER,
     4, 64, "A-B " RW},
    {"cluster: a relaxed arrival orders nothing",
     "st.shared.u32 [%r6], %r1; // =A\nbarrier.cluster.arrive.relaxed; barrier.cluster.wait;\n" OTHER_BLOCK
     "ld.shared::cluster.u32 %r12, [%r11]; // =B\n" CLUSTER_BARRIER,
     4, 64, "A-B " RW},
    {"cluster: bar.sync is the block's",
     "st.shared.u32 [%r6], %r1; // =A\nbar.sync 0;\n" OTHER_BLOCK
     "ld.shared::cluster.u32 %r12, [%r11]; // =B\n" CLUSTER_BARRIER,
     4, 64, "A-B " RW},
#define REMOTE_MBARRIER(arrive, wait)                                                                        \
    ".shared .align 8 .b64 m;\n@%p1 mbarrier.init.shared.b64 [m], 64;\n" CLUSTER_BARRIER OTHER_BLOCK         \
    "st.shared::cluster.u32 [%r11], %r1; // =A\nmov.u32 %r13, m; mapa.shared::cluster.u32 %r13, %r13, "      \
    "%r10;\n" arrive "AGAIN: " wait " @!%p10 bra AGAIN;\nld.shared.u32 %r12, [%r6]; // =B\n" CLUSTER_BARRIER
    {"cluster: remote arrival and wait of the cluster's scope",
     REMOTE_MBARRIER("mbarrier.arrive.release.cluster.shared::cluster.b64 _, [%r13];\n",
                     "mbarrier.try_wait.parity.acquire.cluster.shared::cta.b64 %p10, [m], 0;"),
     4, 64, ""},
    {"cluster: remote arrival of the block's scope",
     REMOTE_MBARRIER("mbarrier.arrive.release.cta.shared::cluster.b64 _, [%r13];\n",
                     "mbarrier.try_wait.parity.acquire.cluster.shared::cta.b64 %p10, [m], 0;"),
     4, 64, "A-B " RW},
    {"cluster: remote arrival, wait of the block's scope",
     REMOTE_MBARRIER("mbarrier.arrive.release.cluster.shared::cluster.b64 _, [%r13];\n",
                     "mbarrier.try_wait.parity.shared::cta.b64 %p10, [m], 0;"),
     4, 64, "A-B " RW},
    {"cluster: remote arrival, relaxed with fences",
     REMOTE_MBARRIER(
         "fence.acq_rel.cluster;\nmbarrier.arrive.relaxed.cluster.shared::cluster.b64 _, [%r13];\n",
         "mbarrier.try_wait.parity.relaxed.cluster.shared::cta.b64 %p10, [m], 0;\n@%p10 "
         "fence.acq_rel.cluster;"),
     4, 64, ""},
    {"cluster: written after arriving",
     "barrier.cluster.arrive;\nst.shared.u32 [%r6], %r1; // =A\nbarrier.cluster.wait;\n" OTHER_BLOCK
     "ld.shared::cluster.u32 %r12, [%r11]; // =B\n" CLUSTER_BARRIER,
     4, 64, "A-B " RW},
    {"cluster: atomics of cluster scope in one cluster and in two",
     "@%p1 atom.relaxed.cluster.global.add.u32 %r10, [%rd1], 1; // =A\nshr.u32 %r11, %r2, 1; mul.wide.u32 "
     "%rd5, %r11, 4; "
     "add.s64 %rd5, %rd1, %rd5;\n@%p1 atom.relaxed.cluster.global.add.u32 %r10, [%rd5+64], 1; // =B\n",
     4, 32, "A-A insufficient scope"},
};

#endif
