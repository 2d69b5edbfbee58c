# SPDX-License-Identifier: Apache-2.0
# All of src/ is compiled with -Wconversion: a conversion that may change a value, or its sign, is written out. Not yet so are the
# targets named here; the fewer the better.
set(gr_conversions_implicit gr_exact)
set(gr_signs_implicit cuda_driver gr_inject gr_vm_alu_base gr_vm_alu_v3 gr_vm_alu_v4)

function(gr_warn_of_conversions dir)
  get_property(targets DIRECTORY ${dir} PROPERTY BUILDSYSTEM_TARGETS)
  foreach(target IN LISTS targets)
    get_target_property(type ${target} TYPE)
    if(type MATCHES "INTERFACE_LIBRARY|UTILITY" OR target IN_LIST gr_conversions_implicit)
      continue()
    endif()
    set(options -Wconversion)
    if(target IN_LIST gr_signs_implicit)
      list(APPEND options -Wno-sign-conversion)
    endif()
    target_compile_options(${target} PRIVATE "$<$<C_COMPILER_ID:GNU>:${options}>") # clang means more by it
  endforeach()
  get_property(subdirs DIRECTORY ${dir} PROPERTY SUBDIRECTORIES)
  foreach(subdir IN LISTS subdirs)
    gr_warn_of_conversions(${subdir})
  endforeach()
endfunction()
gr_warn_of_conversions(${CMAKE_SOURCE_DIR}/src)
