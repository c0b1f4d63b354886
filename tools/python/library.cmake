# The library for the module that pip builds: that of build/release where it is a release build of this tree, brought up to date,
# else one in build/pip that is built without the tool. A tool that is there is installed too.
set(library ${PROJECT_SOURCE_DIR}/build/release)
set(fits FALSE)
if(EXISTS ${library}/CMakeCache.txt)
  load_cache(${library} READ_WITH_PREFIX found_ CMAKE_BUILD_TYPE CMAKE_HOME_DIRECTORY LAGTAPE_SANITIZE LAGTAPE_INSTALL)
  if(found_CMAKE_BUILD_TYPE STREQUAL "Release" AND found_LAGTAPE_INSTALL AND NOT found_LAGTAPE_SANITIZE
     AND found_CMAKE_HOME_DIRECTORY STREQUAL PROJECT_SOURCE_DIR)
    set(fits TRUE)
  endif()
endif()
if(NOT fits)
  set(library ${PROJECT_SOURCE_DIR}/build/pip/library)
  execute_process(COMMAND ${CMAKE_COMMAND} -S ${PROJECT_SOURCE_DIR} -B ${library} -G ${CMAKE_GENERATOR}
                          -DCMAKE_MAKE_PROGRAM=${CMAKE_MAKE_PROGRAM} -DCMAKE_CXX_COMPILER=${CMAKE_CXX_COMPILER}
                          -DCMAKE_BUILD_TYPE=Release -DCMAKE_UNITY_BUILD=ON -DLAGTAPE_TOOL=OFF -DLAGTAPE_C=OFF
                          -DLAGTAPE_PYTHON=OFF -DLAGTAPE_TESTS=OFF
                  COMMAND_ERROR_IS_FATAL ANY)
endif()

# pip keeps the output of a build to itself, so the line of progress is written to the terminal.
set(targets lagtape)
set(tool "")
if(LAGTAPE_PORTABLE)
  list(APPEND targets lagtape_without_onednn lagtape_portable)
  set(tool ${library}/portable/lagtape)
elseif(fits AND EXISTS ${library}/lagtape)
  list(APPEND targets lagtape_tool)
  set(tool ${library}/lagtape)
endif()
message(STATUS "The library in ${library}")
execute_process(COMMAND sh -c "if (: > /dev/tty) 2>/dev/null; then exec \"$@\" > /dev/tty; else exec \"$@\"; fi" sh
                        ${CMAKE_COMMAND} -E env "NINJA_STATUS=lagtape: %f of %t files compiled, %e s  "
                        ${CMAKE_COMMAND} --build ${library} --target ${targets}
                COMMAND_ERROR_IS_FATAL ANY)
list(APPEND CMAKE_MODULE_PATH ${PROJECT_SOURCE_DIR}/tools/cmake)
find_package(lagtape CONFIG REQUIRED PATHS ${library} NO_DEFAULT_PATH)
