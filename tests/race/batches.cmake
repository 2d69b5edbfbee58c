# SPDX-License-Identifier: Apache-2.0
# How the programs of the corpus are built: some of one family together. nvcc takes longer to read CUDA's headers than to compile a
# program of 20 lines, so a translation unit includes several programs, each in a namespace of its own, and a link is
# made for each program; main() runs the one that it is called as (corpus.h). A program with options of its own is built alone.
set(batch_size 8)

# Programs whose atomics, fences or barriers have a scope narrower than the device are kept apart from the others: the causality
# engine looks closer at everything once a module has such code, and a program should be judged as if it were alone.
set(narrow_scope "_block\\(|scope_block|[.:]cta|cluster|thread_rank|this_grid")

# The file that has all of these programs in it.
function(gr_corpus_batch file programs)
  set(headers)
  set(bodies)
  foreach(program IN LISTS programs)
    set(source ${CMAKE_CURRENT_SOURCE_DIR}/${program}.cu)
    # What is included is included before, outside of the namespace.
    file(STRINGS ${source} includes REGEX "^#include ")
    get_filename_component(here ${source} DIRECTORY)
    foreach(line IN LISTS includes)
      string(REGEX REPLACE "\"(.*)\"" "\"${here}/\\1\"" line "${line}")
      list(APPEND headers "${line}")
    endforeach()
    string(MAKE_C_IDENTIFIER ${program} space)
    set(bodies "${bodies}namespace ${space} {\n#include \"${source}\"\n}\n")
    file(STRINGS ${source} defines REGEX "^#define ")
    foreach(line IN LISTS defines)
      string(REGEX REPLACE "^#define ([A-Za-z0-9_]+).*" "\\1" name "${line}")
      set(bodies "${bodies}#undef ${name}\n")
    endforeach()
  endforeach()
  list(REMOVE_DUPLICATES headers)
  list(JOIN headers "\n" headers)
  file(CONFIGURE OUTPUT ${file} @ONLY CONTENT
       "#define CORPUS_BATCH\n${headers}\n${bodies}int main(int argc, char **argv) { return corpus_batch_main(argc, argv); }\n")
endfunction()

# gr_corpus_programs(SOURCES FOLDER NVCC PROGRAMS FAMILIES): rules that build FOLDER/FAMILY/NAME of each FAMILY/NAME.cu; PROGRAMS and
# FAMILIES are set to the lists of both.
function(gr_corpus_programs sources folder nvcc programs_out families_out)
  set(families)
  set(programs)
  set(batches)
  foreach(source IN LISTS sources)
    get_filename_component(family ${source} DIRECTORY)
    get_filename_component(name ${source} NAME_WE)
    list(APPEND families ${family})
    file(MAKE_DIRECTORY ${folder}/${family})
    set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${source}) # its #include lines are read here
    set(options)
    file(STRINGS ${source} lines REGEX "^// NVCC: ")
    foreach(line IN LISTS lines)
      separate_arguments(words UNIX_COMMAND "${line}")
      list(SUBLIST words 2 -1 words)
      list(APPEND options ${words})
    endforeach()
    list(APPEND programs ${folder}/${family}/${name})
    if(options)
      add_custom_command(OUTPUT ${folder}/${family}/${name} VERBATIM DEPENDS ${CMAKE_CURRENT_SOURCE_DIR}/${source}
                         DEPFILE ${folder}/${family}/${name}.d
                         COMMAND ${nvcc} ${options} -MMD -MF ${folder}/${family}/${name}.d -o ${folder}/${family}/${name}
                                 ${CMAKE_CURRENT_SOURCE_DIR}/${source})
      continue()
    endif()
    file(STRINGS ${source} narrow REGEX "${narrow_scope}")
    set(key ${family}-wide)
    if(narrow)
      set(key ${family}-narrow)
    endif()
    list(APPEND batches ${key})
    list(APPEND in_${key} ${family}/${name})
  endforeach()
  list(REMOVE_DUPLICATES batches)
  foreach(key IN LISTS batches)
    list(LENGTH in_${key} left)
    set(number 0)
    while(left GREATER 0)
      list(SUBLIST in_${key} 0 ${batch_size} members)
      list(REMOVE_AT in_${key} 0) # at least one; the rest below
      foreach(member IN LISTS members)
        list(REMOVE_ITEM in_${key} ${member})
      endforeach()
      math(EXPR number "${number} + 1")
      set(batch ${folder}/${key}-${number})
      gr_corpus_batch(${batch}.cu "${members}")
      set(links)
      set(outputs)
      set(members_sources)
      foreach(member IN LISTS members)
        list(APPEND outputs ${folder}/${member})
        list(APPEND links COMMAND ${CMAKE_COMMAND} -E create_symlink ../${key}-${number} ${folder}/${member})
        list(APPEND members_sources ${CMAKE_CURRENT_SOURCE_DIR}/${member}.cu)
      endforeach()
      add_custom_command(OUTPUT ${batch} ${outputs} VERBATIM DEPENDS ${batch}.cu ${members_sources} DEPFILE ${batch}.d
                         COMMAND ${nvcc} -MMD -MF ${batch}.d -o ${batch} ${batch}.cu ${links})
      list(LENGTH in_${key} left)
    endwhile()
  endforeach()
  list(REMOVE_DUPLICATES families)
  set(${programs_out} ${programs} PARENT_SCOPE)
  set(${families_out} ${families} PARENT_SCOPE)
endfunction()
