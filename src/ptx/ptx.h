// SPDX-License-Identifier: Apache-2.0
// ptx — the intermediate representation of one PTX module, its parser and its printer.
//
// The IR is the text made navigable, no more. Each statement of the source is one PtxStmt in a doubly linked list, in
// source order. So a pass can insert statements anywhere, and the printer gives back the text that came in. Names are
// resolved: a register is one PtxReg object however often and in whatever nested scope it appears, a variable one
// PtxVar, a label one PtxLabel. Opcodes and modifiers are split at the dots, interned, and known ones carry an enum
// value besides; unknown ones pass through unchanged (PTX_OP_UNKNOWN, PTX_MOD_UNKNOWN).
//
//     @!%p1 ld.relaxed.gpu.global.v2.u32 {%r1, %r2}, [%rd4+8];
//      |     |  |                         |           |
//      |     |  |                         |           PtxOperand ADDRESS: base %rd4, offset 8
//      |     |  |                         PtxOperand VECTOR of two REG
//      |     |  mods[]: relaxed gpu global v2 u32; and summed up in `sem`, `scope`, `space`, `vec`, `type[0]`
//      |     op: PTX_OP_LD
//      guard: reg %p1, negated
//
// Everything lives in the module's arena and dies with gr_ptx_free. Sources: PTX ISA 9.0, chapters 4
// (syntax), 5 (state spaces, types), 9 (instructions), 11 (directives).
#ifndef GR_PTX_PTX_H
#define GR_PTX_PTX_H

#include "base/arena.h"
#include "base/map.h"
#include "base/status.h"
#include "base/str.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

// An enumeration that takes no more bytes than its values need: programs have millions of operands.
#define GR_SMALL __attribute__((packed))

// ---- Enumerations that come from tables ------------------------------------------------------------------

// Opcodes: opcodes.def, one row each: OP(enum suffix, "text", flags).
typedef enum GR_SMALL PtxOp {
    PTX_OP_UNKNOWN,
#define OP(id, text, flags) PTX_OP_##id,
#include "ptx/opcodes.def"
#undef OP
    PTX_OP_COUNT
} PtxOp;

// What an opcode's row says of it.
enum PtxOpFlags {
    PTX_F_READS = 1,  // reads memory through its address operand(s)
    PTX_F_WRITES = 2, // writes memory
    PTX_F_ATOMIC = 4, // atom, red and their relatives
    PTX_F_BRANCH = 8, // may transfer control inside the function
    PTX_F_EXIT = 16,  // ends the thread or the function: ret, exit, trap
    PTX_F_CALL = 32,
    PTX_F_BARRIER = 64, // execution barrier, of warp, CTA or cluster
    PTX_F_FENCE = 128,
    // Takes a member mask or converged warp: shfl, vote, match, redux, bar.warp.sync, wmma.
    PTX_F_COLLECTIVE = 256,
    PTX_F_ASYNC = 512,   // performs its accesses later: cp.async, cp.async.bulk, st.async
    PTX_F_NO_DST = 1024, // the first operand is not a destination (st, red, bra, bar, …)
    PTX_F_DST2 = 2048,   // may have a second destination after '|' (setp, shfl, match)
};

// Modifiers: modifiers.def, one row each: MOD(enum suffix, "text"), the text without its dot, "::" included
// ("shared::cta"). Types and state spaces are modifiers too.
typedef enum GR_SMALL PtxMod {
    PTX_MOD_UNKNOWN,
#define MOD(id, text) PTX_MOD_##id,
#include "ptx/modifiers.def"
#undef MOD
    PTX_MOD_COUNT
} PtxMod;

