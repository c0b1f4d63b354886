#pragma once

#include <optional>
#include <string>

#include "lagtape/core/json/json.h"
#include "lagtape/tools/analysis/series_scores.h"
#include "lagtape/tools/train/evaluation.h"
#include "lagtape/tools/train/score/confusion.h"
#include "lagtape/tools/train/source.h"

namespace lagtape {

struct ScoringOptions {
  std::string split = "test";  ///< train, valid, test or all, meaning every sequence in the data
  std::string data = {};       ///< path of the data, replacing data.path
  std::string frequency = {};  ///< replaces the frequency of the model's rows, such as "any"
};

/// A trained model, and the sequences that score it.
struct ScoredRun {
  Source source;
  Task task;
  const Dataset& split;
};

/// Loads a run and the data to score it on. Throws InputError, including if the data do not fit the model.
ScoredRun load_scored_run(const std::string& run, const ScoringOptions& options, ThreadPool& pool);

/// {"loss": 0.1234, "rmse": 0.351}; "confusion" has a row for each true class, "classes" precision, recall and
/// F1 for each. "series" contains the metrics of each series by name, if there are several.
Json json_of(const Evaluation& evaluation, const Confusion* confusion = nullptr,
             const std::vector<SeriesEvaluation>& series = {});

}  // namespace lagtape
