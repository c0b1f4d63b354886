#pragma once

#include <cstdint>
#include <string>

#include "lagtape/tools/train/evaluation.h"
#include "lagtape/tools/train/score/confusion.h"

namespace lagtape::cli {

/// The value, with a positive sign for NaN: the processor's own NaN would be printed as "-nan".
double without_sign_of_nan(double value);
/// One line, such as "loss 0.1234  rmse 0.351".
std::string line_of(const Evaluation& evaluation);
/// The confusion matrix with a row for each true class, a column for each predicted one, and the names
/// or numbers of the classes as their titles, and precision, recall and F1 of each.
std::string table_of(const Confusion& confusion);

}  // namespace lagtape::cli
