# SPDX-License-Identifier: Apache-2.0
# Many small CUDA programs, built some together: nvcc takes longer to read CUDA's headers than to compile a program of 20 lines. So a
# translation unit includes several programs, each in a namespace of its own, NAME_cu, and each program is a link to what is built
# of them; main() runs the one that it is called as. What a program includes is included before, outside of the namespace; what
# it defines is undefined behind it. Its main must return on all paths: only the global one may leave that out.
# Programs that say otherwise how nvcc should be called, or whose reports a user is shown, are built alone.
# A batch is C++14, which nvcc reads a third faster, unless its programs include what asks for C++17. nvcc's -O is for the host's code alone
# (PTX is the same without), and gcc takes as long for it as for all else of a small program: programs of the tests go without.

# Programs whose atomics, fences or barriers have a scope narrower than the device are kept apart from the others: the causality
# engine looks closer at everything once a module has such code, and a program should be judged as if it were alone.
set(gr_narrow_scope "_block\\(|scope_block|[.:]cta|cluster|thread_rank|this_grid")
set(gr_needs_17 "^#include <((cub|thrust|cuda|cooperative_groups)[/.]|shared_mutex>)")

# gr_cuda_standard(OUT source): the option of nvcc for the C++ that a program needs.
function(gr_cuda_standard out source)
  file(STRINGS ${source} needs_17 LIMIT_COUNT 1 REGEX "${gr_needs_17}")
  set(${out} -std=c++14 PARENT_SCOPE)
  if(needs_17)
    set(${out} -std=c++17 PARENT_SCOPE)
  endif()
endfunction()

# The file that has all of these programs in it: paths of sources.
function(gr_write_cuda_batch file sources)
  set(headers "#include <cstdio>" "#include <cstring>")
  set(bodies)
  set(calls)
  foreach(source IN LISTS sources)
    get_filename_component(here ${source} DIRECTORY)
    get_filename_component(name ${source} NAME_WE)
    file(STRINGS ${source} includes REGEX "^#include ")
    foreach(line IN LISTS includes)
      string(REGEX REPLACE "\"(.*)\"" "\"${here}/\\1\"" line "${line}")
      list(APPEND headers "${line}")
    endforeach()
    string(APPEND bodies "namespace ${name}_cu {\n#include \"${source}\"\n}\n")
    file(STRINGS ${source} defines REGEX "^#define ")
    foreach(line IN LISTS defines)
      string(REGEX REPLACE "^#define ([A-Za-z0-9_]+).*" "\\1" macro "${line}")
      string(APPEND bodies "#undef ${macro}\n")
    endforeach()
    string(APPEND calls "    if (strcmp(name, \"${name}\") == 0)\n        return call(${name}_cu::main, argc, argv);\n")
  endforeach()
  list(REMOVE_DUPLICATES headers)
  list(JOIN headers "\n" headers)
  file(CONFIGURE OUTPUT ${file} @ONLY CONTENT "${headers}
${bodies}
[[maybe_unused]] static int call(int (*function)(), int, char **) { return function(); }
[[maybe_unused]] static int call(int (*function)(int, char **), int argc, char **argv) { return function(argc, argv); }
int main(int argc, char **argv)
{
    const char *slash = strrchr(argv[0], '/'), *name = slash ? slash + 1 : argv[0];
${calls}    fprintf(stderr, \"%s: no such program is built here\\n\", name);
    return 2;
}
")
endfunction()

# gr_cuda_batches(OUT FOLDER folder COMMAND nvcc options... SOURCES paths... [SIZE programs of a batch, 8 unless told]): rules that build
# FOLDER/NAME of each NAME.cu. OUT is set to all NAMEs with their folders, OUT_BATCHES to the files that nvcc compiles.
function(gr_cuda_batches out)
  cmake_parse_arguments(B "" "FOLDER;SIZE" "COMMAND;SOURCES" ${ARGN})
  if(NOT B_SIZE)
    set(B_SIZE 8)
  endif()
  file(MAKE_DIRECTORY ${B_FOLDER}/batches)
  set(programs)
  set(files)
  set(kinds 14_wide 14_narrow 17_wide 17_narrow)
  foreach(kind IN LISTS kinds)
    set(in_${kind})
  endforeach()
  foreach(source IN LISTS B_SOURCES)
    get_filename_component(source ${source} ABSOLUTE)
    set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${source}) # its text is read here
    file(STRINGS ${source} needs_17 LIMIT_COUNT 1 REGEX "${gr_needs_17}")
    file(STRINGS ${source} narrow LIMIT_COUNT 1 REGEX "${gr_narrow_scope}")
    set(kind 14)
    if(needs_17)
      set(kind 17)
    endif()
    if(narrow)
      list(APPEND in_${kind}_narrow ${source})
    else()
      list(APPEND in_${kind}_wide ${source})
    endif()
  endforeach()
  foreach(kind IN LISTS kinds)
    string(REGEX MATCH "^[0-9]+" standard ${kind})
    list(LENGTH in_${kind} count)
    math(EXPR batches "(${count} + ${B_SIZE} - 1) / ${B_SIZE}")
    set(number 0)
    while(in_${kind})
      list(LENGTH in_${kind} count)
      math(EXPR size "(${count} + ${batches} - ${number} - 1) / (${batches} - ${number})") # all of about one size
      list(SUBLIST in_${kind} 0 ${size} members)
      list(REMOVE_ITEM in_${kind} ${members})
      math(EXPR number "${number} + 1")
      set(batch ${B_FOLDER}/batches/${kind}_${number})
      gr_write_cuda_batch(${batch}.cu "${members}")
      list(APPEND files ${batch}.cu)
      set(links)
      set(outputs)
      foreach(member IN LISTS members)
        get_filename_component(name ${member} NAME_WE)
        list(APPEND outputs ${B_FOLDER}/${name})
        list(APPEND links COMMAND ${CMAKE_COMMAND} -E create_symlink batches/${kind}_${number} ${B_FOLDER}/${name})
      endforeach()
      add_custom_command(OUTPUT ${batch} ${outputs} VERBATIM DEPENDS ${batch}.cu ${members} DEPFILE ${batch}.d
                         COMMAND ${B_COMMAND} -std=c++${standard} -MMD -MF ${batch}.d -o ${batch} ${batch}.cu ${links})
      list(APPEND programs ${outputs})
    endwhile()
  endforeach()
  set(${out} ${programs} PARENT_SCOPE)
  set(${out}_BATCHES ${files} PARENT_SCOPE)
endfunction()
