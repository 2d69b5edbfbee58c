// SPDX-License-Identifier: Apache-2.0
// update — statements that read an object of memory, change it and write it back: x += y, x++, x = max(x, y).
#ifndef GR_REPAIR_UPDATE_H
#define GR_REPAIR_UPDATE_H

#include "repair/place.h"

// Tokens [from, to).
typedef struct GrSpan {
    uint32_t from, to;
} GrSpan;

typedef struct GrUpdateText {
    GrUpdateOp op;
    GrSpan all, object, value; // all: what an atomic's call stands for; value: empty for x++ and x--
    bool statement;            // it is a whole statement: nothing takes its value
    bool prefix;               // ++x, --x
} GrUpdateText;

// The one update that the statement does. False: it does none, or more.
bool gr_update_read(const GrCode *c, const GrFunctionCode *f, const GrStatement *s, GrUpdateText *out);

// The update that the access is part of, at `place`.
bool gr_update_of(GrRepairs *r, const GrAccess *a, GrPlace *place, GrUpdateText *out);

// What a name is declared as.
typedef enum GrTypeKind {
    GR_TYPE_UNKNOWN, // of another file, or a parameter of a template
    GR_TYPE_S32,
    GR_TYPE_U32,
    GR_TYPE_S64,
    GR_TYPE_U64,
    GR_TYPE_F32,
    GR_TYPE_F64,
    GR_TYPE_OTHER // one that atomics do not take
} GrTypeKind;

typedef struct GrDeclared {
    GrTypeKind type;
    bool shared, local, file; // __shared__; in the function, without that; outside of functions
    bool parameter, is_volatile;
    bool indirect, reference; // a pointer or an array; a reference
} GrDeclared;

// False: the file does not declare it. `f` NULL: a member.
bool gr_declared(const GrCode *c, const GrFunctionCode *f, const GrToken *name, GrDeclared *out);

// What the object is: of its last member, or of its name.
GrTypeKind gr_object_type(const GrCode *c, const GrFunctionCode *f, GrSpan object, bool *is_volatile);

#endif
