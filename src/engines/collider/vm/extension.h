// SPDX-License-Identifier: Apache-2.0
// extension — what the collider adds to the CPU device: shortcuts through what it inserts, windows that observers hear
// of, threads that are held in them, and memory without poison.
#ifndef GR_ENGINES_COLLIDER_VM_EXTENSION_H
#define GR_ENGINES_COLLIDER_VM_EXTENSION_H

#include "vm/extension.h"

extern const VmExtension gr_collider_vm;

#endif
