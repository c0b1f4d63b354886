#pragma once

#include <cstdint>
#include <filesystem>
#include <limits>
#include <string>
#include <vector>

#include "lagtape/tools/table/paper_table.h"

namespace lagtape::table {

enum class RunState { missing, unfinished, done, diverged, failed };
const char* name_of(RunState state);

/// One model trained with one seed, in DIR/MODEL-SEED.
struct Run {
  std::size_t row = 0;  ///< of the plan
  std::int64_t seed = 0;
  std::filesystem::path folder;
  RunState state = RunState::missing;
  double value = std::numeric_limits<double>::quiet_NaN();  ///< of the table's metric, not scaled
  double seconds = 0;
  std::int64_t params = 0;      ///< of the model; 0 where neither a run nor the experiment file alone tells
  std::int64_t arithmetic = 0;  ///< kArithmetic of the lagtape that trained it; 0: not recorded
  std::string message;          ///< why it diverged or failed
  std::string experiment;       ///< see experiment_number
  std::string date, machine;    ///< of its end: "2026-11-20"; empty before
};

/// A number of what an experiment file and the assignments say, 16 hexadecimal digits: the same for files
/// that differ in the order of keys, the name, the seed, or the place of the data and of a file of vectors.
std::string experiment_number(const std::filesystem::path& file, const std::vector<std::string>& assignments);

/// Where the message of a training that diverged is kept, so that it is not tried again.
std::filesystem::path divergence_file(const Run& run);
/// What a training says of itself as it goes on: DIR/MODEL-SEED.log.
std::filesystem::path log_file(const Run& run);

/// Looks what there is of a run: sets state, value, seconds and message, and params unless they are known already.
/// Throws InputError when the folder contains a run of another experiment than the row's with this seed and these
/// assignments, or when the experiment does not report the table's metric.
void look_at(Run& run, const PaperTable& table, const std::vector<std::string>& assignments);

/// The runs of some rows, seeds outermost so that a partial table is one of all rows, as `look_at` finds
/// them.
std::vector<Run> find_runs(const PaperTable& table, const std::vector<std::size_t>& rows, std::int64_t seeds,
                           const std::filesystem::path& out, const std::vector<std::string>& assignments);

}  // namespace lagtape::table
