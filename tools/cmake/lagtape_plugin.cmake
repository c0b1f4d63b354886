# lagtape_plugin(TARGET): makes a shared library or module that links lagtape's static libraries one that several versions may
# share a process with, and that dlclose unmaps, whatever its host is written in. It shows the functions that its sources declare
# extern "C" with visibility default.
function(lagtape_plugin target)
  get_target_property(type ${target} TYPE)
  if(NOT type MATCHES "^(SHARED|MODULE)_LIBRARY$")
    message(FATAL_ERROR "lagtape_plugin(${target}): ${target} is of type ${type}, and must be SHARED or MODULE.")
  endif()
  set(symbols ${CMAKE_CURRENT_FUNCTION_LIST_DIR}/plugin_symbols.map)
  target_compile_options(${target} PRIVATE $<$<CXX_COMPILER_ID:GNU>:-fno-gnu-unique>)
  target_link_options(${target} PRIVATE LINKER:--version-script=${symbols})
  set_property(TARGET ${target} APPEND PROPERTY LINK_DEPENDS ${symbols})
  set_target_properties(${target} PROPERTIES CXX_VISIBILITY_PRESET hidden C_VISIBILITY_PRESET hidden VISIBILITY_INLINES_HIDDEN ON)
endfunction()
