# Finds oneDNN by its header and library, as DNNL::dnnl. The config file of a oneDNN built for GPUs, as Debian's is, insists
# on OpenCL, of which lagtape needs nothing.

find_path(oneDNN_INCLUDE_DIR oneapi/dnnl/dnnl.h)
find_library(oneDNN_LIBRARY dnnl)
mark_as_advanced(oneDNN_INCLUDE_DIR oneDNN_LIBRARY)

set(version_header ${oneDNN_INCLUDE_DIR}/oneapi/dnnl/dnnl_version.h)
if(EXISTS ${version_header})
  file(STRINGS ${version_header} lines REGEX "#define DNNL_VERSION_(MAJOR|MINOR|PATCH) +[0-9]+")
  string(REGEX MATCHALL "[0-9]+" numbers "${lines}")
  list(JOIN numbers "." oneDNN_VERSION)
endif()

include(FindPackageHandleStandardArgs)
find_package_handle_standard_args(oneDNN REQUIRED_VARS oneDNN_LIBRARY oneDNN_INCLUDE_DIR VERSION_VAR oneDNN_VERSION)

if(oneDNN_FOUND AND NOT TARGET DNNL::dnnl)
  add_library(DNNL::dnnl UNKNOWN IMPORTED)
  set_target_properties(DNNL::dnnl PROPERTIES IMPORTED_LOCATION ${oneDNN_LIBRARY}
                        INTERFACE_INCLUDE_DIRECTORIES ${oneDNN_INCLUDE_DIR})
endif()
