#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "lagtape/core/json/json.h"
#include "lagtape/tools/forecast/predicted_targets.h"

namespace lagtape {

/// The endings of the files that hold predictions: a table, JSON, and NumPy's archive of arrays.
inline const std::vector<std::string> kPredictionEndings = {".csv", ".json", ".npz"};

/// A table with a header: the times, where there are any, the leading columns, and for each target prediction, low and
/// high of several models or a column such as q0.1 for each quantile, and truth where it is known.
std::string csv_of(const PredictedTargets& predicted);

/// A list for each column, those of a target under its name below "targets", with null for unknown values.
Json json_of(const PredictedTargets& predicted);

/// The file with one of the endings: a table, that JSON, or arrays. These are `time` (datetime64[ns], in UTC), the leading columns [rows], the names
/// `targets`, and for each part of the targets one [rows, targets], NaN where it is not known.
std::string file_of(const PredictedTargets& predicted, std::string_view ending);

}  // namespace lagtape
