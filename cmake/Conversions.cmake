# SPDX-License-Identifier: Apache-2.0
# All of src/ is compiled with -Wconversion: a conversion that may change a value, or its sign, is written out.
function(gr_warn_of_conversions dir)
  get_property(targets DIRECTORY ${dir} PROPERTY BUILDSYSTEM_TARGETS)
  foreach(target IN LISTS targets)
    get_target_property(type ${target} TYPE)
    if(NOT type MATCHES "INTERFACE_LIBRARY|UTILITY")
      target_compile_options(${target} PRIVATE "$<$<C_COMPILER_ID:GNU>:-Wconversion>") # clang means more by it
    endif()
  endforeach()
  get_property(subdirs DIRECTORY ${dir} PROPERTY SUBDIRECTORIES)
  foreach(subdir IN LISTS subdirs)
    gr_warn_of_conversions(${subdir})
  endforeach()
endfunction()
gr_warn_of_conversions(${CMAKE_SOURCE_DIR}/src)
