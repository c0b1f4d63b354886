#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "lagtape/tools/sweep/runner.h"
#include "lagtape/tools/sweep/table/paper_table.h"

namespace lagtape::table {

/// A hash of a row's experiment with the plan's changes, 16 hexadecimal digits. It does not depend on the order
/// of keys, the name, the seed, or the paths of the data and of a word vector file.
std::string experiment_number(const PaperTable& table, const Row& row);

/// The trials of some rows with the seeds 0, 1, ..., in folders DIR/MODEL-SEED, and their outcomes. A run that
/// finished with other settings counts as unfinished, and its message lists the differences. Throws InputError
/// if a folder belongs to an experiment other than the row's with this seed, or if the experiment does not
/// report the table's metric.
std::vector<Trial> find_trials(const PaperTable& table, const std::vector<std::size_t>& rows,
                               std::int64_t seeds, const std::filesystem::path& out);

/// Counts the parameters of the models in the other rows, from their files: a row without a run is compared
/// with the paper too. The number stays unknown if it depends on the data or a file cannot be read.
void count_parameters_of_others(PaperTable& table, const std::vector<std::size_t>& chosen);

/// Trains missing runs and resumes unfinished ones. Throws Interrupted if it is stopped; everything has been
/// saved by then.
void train_all(std::vector<Trial>& trials, const PaperTable& table, const std::filesystem::path& out,
               const sweep::RunnerOptions& options);

/// Throws an error if training runs failed: InputError with their problems if all were rejected.
void raise_failures(const PaperTable& table, const std::vector<Trial>& trials);

/// The outcome of each row.
std::vector<Outcome> outcomes_of(const PaperTable& table, const std::vector<Trial>& trials);

/// A training run that the plan's changes made shorter than in the row's file.
struct Shortened {
  std::int64_t to = 0, of = 0;
  std::string unit;  ///< "epochs", or "updates"
};
/// Empty if the length is the file's.
std::optional<Shortened> shortened(const PaperTable& table, const Row& row);

/// A sentence about the difference between a row's number of parameters and the published one. Empty up to 5 %,
/// if ours equals the published one when rounded like it, and if either number is unknown.
std::string parameter_difference(const Row& row, const Outcome& outcome);

/// The table as one JSON object.
std::string json(const PaperTable& table, const std::vector<Trial>& trials);

}  // namespace lagtape::table
