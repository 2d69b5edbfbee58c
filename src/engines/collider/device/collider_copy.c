// SPDX-License-Identifier: Apache-2.0
// collider's device runtime for copies — emulates and watches copies that inserted code does not do by itself. These
// are cp.async of lanes whose source is shorter than their destination, and bulk copies
// (engines/collider/pass/collider_async.h).
//
// Modules that have such copies get collider.c with this behind it. All addresses are generic. Sources and destinations
// are compared with what was there before the delay; nothing is kept of a bulk copy but a hash of its source (FNV-1a,
// as in figure 4d of the paper, over words of 64 bits: a change of one word always changes it), because the destination
// holds what was read of the source.
enum { GENERIC = GR_META_GENERIC << GR_META_SPACE };

static uint64_t load_byte(uint64_t at) {
    uint32_t v;
    __asm__ volatile("ld.u8 %0, [%1];" : "=r"(v) : "l"(at) : "memory");
    return v;
}

static uint64_t load_byte_again(uint64_t at) {
    uint32_t v;
    __asm__ volatile("ld.relaxed.sys.u8 %0, [%1];" : "=r"(v) : "l"(at) : "memory");
    return v;
}

static void store_byte(uint64_t at, uint64_t v) {
    __asm__ volatile("st.u8 [%0], %1;" ::"l"(at), "r"((uint32_t)v) : "memory");
}

static void clobber_byte(uint64_t at, uint64_t v) {
    __asm__ volatile("st.relaxed.sys.u8 [%0], %1;" ::"l"(at), "r"((uint32_t)v) : "memory");
}

// 16 bytes, to which the ends of bulk copies are aligned.
typedef struct Piece {
    uint64_t lo, hi;
} Piece;

static Piece load_piece(uint64_t at) {
    Piece v;
    __asm__ volatile("ld.v2.u64 {%0, %1}, [%2];" : "=l"(v.lo), "=l"(v.hi) : "l"(at) : "memory");
    return v;
}

static Piece load_piece_again(uint64_t at) {
    Piece v;
    __asm__ volatile("ld.relaxed.sys.v2.u64 {%0, %1}, [%2];" : "=l"(v.lo), "=l"(v.hi) : "l"(at) : "memory");
    return v;
}

static void store_piece(uint64_t at, Piece v) {
    __asm__ volatile("st.v2.u64 [%0], {%1, %2};" ::"l"(at), "l"(v.lo), "l"(v.hi) : "memory");
}

static void clobber_piece(uint64_t at, Piece v) {
    __asm__ volatile("st.relaxed.sys.v2.u64 [%0], {%1, %2};" ::"l"(at), "l"(~v.lo), "l"(~v.hi) : "memory");
}

static const uint64_t hash_basis = 0xcbf29ce484222325;

static uint64_t hash(uint64_t h, Piece v) {
    const uint64_t prime = 0x100000001b3;
    return ((h ^ v.lo) * prime ^ v.hi) * prime;
}

// Sleeps for each of the three highest bits of `ns`, so that two warps do not wait for the same time
// (engines/collider/pass/collider_time.h).
static void wait_for(uint32_t ns) {
    for (uint32_t parts = 3; ns && parts; parts--) {
        uint32_t top = 0x80000000u >> __builtin_clz(ns);
        gr_sleep(top);
        ns -= top;
    }
}

// cp.async of `bytes` bytes, of which the first `size` come from the source and the others are zero.
void __gr_copy_part(uint32_t site, uint64_t dst, uint64_t src, uint32_t size, uint32_t bytes,
                    uint32_t delay) {
    uint64_t word[2] = {0, 0}; // what was copied
    for (uint32_t k = 0; k < bytes; k++) {
        uint64_t v = k < size ? load_byte(src + k) : 0;
        if (k < 8)
            word[0] |= v << 8 * k;
        else
            word[1] |= v << (8 * k - 64);
        store_byte(dst + k, v);
    }
    wait_for(delay);
    for (uint32_t k = 0; k < bytes; k++) {
        uint64_t v = (k < 8 ? word[0] >> 8 * k : word[1] >> (8 * k - 64)) & 0xff;
        uint64_t now = k < size ? load_byte_again(src + k) : v;
        if (now != v)
            __gr_report(site, GR_CLASS_CLOBBERED_READ | GENERIC | 1 << GR_META_SIZE, src + k, v, now);
        now = load_byte_again(dst + k);
        if (now != v)
            __gr_report(site, GR_CLASS_LOST_UPDATE | GENERIC | 1 << GR_META_SIZE, dst + k, v, now);
        clobber_byte(dst + k, ~v);
    }
}

// A word that differed is shown when it is known which end had changed, and therefore what was there.
static void report_change(uint32_t site, uint32_t class, uint64_t end, uint64_t at, uint64_t expected,
                          uint64_t seen, int known) {
    if (known && expected != seen)
        __gr_report(site, class | GENERIC | 8 << GR_META_SIZE, end + at, expected, seen);
    else
        __gr_report(site, class | GENERIC, end, 0, 0);
}

