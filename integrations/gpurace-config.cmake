# SPDX-License-Identifier: Apache-2.0
# gpurace in a project of CMake's: find_package(gpurace), then
#
#   gpurace_add_test(NAME name COMMAND program [arguments...]
#                    [SEEDS 1..20]         several runs, as `gpurace campaign` does them; without it one run
#                    [OPTIONS options...]  of `gpurace run` or `gpurace campaign`
#                    [STRICT yes|auto|no]  as --strict; without it yes
#                    [LABELS labels...] [TIMEOUT seconds])
#
# adds a test that runs the program under gpurace and fails when it has races, or when not all of it was checked. `program` may be a target of the project. Reports are written to
# ${CMAKE_CURRENT_BINARY_DIR}/gpurace/NAME: report.txt and report.json. A test has the label `gpurace` besides LABELS.
#
# GPURACE_EXECUTABLE is the command. GPURACE_LAUNCHER is what goes before a program, for tests that exist already:
#
#   set_property(TARGET app PROPERTY CROSSCOMPILING_EMULATOR ${GPURACE_LAUNCHER})   each test of the target app
#   set_property(TARGET app PROPERTY TEST_LAUNCHER ${GPURACE_LAUNCHER})             the same, from CMake 3.29 on
find_program(GPURACE_EXECUTABLE gpurace HINTS ${CMAKE_CURRENT_LIST_DIR}/../../../bin DOC "the command gpurace")
include(FindPackageHandleStandardArgs)
find_package_handle_standard_args(gpurace REQUIRED_VARS GPURACE_EXECUTABLE)
set(GPURACE_LAUNCHER ${GPURACE_EXECUTABLE} run --)

function(gpurace_add_test)
  cmake_parse_arguments(PARSE_ARGV 0 T "" "NAME;SEEDS;STRICT;TIMEOUT" "COMMAND;OPTIONS;LABELS")
  if(NOT T_NAME OR NOT T_COMMAND OR T_UNPARSED_ARGUMENTS)
    message(FATAL_ERROR "gpurace_add_test: NAME and COMMAND are needed: gpurace_add_test(NAME name COMMAND program [arguments...] [SEEDS LIST]"
                        " [OPTIONS ...] [STRICT yes|auto|no] [LABELS ...] [TIMEOUT seconds]); not understood: '${T_UNPARSED_ARGUMENTS}'")
  endif()
  set(folder ${CMAKE_CURRENT_BINARY_DIR}/gpurace/${T_NAME})
  file(MAKE_DIRECTORY ${folder})
  set(how run)
  if(T_SEEDS) # from the beginning each time: a test says what is so now
    set(how campaign --seeds ${T_SEEDS} --jobs 1 --fresh --state ${folder}/campaign)
  endif()
  if("${T_STRICT}" STREQUAL "")
    set(T_STRICT yes)
  endif()
  list(POP_FRONT T_COMMAND program)
  if(TARGET ${program})
    set(program $<TARGET_FILE:${program}>)
  endif()
  add_test(NAME ${T_NAME} COMMAND ${GPURACE_EXECUTABLE} ${how} --format text,json --output ${folder} --strict ${T_STRICT} ${T_OPTIONS} -- ${program} ${T_COMMAND})
  set_tests_properties(${T_NAME} PROPERTIES LABELS "gpurace;${T_LABELS}")
  if(T_TIMEOUT)
    set_tests_properties(${T_NAME} PROPERTIES TIMEOUT ${T_TIMEOUT})
  endif()
endfunction()