// Fundamental types (PTX ISA 5.2). Order: the widths table in types.c follows it.
typedef enum GR_SMALL PtxType {
    PTX_NOTYPE,
    PTX_B8,
    PTX_B16,
    PTX_B32,
    PTX_B64,
    PTX_B128,
    PTX_U8,
    PTX_U16,
    PTX_U32,
    PTX_U64,
    PTX_S8,
    PTX_S16,
    PTX_S32,
    PTX_S64,
    PTX_F16,
    PTX_F16X2,
    PTX_BF16,
    PTX_BF16X2,
    PTX_TF32,
    PTX_F32,
    PTX_F64,
    PTX_F32X2,
    PTX_E4M3,
    PTX_E5M2,
    PTX_E4M3X2,
    PTX_E5M2X2,
    PTX_U16X2,
    PTX_S16X2,
    PTX_U8X4,
    PTX_S8X4,
    PTX_PRED,
    PTX_TYPE_OTHER, // a type this table has not heard of; the modifier's text tells
} PtxType;

typedef enum GR_SMALL PtxSpace {
    PTX_GENERIC, // none written on ld/st/atom means generic
    PTX_REG,
    PTX_SREG,
    PTX_CONST,
    PTX_GLOBAL,
    PTX_LOCAL,
    PTX_PARAM,
    PTX_PARAM_ENTRY,
    PTX_PARAM_FUNC,
    PTX_SHARED,
    PTX_SHARED_CTA,
    PTX_SHARED_CLUSTER,
    PTX_TMEM,
    PTX_SPACE_OTHER,
} PtxSpace;

typedef enum GR_SMALL
    PtxSem { // memory semantics as written; PTX_SEM_NONE on ld/st means weak, on atom/red relaxed
        PTX_SEM_NONE,
        PTX_WEAK,
        PTX_RELAXED,
        PTX_ACQUIRE,
        PTX_RELEASE,
        PTX_ACQ_REL,
        PTX_SC,
        PTX_VOLATILE,
        PTX_MMIO,
    } PtxSem;

typedef enum GR_SMALL PtxScope {
    PTX_SCOPE_NONE,
    PTX_SCOPE_CTA,
    PTX_SCOPE_CLUSTER,
    PTX_SCOPE_GPU,
    PTX_SCOPE_SYS
} PtxScope;

// ---- Objects ---------------------------------------------------------------------------------------------

typedef struct PtxReg {
    const char *name; // with its '%', as the source spells it
    PtxType type;
    uint8_t vec;             // 1, or 2/4 for a vector register (.reg .v4 .f32)
    bool is_param;           // a formal parameter in register space
    uint32_t index;          // dense within the function, in order of first appearance
    struct PtxRegDecl *decl; // where it is declared; NULL for gr_ptx_new_reg's and for .reg parameters
    uint32_t entry, number;  // decl->names[entry]; and the N of one declared as prefix<count>
} PtxReg;

typedef struct PtxLabel {
    const char *name;
    struct PtxStmt *stmt; // the PTX_LABEL statement; NULL until seen, and for labels that live in a .section
    uint32_t uses;
    uint32_t index; // dense within the function
} PtxLabel;

// A variable: module scope (.global .const .shared, .extern .shared), function scope (.local .shared .param)
// or a formal parameter.
typedef struct PtxVar {
    const char *name;
    PtxSpace space;
    PtxType type;
    uint8_t vec;
    uint32_t align;   // 0: natural
    uint64_t count;   // number of elements over all dimensions; 0 for "[]"
    uint8_t ndims;    // 0 for a scalar
    uint64_t dims[4]; // 0 for an empty first dimension
    bool is_extern, is_visible, is_weak, is_common, is_managed, is_ptr;
    const char *attrs;    // anything else between the space and the name, verbatim (.attribute(...), .ptr
                          // .global .align 4), or NULL
    struct PtxInit *init; // initializer elements in order, or NULL
    uint32_t n_init;
    const char *init_text; // the initializer as written, '=' excluded; it is what is printed when not NULL
    const char *type_text; // as written: tells more than `type` for .texref and types unknown
    PtxReg *reg;           // for a formal parameter in register space (.reg): the register it is
    struct PtxFunc *func;  // owner, NULL at module scope
    uint64_t size;         // in bytes: count * vec * width
    uint32_t line;         // PTX line
} PtxVar;

// One scalar of an initializer, flattened: a number, or the address of a symbol plus an offset.
typedef struct PtxInit {
    uint64_t bits;      // the value in the element's own type; or the offset
    const char *symbol; // NULL for a number
    bool generic;       // generic(symbol)
    uint8_t mask_byte;  // mask operator 0xFF00(sym): shift in bytes + 1, 0 when not used
} PtxInit;

