// SPDX-License-Identifier: Apache-2.0
// touch_insn — see touch_insn.h. The opcode maps are those of the AMD64 Architecture Programmer's Manual, volume 3,
// appendix A. Where an instruction is rare the answer is "not known", never a guess.
#include "inject/touch_insn.h"

#include <stdbool.h>

#if defined(__x86_64__)

typedef struct Insn {
    const uint8_t *p; // after what was read
    bool p66, wide;   // operand-size prefix; REX.W, VEX.W
    uint8_t rep;      // 0xf2, 0xf3 or 0
    bool vex, masked, broadcast;
    unsigned vector; // bytes of a vector of VEX and EVEX
    unsigned map;    // 0: one byte, 1: 0F, 2: 0F 38, 3: 0F 3A
    uint8_t op;
} Insn;

static uint8_t next(Insn *i) { return *i->p++; }

static void read_pp(Insn *i, unsigned pp) {
    i->p66 = pp == 1;
    i->rep = pp == 2 ? 0xf3 : pp == 3 ? 0xf2 : 0;
}

// Prefixes and the opcode.
static bool read_opcode(Insn *i) {
    uint8_t b = next(i);
    for (unsigned n = 0; n < 14; n++, b = next(i)) {
        if (b == 0x66)
            i->p66 = true;
        else if (b == 0xf2 || b == 0xf3)
            i->rep = b;
        else if (b != 0xf0 && b != 0x2e && b != 0x36 && b != 0x3e && b != 0x26 && b != 0x64 && b != 0x65 &&
                 b != 0x67)
            break;
    }
    if ((b & 0xf0) == 0x40) {
        i->wide = b & 8;
        b = next(i);
    }
    if (b == 0xc5) {
        uint8_t v = next(i);
        i->vex = true;
        i->vector = v & 4 ? 32 : 16;
        read_pp(i, v & 3);
        i->map = 1;
        i->op = next(i);
        return true;
    }
    if (b == 0xc4) {
        i->map = next(i) & 31;
        uint8_t v = next(i);
        i->vex = true;
        i->wide = v & 0x80;
        i->vector = v & 4 ? 32 : 16;
        read_pp(i, v & 3);
        i->op = next(i);
        return i->map >= 1 && i->map <= 3;
    }
    if (b == 0x62) {
        i->map = next(i) & 7;
        uint8_t v = next(i), w = next(i);
        i->vex = true;
        i->wide = v & 0x80;
        read_pp(i, v & 3);
        i->vector = 16u << (w >> 5 & 3);
        i->broadcast = w & 0x10;
        i->masked = w & 7;
        i->op = next(i);
        return i->map >= 1 && i->map <= 3;
    }
    if (b == 0x0f) {
        b = next(i);
        i->map = b == 0x38 ? 2 : b == 0x3a ? 3 : 1;
        if (i->map != 1)
            b = next(i);
    }
    i->op = b;
    return true;
}

static GrInsnTouch touch(GrInsnKind kind, uint32_t size) { return (GrInsnTouch){kind, size}; }

static unsigned operand(const Insn *i) { return i->wide ? 8 : i->p66 ? 2 : 4; }
static unsigned reg_field(const Insn *i) { return *i->p >> 3 & 7; } // of the ModRM byte, which follows

static GrInsnTouch one_byte(const Insn *i) {
    uint8_t op = i->op;
    unsigned size = op & 1 ? operand(i) : 1;
    if (op < 0x40) { // add or adc sbb and sub xor cmp
        if ((op & 7) > 3)
            return touch(GR_INSN_UNKNOWN, 0);
        return touch((op & 7) > 1 || op >= 0x38 ? GR_INSN_LOAD : GR_INSN_RMW, size);
    }
    switch (op) {
    case 0x63: return touch(GR_INSN_LOAD, 4);
    case 0x69:
    case 0x6b: return touch(GR_INSN_LOAD, operand(i));
    case 0x80:
    case 0x81:
    case 0x83: return touch(reg_field(i) == 7 ? GR_INSN_LOAD : GR_INSN_RMW, size);
    case 0x84:
    case 0x85:
    case 0x8a:
    case 0x8b:
    case 0xa6:
    case 0xa7:
    case 0xac:
    case 0xad:
    case 0xae:
    case 0xaf: return touch(GR_INSN_LOAD, size);
    case 0x86:
    case 0x87:
    case 0xc0:
    case 0xc1:
    case 0xd0:
    case 0xd1:
    case 0xd2:
    case 0xd3: return touch(GR_INSN_RMW, size);
    case 0x88:
    case 0x89:
    case 0xaa:
    case 0xab:
    case 0xc6:
    case 0xc7: return touch(GR_INSN_STORE, size);
    case 0xa4:
    case 0xa5: return touch(GR_INSN_UNKNOWN, size); // from memory to memory
    case 0xf6:
    case 0xf7: return touch(reg_field(i) == 2 || reg_field(i) == 3 ? GR_INSN_RMW : GR_INSN_LOAD, size);
    case 0xfe: return touch(GR_INSN_RMW, 1);
    case 0xff: return reg_field(i) < 2 ? touch(GR_INSN_RMW, size) : touch(GR_INSN_LOAD, 8);
    case 0xd8:
    case 0xda: return touch(GR_INSN_LOAD, 4);
    case 0xd9: return touch(GR_INSN_UNKNOWN, reg_field(i) < 4 ? 4 : 0);
    case 0xdb: return touch(GR_INSN_UNKNOWN, reg_field(i) < 4 ? 4 : reg_field(i) & 1 ? 10 : 0);
    case 0xdc: return touch(GR_INSN_LOAD, 8);
    case 0xdd: return touch(GR_INSN_UNKNOWN, reg_field(i) < 4 ? 8 : 0);
    default: return touch(GR_INSN_UNKNOWN, 0);
    }
}

