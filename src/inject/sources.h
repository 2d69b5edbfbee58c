// SPDX-License-Identifier: Apache-2.0
// sources — the text of programs that are compiled from memory while the program runs, for the report's excerpts.
#ifndef GR_INJECT_SOURCES_H
#define GR_INJECT_SOURCES_H

// The compiler calls the text `name`. Kept until gr_sources_record. Any thread, no lock needed.
void gr_source_compiled(const char *name, const char *text);

// Writes what was compiled since (findings/source_record.h). With the session's lock.
void gr_sources_record(void);

#endif