typedef enum GR_SMALL PtxOperandKind {
    PTX_O_REG,     // reg; `elem` 0 or 'x' 'y' 'z' 'w' for a component of a vector register
    PTX_O_SREG,    // special register: text "%tid.x"
    PTX_O_INT,     // integer literal: bits, is_signed
    PTX_O_F32,     // 0f…: bits
    PTX_O_F64,     // 0d… or a decimal floating literal: bits
    PTX_O_VAR,     // address of a variable or its name as an operand (param0 in a call): var, offset
    PTX_O_FUNC,    // a function's name: text (resolved late: gr_ptx_find_func)
    PTX_O_LABEL,   // label
    PTX_O_ADDRESS, // [base + offset]: sub[0] is the base (REG, VAR, INT, SREG) when n_sub > 0, `offset`
                   // bytes; further sub operands are what else stands inside the brackets ([tensorMap, {c0,
                   // c1}])
    PTX_O_VECTOR,  // {a, b, …}: sub[]
    PTX_O_PAREN,   // (a, b): sub[], in calls
    PTX_O_PAIR,    // a|b: sub[0], sub[1]
    PTX_O_SINK,    // _
    PTX_O_RAW,     // anything else, verbatim: text
} PtxOperandKind;

typedef struct PtxOperand {
    PtxOperandKind kind;
    bool negated;   // !p, or -x on a register
    bool is_signed; // INT: written with a minus or without a U suffix
    char elem;
    // ADDRESS: "+0" was written; without optimization ptxas makes other code of [a+0] than of [a].
    bool plus_zero;
    uint16_t n_sub;
    struct PtxOperand *sub;
    PtxReg *reg;
    PtxVar *var;
    PtxLabel *label;
    int64_t offset;
    uint64_t bits;
    const char *text; // the source's spelling where it is kept (INT and floats keep it to print unchanged);
                      // ADDRESS: ".unified" if that stands behind it
} PtxOperand;

// A source position: one .loc directive. Chains of inlining: `inlined_at` is the position of the call.
typedef struct PtxLoc {
    uint32_t file; // index as in .file; 0 none
    uint32_t line, col;
    const char *function; // the inlined function's (mangled) name from .debug_str, NULL when not inlined
    const struct PtxLoc *inlined_at; // NULL at the outermost position
    uint32_t id;                     // dense within the module, from 1
} PtxLoc;

// How an inserted statement is marked. Untagged statements are the program's own. In text a tag is the
// comment
// "/*@gr*/" or "/*@gr:SITE*/" before the statement; gr_ptx_parse_ours reads it back, every other PTX consumer skips
// it. A program's own text may hold such comments too: they mean nothing there.
typedef struct PtxTag {
    bool inserted;
    uint32_t site; // the site it serves, 0 none
} PtxTag;

typedef enum GR_SMALL PtxStmtKind {
    PTX_INSTR,
    PTX_LABEL_DEF,   // label:
    PTX_SCOPE_OPEN,  // {
    PTX_SCOPE_CLOSE, // }
    PTX_LOC,         // .loc; prints `loc_text`
    PTX_DECL_REG,    // .reg …: reg_decl
    PTX_DECL_VAR,    // .local/.shared/.param/.global variable inside a body: var
    PTX_PROTOTYPE,   // label: .callprototype …
    PTX_TARGETS,     // label: .branchtargets / .calltargets: label, operands
    PTX_PRAGMA,      // .pragma …: text verbatim
    PTX_RAW,         // any other directive, verbatim
} PtxStmtKind;

// One .reg declaration as written: type, vector width and (prefix, count) or single name.
typedef struct PtxRegDecl {
    PtxType type;
    uint8_t vec;
    struct {
        const char *name;
        uint32_t count; // 0: a single register of that name; else name0 … name<count-1>
    } * names;
    uint32_t n_names;
    const char *type_text;
    uint32_t ordinal; // of names[0], dense within the function; the others follow
} PtxRegDecl;

