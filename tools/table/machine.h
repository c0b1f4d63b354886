#pragma once

#include <string>

namespace lagtape::table {

/// The processor as it calls itself, and how many cores of it there are: "AMD EPYC, 2 cores".
std::string machine();

}  // namespace lagtape::table
