// SPDX-License-Identifier: Apache-2.0
// strays — --on-fault continue: writes what the CPU device lets pass to the results file, under every engine.
#ifndef GR_INJECT_STRAYS_H
#define GR_INJECT_STRAYS_H

// Listens from now on, if the option says so and the driver is there. Called until it is.
void gr_strays_listen(void);

#endif
