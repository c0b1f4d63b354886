#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <string>
#include <vector>

#include "lagtape/tools/sweep/run.h"
#include "lagtape/tools/sweep/table/paper_table.h"

namespace lagtape::table {

using sweep::RunState;

/// One model trained with one seed, in DIR/MODEL-SEED. Its value is the table's metric, not scaled, and its message may
/// also tell in which settings it differs from those with which it finished.
struct Run : sweep::Run {
  std::size_t row = 0;          ///< index of the row in the table
  std::int64_t params = 0;      ///< of the model; 0 if neither a run nor the experiment file tells it
  std::int64_t arithmetic = 0;  ///< kArithmetic of the lagtape that trained it; 0: not recorded
  std::string experiment;       ///< its experiment_number
  std::string date, machine;    ///< `date` is the day of its end, "2026-11-20"; empty before
};

/// A hash of an experiment with its assignments, 16 hexadecimal digits. It does not depend on the order
/// of keys, the name, the seed, or the paths of the data and of a file of word vectors.
std::string experiment_number(const ExperimentPlace& place, const std::vector<std::string>& assignments);

/// The file with the message of a training that diverged; it keeps the training from being repeated.
std::filesystem::path divergence_file(const Run& run);

/// Reads a run's folder and sets state, value, seconds and message, and params unless they are known already.
/// Throws InputError when the folder belongs to another experiment than the row's with this seed and these
/// assignments, or when the experiment does not report the table's metric.
void look_at(Run& run, const PaperTable& table, const std::vector<std::string>& assignments);

/// Counts the parameters of the models in the other rows, by their files: a row without a run is compared with the
/// paper too. Where data decide the number, or a file cannot be read, it stays unknown.
void count_parameters_of_others(PaperTable& table, const std::vector<std::size_t>& chosen,
                                const std::vector<std::string>& assignments);

/// The runs of some rows, as `look_at` finds them. The first seed of every row comes before the second of
/// any, so that an unfinished table covers all rows.
std::vector<Run> find_runs(const PaperTable& table, const std::vector<std::size_t>& rows, std::int64_t seeds,
                           const std::filesystem::path& out, const std::vector<std::string>& assignments);

struct TrainingOptions {
  int jobs = 1;                               ///< number of parallel trainings
  int threads = 1;                            ///< total number of threads
  std::vector<std::string> assignments = {};  ///< in the form of --set
  std::function<bool()> stop_requested = [] { return false; };
  /// Called when a training has ended, with the number of trainings that have ended and their total.
  std::function<void(const Run&, std::size_t ended, std::size_t of)> ended = {};
};

/// Trains the missing runs and resumes the unfinished ones, in order, each in its own process, and reads the
/// result of each run when it has ended. The other runs go on when one fails. Returns the exit codes of the
/// failed runs. Throws Interrupted when it is stopped; everything is saved then.
std::vector<int> train_all(std::vector<Run>& runs, const PaperTable& table, const TrainingOptions& options);

}  // namespace lagtape::table
