# SPDX-License-Identifier: Apache-2.0
# An engine is a folder with an engine.c, which defines gr_engine_NAME (src/engines/core/engine.h), and a call of gr_add_engine in it.
#
# gr_add_engine(name [SOURCES files...] [LIBS libraries...] [RUNTIMES names...] [EXTENSION files...] [PRIVATE]): the library gr_engine_NAME of engine.c and the
# sources. A runtime NAME is device/NAME.c: freestanding C, compiled to PTX and embedded as the text gr_NAME_runtime_ptx in the library
# gr_NAME_device of the engine. NAME:A+B:DEFINITION... is device/A.c and device/B.c behind it, compiled as one file with these definitions. EXTENSION: files of vm/, which define gr_NAME_vm (src/vm/extension.h); a library of that name, which only CPU
# devices link. PRIVATE: no engine of the product.
#
# A folder with an options.def has options of its own: the build writes engines/NAME/options.h, with the structure NameWords of their fields, the table
# gr_NAME_options, and gr_NAME_blind and gr_NAME_classes, the rows of blind.def and classes.def. Where a folder has a classes.c, that has the classes.
#
# gr_extension_list(target engines...): a library with gr_vm_extensions, the list of these engines' extensions.
#
# gr_engine_list(target engines...): these engines in this order, and their list. A program or injection links one such target.

