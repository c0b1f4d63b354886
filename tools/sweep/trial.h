#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <limits>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "lagtape/core/io/file.h"
#include "lagtape/core/json/options.h"
#include "lagtape/core/problem.h"

namespace lagtape::sweep {

enum class RunState : std::uint8_t { missing, unfinished, done, stopped, diverged, failed };
inline constexpr Choices kStates = {{"missing", RunState::missing},   {"unfinished", RunState::unfinished},
                                    {"done", RunState::done},         {"stopped", RunState::stopped},
                                    {"diverged", RunState::diverged}, {"failed", RunState::failed}};
constexpr std::string_view name_of(RunState state) { return kStates.name(static_cast<std::size_t>(state)); }

/// Shared by the rows of many trainings. A row is an experiment, or the values of settings, and is trained
/// with one seed or several.
struct Plan {
  std::vector<std::string> set = {};  ///< changes of every experiment, in the form of --set
  std::string split = "valid";        ///< the set on which rows are compared: "valid" or "test"
  std::string metric = {};            ///< by which they are compared; "loss" is the loss
  bool larger_is_better = false;
  double scale = 1;  ///< metric * scale is shown
};

/// The values of settings by their JSON Pointers.
using Values = std::vector<std::pair<std::string, Json>>;

/// The plan's metric, and the loss, by which trials of the same metric are compared.
struct Score {
  double value = std::numeric_limits<double>::quiet_NaN();
  double loss = std::numeric_limits<double>::quiet_NaN();
};

/// A training of a plan: a row with a seed, its run folder, and its outcome.
struct Trial {
  std::size_t row = 0;
  Values values = {};      ///< values of the settings that the row changes
  std::int64_t seed = -1;  ///< -1: the experiment's own
  std::filesystem::path folder = {};
  std::string model = {},
              experiment = {};  ///< in a table: the row's experiment by name, and a hash of its content
  RunState state = RunState::missing;
  /// The plan's metric, not scaled, and the loss on valid: for an unfinished trial that is compared on valid, the best
  /// so far.
  double value = std::numeric_limits<double>::quiet_NaN();
  double loss = std::numeric_limits<double>::quiet_NaN();
  std::int64_t evaluations = 0;  ///< for a trial that is compared on valid
  double seconds = 0;
  std::int64_t params = 0;             ///< count of the model; 0: not known
  std::int64_t arithmetic = 0;         ///< kArithmetic of the lagtape that trained it; 0: not recorded
  std::string message = {};            ///< why it was stopped, diverged or failed
  std::vector<Problem> problems = {};  ///< the same as its training reported it
  std::string date = {};               ///< the day of its end, "2026-11-20"; empty before
  std::string machine = {},
              version = {};  ///< problems of its training; empty where a table does not need them
  int code = 0;              ///< exit code of its training by this process, 0 without one

  bool has_ended() const { return state != RunState::missing && state != RunState::unfinished; }
  /// Whether it is final. A failed one is tried again, because it may have lacked a permission or a file that exists
  /// now.
  bool is_settled() const { return has_ended() && state != RunState::failed; }
  Score score() const { return {value, loss}; }
};

/// The trials of rows with so many seeds, without outcomes. The first seed of every row comes before the second of
/// any, so that an unfinished plan covers all rows.
std::vector<Trial> trials_of(std::span<const std::size_t> rows, std::int64_t first_seed, std::int64_t seeds,
                             const std::function<std::string(std::size_t row, std::int64_t seed)>& folder);

/// Reads the outcome of a trial so far. Throws InputError for a link in place of a file, and for a run without the
/// plan's metric.
void look_at(Trial& trial, const Plan& plan);
/// Notes beside the folder, which may not even exist, that a trial ended without a result, and why, with its problems.
void end(Trial& trial, RunState state, const std::string& message);
/// Removes the end of a trial that is trained again.
void begin_again(Trial& trial);

/// The problems of the trials that failed, each once. The item of a place begins with the name of the first trial that
/// has the problem, and the number of the others: "run 0003 and 2 more".
std::vector<Problem> problems_of(std::span<const Trial> trials,
                                 const std::function<std::string(const Trial&)>& name);

/// The best score on valid after each evaluation of a trial, from its metrics.jsonl.
std::vector<Score> best_so_far(const Trial& trial, const Plan& plan);

/// Whether a score is better than another. A value that is not finite is worse than any other, and equal values are
/// compared by the loss.
bool is_better(const Plan& plan, const Score& score, const Score& than);

/// Replaces the results file of a plan, a JSON object a line, and removes leftovers of a killed process. The caller
/// holds a lock of the folder, because other processes may train the same plan.
void write_results_file(const std::filesystem::path& file, const std::string& lines, Links links);

/// A row's trials, which differ in their seeds, and statistics of their results. Only finished ones count.
struct Outcome {
  std::vector<const Trial*> trials = {};
  std::vector<double> values = {};  ///< metric * scale of the finished ones
  /// Statistics of the values, NaN without any; `deviation` is that of a sample, NaN for one value.
  double mean = std::numeric_limits<double>::quiet_NaN(), deviation = mean, best = mean;
  double loss = mean;       ///< mean loss on valid
  double seconds = 0;       ///< mean duration of a run
  std::int64_t params = 0;  ///< number of the model's parameters; 0: not known

  std::int64_t count(RunState state) const;
};

/// The outcomes of so many rows.
std::vector<Outcome> outcomes_of(const Plan& plan, std::size_t rows, std::span<const Trial> trials,
                                 std::span<const Trial> further = {});

}  // namespace lagtape::sweep
