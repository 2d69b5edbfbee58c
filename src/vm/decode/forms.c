// SPDX-License-Identifier: Apache-2.0
// forms — matches an instruction's modifiers with the groups of forms.def.
//
// A decoder asks only for modifiers that it knows, so it would pass over an unknown one and compute something else.
// Therefore one row must have a group for every modifier, each group used once.
#include "vm/decode/forms.h"
#include "base/str.h"

#include <pthread.h>
#include <string.h>

enum { MAX_GROUPS = 32 };

typedef enum FormKind { GATE, LISTED } FormKind;

static const struct {
    const char *opcode, *groups;
    FormKind kind;
} forms[] = {
#define FORM(opcode, groups, kind, remark) {opcode, groups, kind},
#include "vm/decode/forms.def"
#undef FORM
};

// A modifier goes to the first free group that has it. No row has two groups that share words such that only the other
// order would fit.
static bool fits(const char *groups, const PtxInstr *i) {
    bool used[MAX_GROUPS] = {false};
    for (unsigned k = 0; k < i->n_mods; k++) {
        bool taken = false;
        unsigned at = 0;
        for (const char *p = groups; *p && !taken; at++) {
            size_t len = strcspn(p, " "), optional = *p == '[';
            if (at < MAX_GROUPS && !used[at] &&
                gr_words_have(p + optional, len - 2 * optional, i->mods[k].text))
                taken = used[at] = true;
            p += len;
            p += *p == ' ';
        }
        if (!taken)
            return false;
    }
    unsigned at = 0;
    for (const char *p = groups; *p; at++) {
        size_t len = strcspn(p, " ");
        if (*p != '[' && !used[at])
            return false;
        p += len;
        p += *p == ' ';
    }
    return true;
}

// The gated rows of each opcode: 1 + the first, and what follows a row.
static uint16_t first[PTX_OP_COUNT], next[sizeof forms / sizeof *forms];
static pthread_once_t once = PTHREAD_ONCE_INIT;

static void index_rows(void) {
    for (size_t k = sizeof forms / sizeof *forms; k-- > 0;) {
        if (forms[k].kind != GATE)
            continue;
        PtxOp op = gr_ptx_op_find(forms[k].opcode, strlen(forms[k].opcode));
        next[k] = first[op];
        first[op] = (uint16_t)(k + 1);
    }
}

bool gr_vm_form_allows(const PtxInstr *i) {
    pthread_once(&once, index_rows);
    if (i->op == PTX_OP_UNKNOWN || !first[i->op])
        return true;
    // decode_async.c looks at every modifier of these.
    bool elsewhere = i->op == PTX_OP_ST || i->op == PTX_OP_RED;
    if (elsewhere && (gr_ptx_instr_has(i, PTX_MOD_async) || gr_ptx_instr_has(i, PTX_MOD_bulk)))
        return true;
    for (unsigned k = first[i->op]; k; k = next[k - 1])
        if (fits(forms[k - 1].groups, i))
            return true;
    return false;
}
