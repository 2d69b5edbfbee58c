// SPDX-License-Identifier: Apache-2.0
// warden — a process that stays behind when the command is killed (kill -9, the memory killer), ends the program that
// the command had started, and removes its folders.
//
//     command ──── a pipe, which only the command holds open ────> warden
//       └─ program: told to the warden before it begins
//
// The warden is in a session of its own and has no other descriptor: a signal to the command's group, or to a terminal,
// does not reach it, and nobody waits for the end of a pipe that it has open. It sends no SIGCHLD, and waitpid(-1) does
// not see it (clone(2), "exit_signal"). It acts when the pipe is closed before the command has said that all is done.
#ifndef GR_CLI_RUN_WARDEN_H
#define GR_CLI_RUN_WARDEN_H

#include <sys/types.h>

// Starts it, once. Where it cannot be started the command goes without.
void gr_warden_begin(void);
// Starts the warden, which is to remove `folder` (of gr_own_folder).
void gr_warden_folder(const char *folder);
// The warden is to end a process, or the group -target, by SIGTERM and then SIGKILL; 0: none any more. The process
// itself calls this before it becomes the program, so that no moment is left out.
void gr_warden_program(pid_t target);
pid_t gr_warden_process(void); // 0: there is none
// The command has done all that the warden would do. Waits for the warden's end.
void gr_warden_end(void);

#endif
