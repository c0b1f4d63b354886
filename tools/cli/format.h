#pragma once

#include <cstdint>
#include <string>

#include "lagtape/tools/evaluation.h"

namespace lagtape::cli {

std::string line_of(const Evaluation& evaluation);  ///< "loss 0.1234  rmse 0.351"
std::string json_of(const Evaluation& evaluation);  ///< {"loss": 0.1234, "rmse": 0.351}, more digits
std::string bytes_of(std::int64_t bytes);           ///< "12.3 MiB"

}  // namespace lagtape::cli
