# For `pip install ./tools/python`, whose users may never have compiled anything: without a compiler, says once what to
# install, the libraries included. It comes before project(), whose own message names the compiler alone.
set(compilers ${CMAKE_CXX_COMPILER})
if(NOT compilers)
  separate_arguments(compilers UNIX_COMMAND "$ENV{CXX}")
endif()
if(compilers)
  list(GET compilers 0 compilers)  # without options
else()
  set(compilers c++ g++ clang++)
endif()
find_program(found NAMES ${compilers} NO_CACHE)
if(NOT found)
  list(JOIN compilers ", " names)
  message(FATAL_ERROR "lagtape is compiled when it is installed, and there is no C++ compiler here (${names}). On Debian:\n"
    "  apt-get install g++ libdnnl-dev libxsimd-dev libxbyak-dev nlohmann-json3-dev libarchive-dev zlib1g-dev libsndfile1-dev libhowardhinnant-date-dev python3-dev")
endif()
unset(found)
