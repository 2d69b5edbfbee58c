# SPDX-License-Identifier: Apache-2.0
# Helpers that every CMakeLists.txt of the project uses.

add_library(gr_options INTERFACE)
target_include_directories(gr_options INTERFACE ${CMAKE_SOURCE_DIR}/src ${CMAKE_SOURCE_DIR}/include)
target_compile_definitions(gr_options INTERFACE _GNU_SOURCE GPURACE_VERSION="${PROJECT_VERSION}")
target_compile_options(gr_options INTERFACE -Wall -Wextra -Wshadow -Wstrict-prototypes -Wmissing-prototypes
                       -Wvla -Wno-format-zero-length -fno-strict-aliasing)
if(GPURACE_WERROR)
  target_compile_options(gr_options INTERFACE -Werror)
endif()
if(GPURACE_SANITIZE)
  target_compile_options(gr_options INTERFACE -fsanitize=address,undefined -fno-sanitize-recover=undefined
                         -fno-omit-frame-pointer)
  target_link_options(gr_options INTERFACE -fsanitize=address,undefined)
  # Vectorized division converts out-of-range doubles in lanes whose result is then not selected; gcc's `undefined`
  # leaves this check out as well.
  target_compile_options(gr_options INTERFACE -fno-sanitize=float-cast-overflow)
  if(CMAKE_C_COMPILER_ID MATCHES Clang) # as a shared library, as gcc has it: our own shared libraries link with -z defs
    execute_process(COMMAND ${CMAKE_C_COMPILER} -print-file-name=libclang_rt.asan-${CMAKE_SYSTEM_PROCESSOR}.so
                    OUTPUT_VARIABLE asan OUTPUT_STRIP_TRAILING_WHITESPACE)
    get_filename_component(asan ${asan} DIRECTORY)
    # (A fuzzer is a program of its own, whose libFuzzer goes with the static one.)
    set(shared $<NOT:$<BOOL:$<TARGET_PROPERTY:GPURACE_FUZZER>>>)
    target_link_options(gr_options INTERFACE $<${shared}:-shared-libsan> $<${shared}:-Wl,-rpath,${asan}>)
  endif()
endif()

# gr_add_library(name sources...): a static library of the project.
function(gr_add_library name)
  add_library(${name} STATIC ${ARGN})
  target_link_libraries(${name} PUBLIC gr_options)
  if(GPURACE_SANITIZE AND CMAKE_C_COMPILER_ID MATCHES Clang) # fuzzers see which code ran
    target_compile_options(${name} PRIVATE -fsanitize=fuzzer-no-link)
  endif()
endfunction()

# gr_add_unit_test(name SOURCES ... LIBS ...): a cmocka program, one CTest test labelled "unit". The target unit-tests builds all of them,
# with what they need and no more.
add_custom_target(unit-tests)
function(gr_add_unit_test name)
  cmake_parse_arguments(T "" "" "SOURCES;LIBS;ARGS" ${ARGN})
  add_executable(${name} ${T_SOURCES})
  target_link_libraries(${name} PRIVATE ${T_LIBS} gr_options cmocka)
  add_dependencies(unit-tests ${name})
  add_test(NAME ${name} COMMAND ${name} ${T_ARGS})
  set_tests_properties(${name} PROPERTIES LABELS unit TIMEOUT 300)
endfunction()

# The Python that tests and tools run with: Debian's own when it is there, for its jsonschema package.
find_program(GPURACE_PYTHON python3 PATHS /usr/bin NO_DEFAULT_PATH)
find_program(GPURACE_PYTHON python3 REQUIRED)
