# Packages: `cpack --config build/release/CPackConfig.cmake` makes one .tar.gz with everything, and a .deb for each part.

set(CPACK_GENERATOR TGZ DEB)
set(CPACK_PACKAGE_CONTACT "the authors of lagtape <lagtape@localhost>")
set(CPACK_PACKAGE_DESCRIPTION_SUMMARY "Recurrent networks with long memory, trained and run on CPUs")
set(CPACK_RESOURCE_FILE_LICENSE ${PROJECT_SOURCE_DIR}/LICENSE)
set(CPACK_RESOURCE_FILE_README ${PROJECT_SOURCE_DIR}/README.md)
set(CPACK_PACKAGE_FILE_NAME lagtape-${PROJECT_VERSION}-${CMAKE_SYSTEM_NAME}-${CMAKE_SYSTEM_PROCESSOR})
set(CPACK_STRIP_FILES ON)
set(CPACK_THREADS 0)

# A Python module is installed by pip, not from here.
set(CPACK_COMPONENTS_ALL development)
if(LAGTAPE_C)
  list(APPEND CPACK_COMPONENTS_ALL c)
endif()
if(TARGET lagtape_tool)
  list(APPEND CPACK_COMPONENTS_ALL tool)
endif()

# One package a part. Which libraries of the system they need is read off their binaries; a static library has none to
# read, so that the packages its users link are named.
set(c_package liblagtape-c${PROJECT_VERSION_MAJOR}.${PROJECT_VERSION_MINOR})
set(CPACK_DEB_COMPONENT_INSTALL ON)
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS ON)
set(CPACK_DEBIAN_TOOL_PACKAGE_NAME lagtape)
set(CPACK_DEBIAN_TOOL_PACKAGE_SECTION science)
set(CPACK_DEBIAN_C_PACKAGE_NAME ${c_package})
set(CPACK_DEBIAN_C_PACKAGE_SECTION libs)
set(CPACK_DEBIAN_C_PACKAGE_GENERATE_SHLIBS ON)
set(CPACK_DEBIAN_DEVELOPMENT_PACKAGE_NAME liblagtape-dev)
set(CPACK_DEBIAN_DEVELOPMENT_PACKAGE_SECTION libdevel)
set(CPACK_DEBIAN_DEVELOPMENT_PACKAGE_SHLIBDEPS OFF)
set(CPACK_DEBIAN_DEVELOPMENT_PACKAGE_DEPENDS "g++, libdnnl-dev, libarchive-dev, zlib1g-dev, libsndfile1-dev, libhowardhinnant-date-dev")
if(LAGTAPE_C)
  string(PREPEND CPACK_DEBIAN_DEVELOPMENT_PACKAGE_DEPENDS "${c_package} (= ${PROJECT_VERSION}), ")
endif()
set(CPACK_COMPONENT_TOOL_DESCRIPTION "The command lagtape, which trains, scores, predicts and inspects, and its documents.")
set(CPACK_COMPONENT_C_DESCRIPTION "The shared library for programs in C, which load a model, predict and stream.")
set(CPACK_COMPONENT_DEVELOPMENT_DESCRIPTION "Headers, static libraries, CMake and pkg-config files, for programs in C++ and C.")

include(CPack)
