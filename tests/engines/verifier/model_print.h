// SPDX-License-Identifier: Apache-2.0
// model_print — a model as text: every access with its object, offset, guard and barriers, a line each.
#ifndef GR_TESTS_MODEL_PRINT_H
#define GR_TESTS_MODEL_PRINT_H

#include "engines/verifier/kernel/model.h"

void model_print(const GrKernelModel *m, StrBuf *out);

#endif
