#pragma once

#include <cstdint>
#include <filesystem>
#include <limits>
#include <string>
#include <utility>
#include <vector>

#include "lagtape/core/json/json.h"
#include "lagtape/tools/sweep/trial.h"
#include "lagtape/tools/train/experiment_rows.h"

namespace lagtape::table {

using sweep::Outcome;
using sweep::RunState;
using sweep::Trial;

constexpr double kNotPrinted = std::numeric_limits<double>::quiet_NaN();

/// A row of a published table: the paper's numbers, and the experiment that reproduces them.
struct Row {
  std::string name;  ///< the model's name for readers
  std::string
      model;  ///< MODEL.json, or a row of rows.json, in the table's folder; empty for only a published number
  double printed = kNotPrinted;
  double printed_deviation = kNotPrinted;  ///< standard deviation over the paper's seeds
  std::int64_t printed_parameters = 0;     ///< number of parameters of the paper's model; 0: not published
  std::int64_t parameters = 0;  ///< number of parameters of the experiment's model, once counted; 0: unknown
  std::string source;           ///< its source, if it differs from the rest of the table
  std::string changed;          ///< how its experiment differs from the paper's; empty: not at all
  std::string note;
  /// The row's settings for charts: numbers against which the metric is plotted, and words that only
  /// distinguish rows.
  std::vector<std::pair<std::string, Json>> at;
};

/// A table from a paper, read from TASK/table.json next to the experiments. Its rows are those of its trials.
struct PaperTable : sweep::Plan {
  std::filesystem::path folder = {};
  std::string title = {};
  std::string source = {};
  std::string unit = {};    ///< name of the table's numbers
  std::int64_t digits = 2;  ///< number of decimals shown
  std::int64_t seeds = 1;   ///< default number of runs per model
  std::vector<Row> rows = {};

  std::string task() const { return folder.filename().string(); }
  ExperimentPlace experiment(const Row& row) const { return experiment_in(folder, row.model); }
};

/// Reads FOLDER/table.json. Throws InputError with all errors in the file at once: "FILE: /json/pointer: ...".
PaperTable read_paper_table(const std::filesystem::path& folder);

/// The rows to run: all that have an experiment, or only the models in `only`. Throws InputError for a model
/// without a row.
std::vector<std::size_t> chosen_rows(const PaperTable& table, const std::vector<std::string>& only);

}  // namespace lagtape::table