typedef struct PtxInstr {
    PtxOp op;
    uint16_t n_mods, n_operands;
    struct PtxFunc *callee; // for a direct call, once resolved
    PtxReg *guard;          // NULL: unconditional
    bool guard_negated;
    const char *opcode; // text of the first component
    struct {
        PtxMod id;
        const char *text; // without the dot
    } * mods;
    PtxOperand *operands;
    // Summary of the modifiers, in source order where several may occur.
    PtxType type[4];        // the types written, first to last; PTX_NOTYPE past the end
    PtxSpace space, space2; // first and second state space written (cp.async, cvta.to): GENERIC when none
    PtxSem sem;
    PtxScope scope;
    uint8_t vec; // 1, 2, 4, 8
} PtxInstr;

typedef struct PtxStmt {
    struct PtxStmt *prev, *next;
    PtxStmtKind kind;
    PtxTag tag;
    uint32_t n_targets;
    uint32_t line, col; // in the PTX text, from 1; 0 for inserted ones
    uint32_t site;      // for the program's own memory accesses: their site number, from 1; else 0
    const PtxLoc *loc;  // the position in effect, or NULL
    const char *text;   // verbatim text of RAW, PRAGMA, LOC, PROTOTYPE
    PtxLabel *label;    // LABEL_DEF, PROTOTYPE, TARGETS: the label defined here
    union {
        PtxInstr *instr;
        PtxVar *var;
        PtxRegDecl *reg_decl;
        struct PtxProto *proto;
    };
    PtxLabel **targets;        // .branchtargets: n_targets labels; else NULL
    const char **target_funcs; // .calltargets: n_targets names of functions; else NULL
} PtxStmt;

// The signature part of a .callprototype, or of a function.
typedef struct PtxProto {
    const char *name;
    PtxVar **rets, **params;
    uint32_t n_rets, n_params;
    bool noreturn;
} PtxProto;

typedef struct PtxFunc {
    const char *name;
    bool is_entry, is_visible, is_extern, is_weak;
    bool has_body; // false: a declaration only
    PtxTag tag;    // inserted functions (a device runtime) are tagged as a whole
    PtxVar **rets, **params;
    uint32_t n_rets, n_params;
    bool reg_params; // old style: parameters in registers (.reg), not .param
    bool noreturn;
    const char *attrs;      // ".attribute(…)" as written, or NULL
    const char *directives; // performance directives between ')' and '{', verbatim (".maxntid 256, 1, 1
                            // .minnctapersm 2")
    uint32_t maxntid[3], reqntid[3], reqcluster[3]; // 0 when not written
    uint32_t max_cluster_rank;                      // most blocks of a cluster; 0: not written
    bool explicit_cluster;
    PtxStmt *first, *last; // the body, outer braces excluded
    PtxReg **regs;         // all registers used or declared singly, by index
    uint32_t n_regs, cap_regs;
    uint32_t line;
    struct PtxModule *module;
    uint32_t index;           // dense within the module
    struct PtxFunc *alias_of; // `.alias name, other`: gr_ptx_find_func(name) gives the other
    uint32_t n_reg_names;     // how many names .reg declarations have introduced (PtxRegDecl.ordinal)
    uint32_t n_labels;
    uint32_t fresh; // the next number for gr_ptx_new_reg and gr_ptx_new_label
    PtxReg **made;  // by number, those of gr_ptx_new_reg; NULL where that number is a label's
    uint32_t cap_made;
    Map reg_names; // cache of gr_ptx_insert: others by name, where only one can be meant
    Map declared;  // cache of gr_ptx_insert: every name and prefix that a statement or a parameter declares
    bool declared_known;
    bool has_statics;       // declares variables of its own in global or constant memory
    struct PtxShelf *shelf; // its body while that is put away (gr_ptx_open); NULL: it never is
} PtxFunc;

typedef enum PtxItemKind {
    PTX_ITEM_FUNC,
    PTX_ITEM_VAR,
    PTX_ITEM_FILE,
    PTX_ITEM_SECTION,
    PTX_ITEM_RAW
} PtxItemKind;

