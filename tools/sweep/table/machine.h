#pragma once

#include <string>

namespace lagtape::table {

/// The name of the processor and the number of its cores: "AMD EPYC, 2 cores".
std::string machine();

}  // namespace lagtape::table