// ---- A cp.async that was held back (engines/collider/pass/collider_held.h) ------------------------------------------

// The first `bytes` bytes at an address that is a multiple of so many: 4, 8 or 16; or none.
static Piece load_some(uint64_t at, uint32_t bytes) {
    Piece v = {0, 0};
    uint32_t word;
    if (bytes == 16)
        v = load_piece_again(at);
    else if (bytes == 8)
        __asm__ volatile("ld.relaxed.sys.u64 %0, [%1];" : "=l"(v.lo) : "l"(at) : "memory");
    else if (bytes == 4) {
        __asm__ volatile("ld.relaxed.sys.u32 %0, [%1];" : "=r"(word) : "l"(at) : "memory");
        v.lo = word;
    }
    return v;
}

static void store_some(uint64_t at, uint32_t bytes, Piece v) {
    if (bytes == 16)
        store_piece(at, v);
    else if (bytes == 8)
        __asm__ volatile("st.u64 [%0], %1;" ::"l"(at), "l"(v.lo) : "memory");
    else
        __asm__ volatile("st.u32 [%0], %1;" ::"l"(at), "r"((uint32_t)v.lo) : "memory");
}

static uint64_t sum(Piece v) { return v.lo + v.hi * GR_HELD_FACTOR; }

static void report_held(uint32_t site, uint32_t class, uint64_t end, uint32_t bytes, Piece expected,
                        Piece seen) {
    uint32_t high = bytes == 16 && expected.lo == seen.lo;
    __gr_report(site, class | GENERIC | (bytes == 4 ? 4u : 8u) << GR_META_SIZE, end + 8 * high,
                high ? expected.hi : expected.lo, high ? seen.hi : seen.lo);
}

static Piece complement(Piece v, uint32_t bytes) {
    return (Piece){bytes == 4 ? (uint32_t)~v.lo : ~v.lo, bytes == 16 ? ~v.hi : 0};
}

// What a held copy's destination has: what the issue read, its complement, or what another thread has stored.
typedef enum Held { COPIED, CLOBBERED, LOST } Held;

// Holds both ends against what was there. Only the thread itself could have waited for this copy, and has not: the
// source has what was read at the issue, of which `before` is the sum, and the destination the same or its complement.
// `packed`: how many bytes are written and, above, how many read. *copy: what the copy brings.
static Held look_at_held(uint32_t site, uint64_t dst, uint64_t src, uint32_t packed, uint64_t before,
                         Piece *copy) {
    uint32_t bytes = packed & 0xff;
    Piece s = load_some(src, packed >> 8), d = load_some(dst, bytes), turned = complement(d, bytes);
    Held held = sum(d) == before ? COPIED : sum(turned) == before ? CLOBBERED : LOST;
    int same = sum(s) == before;
    *copy = held == COPIED ? d : held == CLOBBERED ? turned : s;
    Piece then = bytes == 16 ? *copy : (Piece){before, 0}; // of 16 bytes the sum is not all
    if (held == LOST)
        report_held(site, GR_CLASS_LOST_UPDATE, dst, bytes, then, d);
    if (!same)
        report_held(site, GR_CLASS_CLOBBERED_READ, src, bytes, then, s);
    return held;
}

// The destination changes, in a window: the copy comes, or, since nobody may know yet that it has come, goes again.
void __gr_copy_turned(uint32_t site, uint64_t dst, uint64_t src, uint32_t packed, uint64_t before,
                      uint32_t delay) {
    Piece copy;
    wait_for(delay);
    Held held = look_at_held(site, dst, src, packed, before, &copy);
    if (held != LOST)
        store_some(dst, packed & 0xff, held == COPIED ? complement(copy, packed & 0xff) : copy);
}

// The copy comes for good.
void __gr_copy_held(uint32_t site, uint64_t dst, uint64_t src, uint32_t packed, uint64_t before,
                    uint32_t delay) {
    Piece copy;
    if (look_at_held(site, dst, src, packed, before, &copy) == COPIED)
        store_some(dst, packed & 0xff, complement(copy, packed & 0xff));
    wait_for(delay);
    (void)look_at_held(site, dst, src, packed, before, &copy);
    store_some(dst, packed & 0xff, copy);
}

// The thread ends and has not waited: others may still be about to look.
void __gr_copy_left(uint32_t site, uint64_t dst, uint64_t src, uint32_t packed, uint64_t before,
                    uint32_t delay) {
    for (unsigned turns = 7; turns; turns--)
        __gr_copy_turned(site, dst, src, packed, before, delay);
    __gr_copy_held(site, dst, src, packed, before, delay);
}