// One top-level item, in source order.
typedef struct PtxItem {
    struct PtxItem *next;
    PtxItemKind kind;
    uint32_t line;
    PtxTag tag;
    const char *text; // FILE, SECTION, RAW: verbatim
    PtxFunc *func;
    PtxVar *var;
    size_t at; // where gr_ptx_print_later put it, if it put all at once
} PtxItem;

typedef struct PtxFile {
    uint32_t index;
    const char *path;
} PtxFile;

typedef struct PtxSite PtxSite;

// Work of a pass on each function that is put off until the function is printed. So only one function's inserted code
// is in memory, not that of all functions of a module.
typedef struct PtxLater {
    gr_status (*rewrite)(void *user, struct PtxFunc *f, gr_error *err); // NULL: nothing is left
    void *user;                                                         // lives as long as the module
} PtxLater;

// Appends `text`, its names "__gr_NAME" as "__gr<suffix>_NAME".
void gr_ptx_put_named(StrBuf *out, const char *text, const char *suffix);

// Device runtimes that a module calls and does not hold: the tool that made the module hands them to the loader
// (passes/runtime.h).
enum { PTX_RUNTIMES = 8 };
typedef struct PtxApart {
    bool wanted;
    const char *suffix; // "__gr<suffix>_NAME" here is "__gr_NAME" there; NULL: it needs none
    const char *texts[PTX_RUNTIMES];
    unsigned n;
} PtxApart;

typedef struct PtxModule {
    Arena arena;
    Arena texts;   // of `strings`
    Arena *bodies; // where the parser puts statements and what only they refer to
    Interner strings;
    PtxLater later;
    PtxApart apart;
    bool as_text;     // what is inserted is printed at once and needs no reading (gr_ptx_print_later)
    StrBuf line;      // where that is put together
    bool ours;        // gr_ptx_parse_ours made it
    const char *name; // for messages
    uint32_t version_major, version_minor;
    const char **targets; // "sm_90", "debug", …
    uint32_t n_targets;
    uint32_t sm;    // 90 of "sm_90", "sm_90a", "sm_100f"
    char sm_suffix; // 0, 'a' or 'f'
    bool debug;     // .target …, debug (a -G build): labels are referred to by DWARF, keep them
    uint32_t address_size;
    PtxItem *items, *last_item;
    PtxFunc **funcs; // definitions and declarations
    uint32_t n_funcs, cap_funcs;
    PtxVar **vars; // module scope
    uint32_t n_vars, cap_vars;
    PtxFile *files;
    uint32_t n_files;
    Map func_map, var_map; // by name: gr_ptx_find_func, gr_ptx_find_var
    bool nomem;            // a pass wanted a register or a label, and memory was out (gr_ptx_new_reg)
    PtxReg spare_reg;      // what it got then
    PtxLabel spare_label;  // in place of a label
    PtxSite *sites;        // sites[0] is unused; filled by gr_ptx_number_sites (called by the parser)
    uint32_t n_sites;      // highest site number
    uint64_t serial;       // of all that this library has parsed
} PtxModule;

// What a site does (design: "Sites").
typedef enum GR_SMALL PtxAccess { PTX_ACCESS_READ = 1, PTX_ACCESS_WRITE = 2, PTX_ACCESS_RMW = 3 } PtxAccess;

struct PtxSite {
    uint32_t id;
    PtxFunc *func;
    PtxStmt *stmt;     // NULL while the function's body is put away (gr_ptx_open)
    const PtxLoc *loc; // the statement's
    PtxOp op;          // as stmt's instruction has it
    PtxScope scope;    // as stmt's instruction has it
    PtxAccess access;
    PtxSpace space;
    // Bytes one lane touches; 0 when the instruction's text does not say (wmma, cp.async.bulk, tex).
    uint32_t size;
    bool strong; // anything but weak: .volatile, .relaxed, …, atom, red
    bool async;  // performed later: cp.async, cp.async.bulk, st.async, red.async
    bool copy; // cp.async and its kin: writes `space` what it reads from `src_space`; access is WRITE, or RMW
               // when it reduces
    PtxSpace src_space;
};

