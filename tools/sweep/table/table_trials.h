#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "lagtape/tools/sweep/runner.h"
#include "lagtape/tools/sweep/table/paper_table.h"

namespace lagtape::table {

/// A hash of a row's experiment with the plan's changes, 16 hexadecimal digits. It does not depend on the order of keys,
/// the name, the seed, or the paths of the data and of a file of word vectors.
std::string experiment_number(const PaperTable& table, const Row& row);

/// The trials of some rows with the seeds 0, 1, ..., in folders DIR/MODEL-SEED, and their outcomes. A run that
/// finished with other settings counts as unfinished, and its message lists the differences. Throws InputError when a
/// folder belongs to another experiment than the row's with this seed, or when the experiment does not report the
/// table's metric.
std::vector<Trial> find_trials(const PaperTable& table, const std::vector<std::size_t>& rows,
                               std::int64_t seeds, const std::filesystem::path& out);

/// Counts the parameters of the models in the other rows, by their files: a row without a run is compared with the
/// paper too. The number stays unknown if data decide it or a file cannot be read.
void count_parameters_of_others(PaperTable& table, const std::vector<std::size_t>& chosen);

/// Trains missing runs and resumes unfinished ones. Throws Interrupted when it is stopped; everything is saved
/// then.
void train_all(std::vector<Trial>& trials, const PaperTable& table, const std::filesystem::path& out,
               const sweep::RunnerOptions& options);

/// Throws an error when trainings failed: InputError with their problems when each was refused.
void raise_failures(const PaperTable& table, const std::vector<Trial>& trials);

/// The outcome of each row.
std::vector<Outcome> outcomes_of(const PaperTable& table, const std::vector<Trial>& trials);

/// A training that the plan's changes made shorter than in the row's file.
struct Shortened {
  std::int64_t to = 0, of = 0;
  std::string unit;  ///< "epochs", or "updates"
};
/// Empty where the length is that of the file.
std::optional<Shortened> shortened(const PaperTable& table, const Row& row);

/// A sentence on the difference between the number of parameters of a row's model and the printed one. Empty
/// up to 5 %, where ours is the printed one when rounded as that is, and where either number is not known.
std::string parameter_difference(const Row& row, const Outcome& outcome);

/// The table as one JSON object.
std::string json(const PaperTable& table, const std::vector<Trial>& trials);

}  // namespace lagtape::table
