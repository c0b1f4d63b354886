#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "lagtape/tools/analysis/series_scores.h"
#include "lagtape/tools/train/evaluation.h"
#include "lagtape/tools/train/score/confusion.h"

namespace lagtape::cli {

/// The value, with a positive sign for NaN: the processor's own NaN would be printed as "-nan".
double without_sign_of_nan(double value);
/// "12s", "3m05s" or "2h07m".
std::string time_of(double seconds);
/// One line, such as "loss 0.1234  rmse 0.351".
std::string line_of(const Evaluation& evaluation);
/// A note about how many series a table omits; empty for none.
std::string note_on_rest(std::size_t series);
/// The metrics of the series, largest loss first; if there are many, the first and last few. Empty if there are
/// none.
std::string table_of(const std::vector<SeriesEvaluation>& series);
/// The confusion matrix, with a row per true class and a column per predicted class, titled with the classes'
/// names or numbers, and precision, recall and F1 for each class.
std::string table_of(const Confusion& confusion);

}  // namespace lagtape::cli