// ---- Parser and printer ----------------------------------------------------------------------------------

// Parses `len` bytes of PTX (a trailing NUL is ignored). `name` is used in messages. On success *out owns
// everything; sites are numbered. On failure *out is NULL and err has line and column.
// The text is a program's: comments that look like tags are none.
gr_status gr_ptx_parse(const char *text, size_t len, const char *name, PtxModule **out, gr_error *err);
// gr_ptx_parse for text that was printed here, in which tags count. The caller must know where the text comes from, as
// the text itself proves nothing.
gr_status gr_ptx_parse_ours(const char *text, size_t len, const char *name, PtxModule **out, gr_error *err);
// Parses either kind of text (`ours`: as gr_ptx_parse_ours) for modules that stay while few of their functions are
// looked at. Each body is put away when it has been read, and comes back between gr_ptx_open and gr_ptx_close.
gr_status gr_ptx_parse_shelved(const char *text, size_t len, const char *name, bool ours, PtxModule **out,
                               gr_error *err);
// Brings the body back, with its registers and the statements of its sites, until it is closed as often as it was
// opened. Fails when memory is out. Functions of modules that are not shelved are always open.
gr_status gr_ptx_open(PtxFunc *f, gr_error *err);
void gr_ptx_close(PtxFunc *f);
void gr_ptx_free(PtxModule *m);

// The first name in a text that has the form of names in what we link ("__gr7_report"), in `out`, cut to `size`. False:
// there is none. Comments and strings are skipped.
bool gr_ptx_reserved_name(const char *text, size_t len, char *out, size_t size);
// The variable that shows that a module was rewritten before it came (`gpurace ptx`): a control block that the host
// writes to. NULL: there is none. A program that has one by chance, or to deceive, is not checked, and the verdict
// names it.
const char *gr_ptx_rewritten_by(const PtxModule *m);

enum PtxPrintFlags {
    // Debug modules refuse these, as their DWARF data refers to registers and labels by name:
    PTX_PRINT_RENUMBER_REGS = 1, // every register gets a new name
    PTX_PRINT_RENAME_LABELS = 2, // every code label gets a new name
    PTX_PRINT_NO_TAGS = 4,
};

// Appends the module's text to *out. Fails only if memory is out, a flag cannot be honoured, or work on a function is
// put off.
gr_status gr_ptx_print(const PtxModule *m, unsigned flags, StrBuf *out, gr_error *err);

// Appends the module's text, and does the work that is put off for each function (PtxModule.later) just before printing
// it; such a function's body is gone afterwards. When *out has much, `take` gets it and empties *out. `take` NULL: all
// stays in *out.
gr_status gr_ptx_print_later(PtxModule *m, unsigned flags, StrBuf *out,
                             gr_status (*take)(void *user, StrBuf *out, gr_error *err), void *user,
                             gr_error *err);

// One statement, for messages and dumps, without a newline.
void gr_ptx_print_stmt(const PtxStmt *s, StrBuf *out);
void gr_ptx_print_operand(const PtxOperand *o, StrBuf *out);

// ---- Tables ----------------------------------------------------------------------------------------------

unsigned gr_ptx_op_flags(PtxOp op);
// The flags of one instruction, narrowed by its modifiers: cp.async.wait_all accesses nothing, bar.red has a
// destination.
unsigned gr_ptx_instr_flags(const PtxInstr *i);
// Whether the instruction has the register among its destinations.
bool gr_ptx_instr_writes(const PtxInstr *i, const PtxReg *r);
PtxOp gr_ptx_op_find(const char *text, size_t len);   // PTX_OP_UNKNOWN when not in the table
PtxMod gr_ptx_mod_find(const char *text, size_t len); // without the dot; else PTX_MOD_UNKNOWN
const char *gr_ptx_mod_text(PtxMod mod);

