// SPDX-License-Identifier: Apache-2.0
// python — where this thread is in a program that a Python interpreter runs.
#ifndef GR_INJECT_PYTHON_H
#define GR_INJECT_PYTHON_H

#include <stdbool.h>
#include <stddef.h>

// Looks for an interpreter in the process. Takes the dynamic linker's lock.
bool gr_python_find(void);
// Whether one was found.
bool gr_python_is_known(void);
// Whether one was found, and this address is its own code.
bool gr_python_has(const void *pc);

// The thread's frames as the interpreter prints them, the innermost first, a line each:
//   File "app.py", line 12 in main
// The length; 0: the thread runs no Python, or no interpreter was found. With the interpreter's lock or without it.
size_t gr_python_stack(char *out, size_t room);

#endif
