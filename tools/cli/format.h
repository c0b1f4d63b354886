#pragma once

#include <cstdint>
#include <string>

#include "lagtape/tools/train/confusion.h"
#include "lagtape/tools/train/evaluation.h"

namespace lagtape::cli {

double without_sign_of_nan(double value);           ///< The processor's own NaN would be printed as "-nan".
std::string line_of(const Evaluation& evaluation);  ///< "loss 0.1234  rmse 0.351"
/// {"loss": 0.1234, "rmse": 0.351}, more digits; "confusion" has a row an actual class.
std::string json_of(const Evaluation& evaluation, const Confusion* confusion = nullptr);
/// A row an actual class, a column a predicted one, with the names of the classes (0, 1, ...) around them.
std::string table_of(const Confusion& confusion);

}  // namespace lagtape::cli