# The function that tests and the product share: device/RUNTIME.c to a library with the PTX as text.
function(gr_add_runtimes library)
  find_program(GPURACE_CLANG NAMES clang-19 clang REQUIRED)
  execute_process(COMMAND ${GPURACE_CLANG} -print-resource-dir OUTPUT_VARIABLE clang_resources
                  OUTPUT_STRIP_TRAILING_WHITESPACE COMMAND_ERROR_IS_FATAL ANY)
  file(GLOB shared CONFIGURE_DEPENDS ${CMAKE_CURRENT_SOURCE_DIR}/device/*.[ch] ${CMAKE_CURRENT_SOURCE_DIR}/*.def
       ${CMAKE_SOURCE_DIR}/src/device_api/device.h)
  set(embedded_files)
  foreach(words IN LISTS ARGN)
    string(REPLACE ":" ";" definitions ${words})
    list(POP_FRONT definitions runtime sources)
    list(TRANSFORM definitions PREPEND -D)
    if(NOT sources)
      set(sources ${runtime})
    endif()
    string(REPLACE "+" ";" sources ${sources})
    list(TRANSFORM sources REPLACE "(.+)" "${CMAKE_CURRENT_SOURCE_DIR}/device/\\1.c")
    list(POP_BACK sources source)
    list(TRANSFORM sources REPLACE "(.+)" "-include;\\1")
    set(ptx ${CMAKE_CURRENT_BINARY_DIR}/${runtime}.ptx)
    set(embedded ${CMAKE_CURRENT_BINARY_DIR}/${runtime}_ptx.c)
    add_custom_command(
      OUTPUT ${ptx}
      # The compiler proper: the driver would raise the PTX version to the newest it knows, and with it every rewritten module's.
      COMMAND ${GPURACE_CLANG} -cc1 -triple nvptx64-nvidia-cuda -target-cpu sm_70 -target-feature +ptx63 -std=c17 -O2
              -ffreestanding -Wall -Wextra -internal-isystem ${clang_resources}/include -I${CMAKE_SOURCE_DIR}/src
              ${definitions} ${sources} -S ${source} -o ${ptx}
      DEPENDS ${shared}
      COMMENT "Compiling the device runtime ${runtime} to PTX")
    add_custom_command(
      OUTPUT ${embedded}
      COMMAND ${CMAKE_COMMAND} -DIN=${ptx} -DOUT=${embedded} -DNAME=gr_${runtime}_runtime_ptx
              -P ${CMAKE_SOURCE_DIR}/cmake/Embed.cmake
      DEPENDS ${ptx} ${CMAKE_SOURCE_DIR}/cmake/Embed.cmake)
    list(APPEND embedded_files ${embedded})
  endforeach()
  gr_add_library(${library} ${embedded_files})
endfunction()

# engines/NAME/options.h and the file with the tables, *source, of the options.def, blind.def and classes.def in this folder.
function(gr_write_tables name source)
  string(SUBSTRING ${name} 0 1 first)
  string(SUBSTRING ${name} 1 -1 rest)
  string(TOUPPER ${first} first)
  string(TOUPPER ${name} guard)
  set(words ${first}${rest}Words)
  set(rows "#include \"${CMAKE_CURRENT_SOURCE_DIR}/options.def\"")
  set(blind)
  if(EXISTS ${CMAKE_CURRENT_SOURCE_DIR}/blind.def)
    set(blind "#include \"${CMAKE_CURRENT_SOURCE_DIR}/blind.def\"")
  endif()
  set(classes)
  if(EXISTS ${CMAKE_CURRENT_SOURCE_DIR}/classes.def AND NOT EXISTS ${CMAKE_CURRENT_SOURCE_DIR}/classes.c)
    set(classes "const GrClass gr_${name}_classes[] = {
#define CLASS(id, number, text, meaning) {number, text, meaning, GR_KIND_RACE},
#include \"${CMAKE_CURRENT_SOURCE_DIR}/classes.def\"
#undef CLASS
    {.number = 0}};")
  endif()
  set(folder ${CMAKE_BINARY_DIR}/written/engines/${name})
  file(CONFIGURE OUTPUT ${folder}/options.h CONTENT "// Written by gr_write_tables (cmake/Engines.cmake).
#ifndef GR_ENGINES_${guard}_OPTIONS_H
#define GR_ENGINES_${guard}_OPTIONS_H

#include \"engines/core/engine.h\"
#include \"options/options.h\"

typedef struct ${words} {
#define OPTION(id, name, type, deflt, commands, group, applies, arg, help) GrOpt_##type id;
${rows}
#undef OPTION
} ${words};

extern const GrOptTable gr_${name}_options;
extern const GrBlind gr_${name}_blind[];
extern const GrClass gr_${name}_classes[];

#endif
" @ONLY)
  file(CONFIGURE OUTPUT ${folder}/options.c CONTENT "// Written by gr_write_tables (cmake/Engines.cmake).
#include \"engines/${name}/options.h\"

static const GrOptRow rows[] = {
#define OPTION(...) GR_OPT_ROW(${words}, __VA_ARGS__)
${rows}
#undef OPTION
};
// One more than there are: there may be none.
static const GrOptRange ranges[] = {
#define RANGE(...) GR_OPT_RANGE(${words}, __VA_ARGS__)
${rows}
#undef RANGE
    {0, 0, 0}};
const GrOptTable gr_${name}_options = {
    \"${name}\", rows, ranges, sizeof rows / sizeof *rows, sizeof ranges / sizeof *ranges - 1, sizeof(${words})};

const GrBlind gr_${name}_blind[] = {
#define BLIND(use, devices, what) GR_BLIND_ROW(use, devices, what)
${blind}
#undef BLIND
    {.what = NULL}};
${classes}
" @ONLY)
  set(${source} ${folder}/options.c PARENT_SCOPE)
endfunction()

function(gr_add_engine name)
  cmake_parse_arguments(E "PRIVATE" "" "SOURCES;LIBS;RUNTIMES;EXTENSION" ${ARGN})
  set(options)
  if(EXISTS ${CMAKE_CURRENT_SOURCE_DIR}/options.def)
    gr_write_tables(${name} options)
  endif()
  gr_add_library(gr_engine_${name} engine.c ${options} ${E_SOURCES})
  set_target_properties(gr_engine_${name} PROPERTIES GR_OPTIONS "${options}")
  target_include_directories(gr_engine_${name} PUBLIC ${CMAKE_BINARY_DIR}/written)
  target_link_libraries(gr_engine_${name} PUBLIC gr_engines_core ${E_LIBS})
  if(E_RUNTIMES)
    gr_add_runtimes(gr_${name}_device ${E_RUNTIMES})
    target_link_libraries(gr_engine_${name} PUBLIC gr_${name}_device)
  endif()
  if(E_EXTENSION)
    list(TRANSFORM E_EXTENSION PREPEND vm/)
    gr_add_library(gr_${name}_vm ${E_EXTENSION})
    target_link_libraries(gr_${name}_vm PUBLIC gr_vm)
    set_property(GLOBAL APPEND PROPERTY GR_EXTENSIONS ${name})
  endif()
  if(NOT E_PRIVATE)
    set_property(GLOBAL APPEND PROPERTY GR_ENGINES ${name})
  endif()
endfunction()

function(gr_extension_list target)
  set(declarations)
  set(rows)
  set(libraries)
  foreach(name IN LISTS ARGN)
    string(APPEND declarations "extern const VmExtension gr_${name}_vm;\n")
    string(APPEND rows "    &gr_${name}_vm,\n")
    list(APPEND libraries gr_${name}_vm)
  endforeach()
  set(list ${CMAKE_CURRENT_BINARY_DIR}/${target}.c)
  file(CONFIGURE OUTPUT ${list} CONTENT "// Written by gr_extension_list (cmake/Engines.cmake).
#include \"vm/extension.h\"

${declarations}
const VmExtension *const gr_vm_extensions[] = {
${rows}    NULL,
};
" @ONLY)
  gr_add_library(${target} ${list})
  target_link_libraries(${target} PUBLIC ${libraries} gr_vm)
endfunction()

function(gr_engine_list target)
  set(declarations)
  set(rows)
  set(tables)
  set(libraries)
  foreach(name IN LISTS ARGN)
    string(APPEND declarations "extern const GrEngine gr_engine_${name};\n")
    string(APPEND rows "    &gr_engine_${name},\n")
    list(APPEND libraries gr_engine_${name})
    get_target_property(options gr_engine_${name} GR_OPTIONS)
    if(options)
      string(APPEND declarations "extern const GrOptTable gr_${name}_options;\n")
      string(APPEND tables "    &gr_${name}_options,\n")
    endif()
  endforeach()
  set(list ${CMAKE_CURRENT_BINARY_DIR}/${target}_list.c)
  file(CONFIGURE OUTPUT ${list} CONTENT "// Written by gr_engine_list (cmake/Engines.cmake).
#include \"engines/core/engine.h\"
#include \"options/options.h\"

${declarations}
const GrEngine *const gr_engines[] = {
${rows}    NULL,
};
const GrOptTable *const gr_option_tables[] = {
    &gr_common_options,
${tables}    NULL,
};
" @ONLY)
  # An object, not an archive: what looks names up in the list is behind it on the command line.
  add_library(${target}_list OBJECT ${list})
  target_link_libraries(${target}_list PRIVATE gr_engines_core)
  add_library(${target} INTERFACE)
  target_sources(${target} INTERFACE $<TARGET_OBJECTS:${target}_list>)
  target_link_libraries(${target} INTERFACE ${libraries} gr_engines_core)
endfunction()