static unsigned whole(const Insn *i) { return i->vex ? i->vector : 16; }
static unsigned scalar(const Insn *i, unsigned packed) {
    return i->rep == 0xf3 ? 4 : i->rep == 0xf2 ? 8 : packed;
}

static GrInsnTouch two_byte(const Insn *i) {
    uint8_t op = i->op;
    unsigned mmx = i->vex ? i->vector : i->p66 ? 16 : 8;
    if ((op & 0xf0) == 0x40 && !i->vex)
        return touch(GR_INSN_LOAD, operand(i)); // cmov
    if ((op & 0xf0) == 0x90 && !i->vex)
        return touch(GR_INSN_STORE, 1); // setcc
    switch (op) {
    case 0x10:
    case 0x11: return touch(op & 1 ? GR_INSN_STORE : GR_INSN_LOAD, scalar(i, whole(i)));
    case 0x12:
    case 0x16: return touch(GR_INSN_LOAD, i->rep ? 0 : 8);
    case 0x13:
    case 0x17:
    case 0xd6: return touch(GR_INSN_STORE, 8);
    case 0x28: return touch(GR_INSN_LOAD, whole(i));
    case 0x29:
    case 0x2b: return touch(GR_INSN_STORE, whole(i));
    case 0x2a: return touch(GR_INSN_LOAD, i->rep ? (i->wide ? 8 : 4) : 8);
    case 0x2c:
    case 0x2d: return touch(GR_INSN_LOAD, scalar(i, 8));
    case 0x2e:
    case 0x2f: return touch(GR_INSN_LOAD, i->p66 ? 8 : 4);
    case 0x5a: return touch(GR_INSN_LOAD, i->rep || i->p66 ? scalar(i, whole(i)) : whole(i) / 2);
    case 0xe6: return touch(GR_INSN_LOAD, i->rep == 0xf3 ? whole(i) / 2 : whole(i));
    case 0x6e: return touch(GR_INSN_LOAD, i->wide ? 8 : 4);
    case 0x7e: return i->rep ? touch(GR_INSN_LOAD, 8) : touch(GR_INSN_STORE, i->wide ? 8 : 4);
    case 0x6f: return touch(GR_INSN_LOAD, i->rep ? whole(i) : mmx);
    case 0x7f: return touch(GR_INSN_STORE, i->rep ? whole(i) : mmx);
    case 0xe7: return touch(GR_INSN_STORE, mmx);
    case 0xc2: return touch(GR_INSN_LOAD, scalar(i, whole(i)));
    case 0xc3: return touch(GR_INSN_STORE, operand(i));
    case 0xa3:
    case 0xaf: return touch(GR_INSN_LOAD, operand(i));
    case 0xab:
    case 0xb3:
    case 0xbb:
    case 0xa4:
    case 0xa5:
    case 0xac:
    case 0xad:
    case 0xb1:
    case 0xc1: return touch(GR_INSN_RMW, operand(i));
    case 0xb0:
    case 0xc0: return touch(GR_INSN_RMW, 1);
    case 0xb6:
    case 0xbe: return touch(GR_INSN_LOAD, 1);
    case 0xb7:
    case 0xbf: return touch(GR_INSN_LOAD, 2);
    case 0xb8:
    case 0xbc:
    case 0xbd: return touch(GR_INSN_LOAD, operand(i));
    case 0xba: return touch(reg_field(i) == 4 ? GR_INSN_LOAD : GR_INSN_RMW, operand(i));
    case 0xc7: return reg_field(i) == 1 ? touch(GR_INSN_RMW, i->wide ? 16 : 8) : touch(GR_INSN_UNKNOWN, 0);
    default: break;
    }
    if (op >= 0x51 && op <= 0x5f)
        return touch(GR_INSN_LOAD, scalar(i, whole(i)));
    if ((op >= 0x60 && op <= 0x6d) || (op >= 0x74 && op <= 0x76) || op >= 0xd1)
        return touch(GR_INSN_LOAD, mmx);
    return touch(GR_INSN_UNKNOWN, 0);
}

static GrInsnTouch three_byte(const Insn *i) {
    if (i->map == 2 && !i->vex && (i->op == 0xf0 || i->op == 0xf1) && i->rep == 0)
        return touch(i->op & 1 ? GR_INSN_STORE : GR_INSN_LOAD, operand(i)); // movbe
    if (i->map != 2 || !i->vex)
        return touch(GR_INSN_UNKNOWN, 0);
    switch (i->op) {
    case 0x18:
    case 0x58: return touch(GR_INSN_LOAD, 4);
    case 0x19:
    case 0x59: return touch(GR_INSN_LOAD, 8);
    case 0x78: return touch(GR_INSN_LOAD, 1);
    case 0x79: return touch(GR_INSN_LOAD, 2);
    case 0x1a:
    case 0x5a: return touch(GR_INSN_LOAD, 16);
    default: return touch(GR_INSN_UNKNOWN, 0);
    }
}

GrInsnTouch gr_insn_touch(const uint8_t *pc) {
    Insn i = {.p = pc};
    if (!read_opcode(&i))
        return touch(GR_INSN_UNKNOWN, 0);
    GrInsnTouch t = i.map == 0 ? one_byte(&i) : i.map == 1 ? two_byte(&i) : three_byte(&i);
    if (i.broadcast)
        t.size = i.wide ? 8 : 4;
    else if (i.masked) // some elements only
        t.size = 0;
    return t;
}

#else

GrInsnTouch gr_insn_touch(const uint8_t *pc) {
    (void)pc;
    return (GrInsnTouch){GR_INSN_UNKNOWN, 0};
}

#endif
