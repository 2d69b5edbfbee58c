// SPDX-License-Identifier: Apache-2.0
#include "inject/nvtx.h"

#include <string.h>

enum { DEEPEST = 32, LONGEST = 64 }; // what is longer is cut; ranges that are deeper have no name

static __thread struct {
    unsigned depth;
    char name[DEEPEST][LONGEST];
} mine __attribute__((tls_model("initial-exec")));

bool gr_nvtx_is_in(const char *names) {
    for (unsigned k = 0; k < mine.depth && k < DEEPEST; k++)
        if (gr_words_have(names, strlen(names), mine.name[k]))
            return true;
    return false;
}

void gr_nvtx_ranges(StrBuf *out) {
    for (unsigned k = 0; k < mine.depth && k < DEEPEST; k++)
        gr_str_addf(out, "%s%s", k ? "/" : "", mine.name[k]);
}

// ---- What NVTX calls ------------------------------------------------------------------------------------------------

// nvtxEventAttributes_t, of all versions (nvtx3/nvToolsExt.h).
typedef struct Attributes {
    uint16_t version, size;
    uint32_t category;
    int32_t color_type;
    uint32_t color;
    int32_t payload_type, reserved;
    uint64_t payload;
    int32_t message_type;
    const char *message;
} Attributes;

enum {
    ASCII = 1,
    REGISTERED = 3
}; // messages that we can name: of the latter the handle is our own, its text

static int push(const char *name) {
    if (mine.depth < DEEPEST)
        snprintf(mine.name[mine.depth], LONGEST, "%s", name ? name : "");
    return (int)mine.depth++;
}

static int pop(void) { return mine.depth ? (int)--mine.depth : -1; }

static int push_event(const Attributes *a) {
    bool named = a && a->message && (a->message_type == ASCII || a->message_type == REGISTERED);
    return push(named ? a->message : "");
}

static int push_in_domain(const void *domain, const Attributes *a) {
    (void)domain;
    return push_event(a);
}

static int push_wide(const wchar_t *name) {
    char plain[LONGEST] = "";
    for (size_t k = 0; name && name[k] && k < LONGEST - 1; k++)
        plain[k] = name[k] < 128 ? (char)name[k] : '?';
    return push(plain);
}

static int pop_in_domain(const void *domain) {
    (void)domain;
    return pop();
}

static const char *register_text(const void *domain, const char *text) {
    (void)domain;
    return strdup(text); // lives as long as the program, as NVTX has it
}

typedef void (*Function)(void);
typedef int GetTable(unsigned module, Function ***table, unsigned *size);

// Modules and functions by NVTX's numbers (nvtx3/nvtxDetail/nvtxTypes.h).
enum { CALLBACKS = 1, CORE = 1, CORE2 = 5 };
static const struct {
    unsigned module, number;
    Function f;
} ours[] = {
    {CORE, 8, (Function)push_event},      {CORE, 9, (Function)push},
    {CORE, 10, (Function)push_wide},      {CORE, 11, (Function)pop},
    {CORE2, 4, (Function)push_in_domain}, {CORE2, 5, (Function)pop_in_domain},
    {CORE2, 10, (Function)register_text},
};

__attribute__((visibility("default"))) int InitializeInjectionNvtx2(const void *(*get)(uint32_t id));

// NVTX calls this when the program first uses it. `get` yields its tables; 1: we are ready.
int InitializeInjectionNvtx2(const void *(*get)(uint32_t id)) {
    struct Callbacks {
        size_t size;
        GetTable *table_of;
    } const *callbacks = get(CALLBACKS);
    if (!callbacks || callbacks->size < sizeof *callbacks || !callbacks->table_of)
        return 0;
    for (size_t k = 0; k < sizeof ours / sizeof *ours; k++) {
        Function **table;
        unsigned size;
        if (callbacks->table_of(ours[k].module, &table, &size) && ours[k].number < size &&
            table[ours[k].number])
            *table[ours[k].number] = ours[k].f;
    }
    return 1;
}
