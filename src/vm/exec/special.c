// SPDX-License-Identifier: Apache-2.0
// special — special registers that change while a kernel runs: the clocks. Reading one first brings the
// device's clock up to date.
#include "vm/core/decode.h"
#include "vm/core/device.h"
#include "vm/core/exec.h"
#include "vm/core/launch.h"
#include "vm/core/warp.h"

#include <string.h>

typedef uint64_t (*Read)(const VmLaunch *l);

static uint64_t cycles(const VmLaunch *l) {
    return (uint64_t)((unsigned __int128)*l->clock_ps * l->device->props.clock_khz / 1000000000u);
}
static uint64_t cycles_hi(const VmLaunch *l) { return cycles(l) >> 32; }
static uint64_t nanoseconds(const VmLaunch *l) { return VM_EPOCH_NS + *l->clock_ps / 1000; }
static uint64_t nanoseconds_hi(const VmLaunch *l) { return nanoseconds(l) >> 32; }
static uint64_t zero(const VmLaunch *l) {
    (void)l;
    return 0;
}

static const VmInsn *read_clock(VmWarp *w, const VmInsn *i, Read f) {
    VmWarpRest *r = rest_of(w);
    if (!r->clock_fresh)
        return stop_at(w, i, VM_STOP_CLOCK);
    r->clock_fresh = false;
    uint64_t v = f(r->launch);
    for (uint32_t m = w->mask; m; m &= m - 1) {
        unsigned l = (unsigned)__builtin_ctz(m);
        if (i->e == 8)
            VM_U64(w, i->d)[l] = v;
        else if (i->e == 4)
            VM_U32(w, i->d)[l] = (uint32_t)v;
        else
            VM_U16(w, i->d)[l] = (uint16_t)v;
    }
    return i + 1;
}

static VM_HANDLER(read_cycles) { return read_clock(w, i, cycles); }
static VM_HANDLER(read_cycles_hi) { return read_clock(w, i, cycles_hi); }
static VM_HANDLER(read_ns) { return read_clock(w, i, nanoseconds); }
static VM_HANDLER(read_ns_hi) { return read_clock(w, i, nanoseconds_hi); }
static VM_HANDLER(read_zero) { return read_clock(w, i, zero); }

bool gr_vm_dynamic_sreg(const char *name, VmExec out[2], PtxType *type) {
    static const struct {
        const char *name;
        VmExec exec;
        PtxType type;
    } rows[] = {
        {"%clock", read_cycles, PTX_U32},      {"%clock_hi", read_cycles_hi, PTX_U32},
        {"%clock64", read_cycles, PTX_U64},    {"%globaltimer", read_ns, PTX_U64},
        {"%globaltimer_lo", read_ns, PTX_U32}, {"%globaltimer_hi", read_ns_hi, PTX_U32},
    };
    for (size_t k = 0; k < sizeof rows / sizeof *rows; k++)
        if (!strcmp(name, rows[k].name)) {
            out[0] = out[1] = rows[k].exec;
            *type = rows[k].type;
            return true;
        }
    if (!strncmp(name, "%pm", 3)) { // performance counters count nothing here
        out[0] = out[1] = read_zero;
        *type = PTX_U64;
        return true;
    }
    return false;
}