// The parts of a call: operands stand in the order (rets), callee, (params), prototype-or-targets, each optional but
// the callee.
typedef struct PtxCallParts {
    const PtxOperand *rets;   // PAREN or NULL
    const PtxOperand *callee; // FUNC, or REG for an indirect call
    const PtxOperand *params; // PAREN or NULL
    const PtxLabel *proto;    // label of the .callprototype or .calltargets statement (label->stmt), or NULL
} PtxCallParts;
PtxCallParts gr_ptx_call_parts(const PtxInstr *i);
const char *gr_ptx_op_text(PtxOp op);
unsigned gr_ptx_type_bits(PtxType t); // 0 for NOTYPE and OTHER; 1 for PRED
bool gr_ptx_type_is_float(PtxType t);
bool gr_ptx_type_is_signed(PtxType t);
const char *gr_ptx_type_text(PtxType t);   // "u32"
const char *gr_ptx_space_text(PtxSpace s); // "global"; "generic" for GENERIC
bool gr_ptx_instr_has(const PtxInstr *i, PtxMod mod);
// Sets type[], space, space2, sem, scope and vec from mods[]; call it after changing an instruction's
// modifiers.
void gr_ptx_instr_summarize(PtxInstr *i);

// ---- Sites and positions ---------------------------------------------------------------------------------

// Numbers the program's own (untagged) memory accesses from 1, in source order over the module: every ld, st,
// atom, red and their relatives except ld/st.param; local and const ones included (a site exists; engines
// filter). As passes insert only tagged statements and keep the others in order, a rewritten module yields
// the same numbers.
gr_status gr_ptx_number_sites(PtxModule *m, gr_error *err);

// The bytes of the load `s` that the program uses, a bit for each; all bits when the PTX says nothing (PTX ISA 11.4,
// .pragma "used_bytes_mask"). nvcc widens loads over padding and neighbours, and a neighbour's change is no race of
// this load. *pragma becomes the first of the pragmas before it; with none, or NULL, it is left alone.
uint64_t gr_ptx_used_bytes(const PtxStmt *s, PtxStmt **pragma);

// The path of file `index`, or NULL.
const char *gr_ptx_file(const PtxModule *m, uint32_t index);

// ---- Building, for passes --------------------------------------------------------------------------------

PtxFunc *gr_ptx_find_func(const PtxModule *m, const char *name);
PtxVar *gr_ptx_find_var(const PtxModule *m, const char *name);

// A new register of the function with an unused name; declared by the printer. Never NULL: when memory is out, the
// module is marked, and what is inserted into it or printed of it from then on fails.
PtxReg *gr_ptx_new_reg(PtxFunc *f, PtxType type);
// A new label of the function with an unused name; place it with gr_ptx_insert_label. Never NULL, as gr_ptx_new_reg.
PtxLabel *gr_ptx_new_label(PtxFunc *f);

// Parses statements written as PTX text and inserts them before `at` (NULL: at the end of the body), tagged
// with `site`. In the text, $0 … $9 stand for ops[0] … ops[9]; registers of the function may be used by name.
// This is how passes write code: readable PTX, checked by the same parser. Returns the first inserted
// statement in *first if not NULL. Labels defined in the text are renamed to fresh ones.
gr_status gr_ptx_insert(PtxFunc *f, PtxStmt *at, uint32_t site, const char *text, const PtxOperand *ops,
                        unsigned n_ops, PtxStmt **first, gr_error *err);
void gr_ptx_insert_label(PtxFunc *f, PtxStmt *at, PtxLabel *label);

PtxOperand gr_ptx_reg_operand(PtxReg *r);
PtxOperand gr_ptx_label_operand(PtxLabel *l);
PtxOperand gr_ptx_int_operand(int64_t v);

// Copies every function and variable of `src` that `dst` lacks into `dst`, before its first function with a body,
// tagged as inserted. This is how a device runtime gets into a program's module. Raises version and target of dst where
// needed.
gr_status gr_ptx_link_runtime(PtxModule *dst, const PtxModule *src, gr_error *err);

// Raises .version / .target to at least these. Never lowers; keeps an 'a' or 'f' suffix.
void gr_ptx_raise(PtxModule *m, uint32_t version_major, uint32_t version_minor, uint32_t sm);

#endif