// The copy comes for good, for a thread that may learn of cp.async alone.
void __gr_copy_issued(uint32_t site, uint64_t dst, uint64_t src, uint32_t packed, uint64_t before,
                      uint32_t delay) {
    uint64_t offset, from;
    __asm__("cvta.to.shared.u64 %0, %1;" : "=l"(offset) : "l"(dst));
    __asm__("cvta.to.global.u64 %0, %1;" : "=l"(from) : "l"(src));
    uint32_t to = (uint32_t)offset, read = packed >> 8;
    __gr_copy_held(site, dst, src, packed, before, delay);
    if ((packed & 0xff) == 16)
        __asm__ volatile("cp.async.ca.shared.global [%0], [%1], 16, %2;" ::"r"(to), "l"(from), "r"(read)
                         : "memory");
    else if ((packed & 0xff) == 8)
        __asm__ volatile("cp.async.ca.shared.global [%0], [%1], 8, %2;" ::"r"(to), "l"(from), "r"(read)
                         : "memory");
    else
        __asm__ volatile("cp.async.ca.shared.global [%0], [%1], 4, %2;" ::"r"(to), "l"(from), "r"(read)
                         : "memory");
}

// ---- Bulk copies ---------------------------------------------------------------------------------------------------

// Does a bulk copy; yields the hash of the copied bytes. Both addresses, and the size, are multiples of 16.
static uint64_t emulate(uint64_t dst, uint64_t src, uint32_t bytes) {
    uint64_t h = hash_basis;
    for (uint32_t k = 0; k < bytes; k += sizeof(Piece)) {
        Piece v = load_piece(src + k);
        store_piece(dst + k, v);
        h = hash(h, v);
    }
    return h;
}

// Compares both ends with what was there `before`, and clobbers the destination. Yields the hash of what it clobbered.
static uint64_t look_again(uint32_t site, uint64_t dst, uint64_t src, uint32_t bytes, uint64_t before) {
    uint64_t src_now = hash_basis, dst_now = hash_basis;
    uint64_t at = 0, s_word = 0, d_word = 0; // where the ends first differ, and how
    for (uint32_t k = 0; k < bytes; k += sizeof(Piece)) {
        Piece s = load_piece_again(src + k), d = load_piece_again(dst + k);
        src_now = hash(src_now, s);
        dst_now = hash(dst_now, d);
        if (s_word == d_word && (s.lo != d.lo || s.hi != d.hi)) {
            at = s.lo != d.lo ? k : k + 8;
            s_word = s.lo != d.lo ? s.lo : s.hi;
            d_word = s.lo != d.lo ? d.lo : d.hi;
        }
        clobber_piece(dst + k, s);
    }
    if (src_now != before)
        report_change(site, GR_CLASS_CLOBBERED_READ, src, at, d_word, s_word, dst_now == before);
    if (dst_now != before)
        report_change(site, GR_CLASS_LOST_UPDATE, dst, at, s_word, d_word, src_now == before);
    return src_now;
}

uint64_t __gr_copy_bulk(uint32_t site, uint64_t dst, uint64_t src, uint32_t bytes, uint32_t delay) {
    uint64_t before = emulate(dst, src, bytes);
    wait_for(delay);
    return look_again(site, dst, src, bytes, before);
}

// A bulk copy that is still to be issued: its source is as it was `before`, and its destination the complement.
void __gr_bulk_held(uint32_t site, uint64_t dst, uint64_t src, uint32_t bytes, uint64_t before) {
    uint64_t src_now = hash_basis, dst_now = hash_basis;
    for (uint32_t k = 0; k < bytes; k += sizeof(Piece)) {
        Piece d = load_piece_again(dst + k);
        src_now = hash(src_now, load_piece_again(src + k));
        dst_now = hash(dst_now, (Piece){~d.lo, ~d.hi});
    }
    if (src_now != before)
        report_change(site, GR_CLASS_CLOBBERED_READ, src, 0, 0, 0, 0);
    if (dst_now != before)
        report_change(site, GR_CLASS_LOST_UPDATE, dst, 0, 0, 0, 0);
}

// A bulk reduction, whose destination others may update meanwhile: the source alone.
void __gr_watch_bulk(uint32_t site, uint64_t src, uint32_t bytes, uint32_t delay) {
    uint64_t before = hash_basis, now = hash_basis;
    for (uint32_t k = 0; k < bytes; k += sizeof(Piece))
        before = hash(before, load_piece(src + k));
    wait_for(delay);
    for (uint32_t k = 0; k < bytes; k += sizeof(Piece))
        now = hash(now, load_piece_again(src + k));
    if (now != before)
        report_change(site, GR_CLASS_CLOBBERED_READ, src, 0, 0, 0, 0);
}

// Hashes the source of a copy under way, and reports a change, when nobody can know that the copy has ended.
uint64_t __gr_source(uint64_t src, uint32_t bytes) {
    uint64_t h = hash_basis;
    for (uint32_t k = 0; k < bytes; k += sizeof(Piece))
        h = hash(h, load_piece_again(src + k));
    return h;
}

void __gr_source_again(uint32_t site, uint64_t src, uint32_t bytes, uint64_t before) {
    if (__gr_source(src, bytes) != before)
        report_change(site, GR_CLASS_CLOBBERED_READ, src, 0, 0, 0, 0);
}
