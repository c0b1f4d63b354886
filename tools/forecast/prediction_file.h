#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "lagtape/core/json/json.h"
#include "lagtape/tools/forecast/predicted_targets.h"

namespace lagtape {

/// The endings of prediction files: a table, JSON, and NumPy's archive of arrays.
inline const std::vector<std::string> kPredictionEndings = {".csv", ".json", ".npz"};

/// A table with a header: the times, if there are any, the leading columns, and for each target the prediction,
/// low and high of several models or a column such as q0.1 for each quantile, and truth if known.
std::string csv_of(const PredictedTargets& predicted);

/// A list for each column, those of a target under its name below "targets", with null for unknown values.
Json json_of(const PredictedTargets& predicted);

/// The file with one of the endings: a table, that JSON, or arrays. These are `time` (datetime64[ns], in UTC),
/// the leading columns [rows], the names `targets`, and for each part of the targets one [rows, targets], NaN
/// if unknown.
std::string file_of(const PredictedTargets& predicted, std::string_view ending);

}  // namespace lagtape
