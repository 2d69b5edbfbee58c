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
set(GPURACE_SANITIZE_ADDRESS OFF)
if(GPURACE_SANITIZE STREQUAL "thread")
  target_compile_options(gr_options INTERFACE -fsanitize=thread -fno-omit-frame-pointer $<$<C_COMPILER_ID:GNU>:-Wno-tsan>)
  target_link_options(gr_options INTERFACE -fsanitize=thread)
elseif(GPURACE_SANITIZE)
  set(GPURACE_SANITIZE_ADDRESS ON)
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

# Structures of some 100 bytes are cleared by stores of vectors: `rep stos`, which gcc takes, costs more than all of that.
include(CheckCCompilerFlag)
set(GPURACE_CLEARS -mmemset-strategy=vector_loop:8192:noalign,libcall:-1:noalign)
check_c_compiler_flag(${GPURACE_CLEARS} GPURACE_HAVE_CLEARS)
function(gr_clear_by_vectors name)
  if(GPURACE_HAVE_CLEARS)
    target_compile_options(${name} PRIVATE ${GPURACE_CLEARS})
  endif()
endfunction()

# gr_let_fuzz(target): fuzzers see which of its code ran.
function(gr_let_fuzz name)
  if(GPURACE_SANITIZE_ADDRESS AND CMAKE_C_COMPILER_ID MATCHES Clang)
    target_compile_options(${name} PRIVATE -fsanitize=fuzzer-no-link)
  endif()
endfunction()

# gr_add_library(name sources...): a static library of the project.
function(gr_add_library name)
  add_library(${name} STATIC ${ARGN})
  target_link_libraries(${name} PUBLIC gr_options)
  gr_let_fuzz(${name})
endfunction()
