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

/// Shared by the rows of many training runs. A row is an experiment, or the values of settings, and is trained
/// with one seed or several.
struct Plan {
  std::vector<std::string> set = {};  ///< changes to every experiment, in the form of --set
  std::string split = "valid";        ///< the set on which rows are compared: "valid" or "test"
  std::string metric = {};            ///< the metric for comparisons; "loss" is the loss
  bool larger_is_better = false;
  double scale = 1;  ///< metric * scale is shown
};

/// The values of settings by JSON Pointer.
using Values = std::vector<std::pair<std::string, Json>>;

/// The plan's metric, and the loss, by which trials of the same metric are compared.
struct Score {
  double value = std::numeric_limits<double>::quiet_NaN();
  double loss = std::numeric_limits<double>::quiet_NaN();
};

/// One training run of a plan: a row with a seed, its run folder, and its outcome.
struct Trial {
  std::size_t row = 0;
  Values values = {};      ///< values of the settings that the row changes
  std::int64_t seed = -1;  ///< -1: the experiment's own
  std::filesystem::path folder = {};
  std::string model = {},
              experiment = {};  ///< in a table: the name of the row's experiment, and a hash of its content
  RunState state = RunState::missing;
  /// The plan's metric, not scaled, and the loss on valid: for an unfinished trial compared on valid, the best
  /// so far.
  double value = std::numeric_limits<double>::quiet_NaN();
  double loss = std::numeric_limits<double>::quiet_NaN();
  std::int64_t evaluations = 0;  ///< for a trial compared on valid
  double seconds = 0;
  std::int64_t params = 0;                 ///< the model's number of parameters; 0: unknown
  std::int64_t arithmetic = 0;             ///< kArithmetic of the lagtape that trained it; 0: not recorded
  std::string message = {};                ///< why it was stopped, diverged or failed
  std::vector<Problem> problems = {};      ///< the same as reported by its training
  std::string date = {};                   ///< the day it ended, "2026-11-20"; empty before
  std::string machine = {}, version = {};  ///< problems in its training; empty if a table does not need them
  int code = 0;                            ///< exit code of its training by this process, 0 if there was none

  bool has_ended() const { return state != RunState::missing && state != RunState::unfinished; }
  /// Whether it is final. A failed trial is retried, because it may have lacked a permission or a file that
  /// exists now.
  bool is_settled() const { return has_ended() && state != RunState::failed; }
  Score score() const { return {value, loss}; }
};

/// The trials of rows with this many seeds, without outcomes. Every row's first seed comes before any second
/// seed, so an unfinished plan covers all rows.
std::vector<Trial> trials_of(std::span<const std::size_t> rows, std::int64_t first_seed, std::int64_t seeds,
                             const std::function<std::string(std::size_t row, std::int64_t seed)>& folder);

/// Reads a trial's outcome so far. Throws InputError for a link instead of a file, and for a run without the
/// plan's metric.
void look_at(Trial& trial, const Plan& plan);
/// Records next to the folder, which may not even exist, that a trial ended without a result, and why, with its
/// problems.
void end(Trial& trial, RunState state, const std::string& message);
/// Removes the recorded end of a trial that is trained again.
void begin_again(Trial& trial);

/// The problems of the failed trials, each listed once. The item of a place starts with the name of the first
/// trial that has the problem, and the number of the others: "run 0003 and 2 more".
std::vector<Problem> problems_of(std::span<const Trial> trials,
                                 const std::function<std::string(const Trial&)>& name);

/// A trial's best score on valid after each evaluation, from its metrics.jsonl.
std::vector<Score> best_so_far(const Trial& trial, const Plan& plan);

/// Whether a score is better than another. A non-finite value is worse than any other, and ties are decided by
/// the loss.
bool is_better(const Plan& plan, const Score& score, const Score& than);

/// Replaces a plan's results file, one JSON object per line, and removes leftovers of a killed process. The
/// caller holds a lock on the folder, because other processes may train the same plan.
void write_results_file(const std::filesystem::path& file, const std::string& lines, Links links);

/// A row's trials, which differ in their seeds, and statistics of their results. Only finished trials count.
struct Outcome {
  std::vector<const Trial*> trials = {};
  std::vector<double> values = {};  ///< metric * scale of the finished ones
  /// Statistics of the values, NaN if there are none; `deviation` is the sample deviation, NaN for one value.
  double mean = std::numeric_limits<double>::quiet_NaN(), deviation = mean, best = mean;
  double loss = mean;       ///< mean loss on valid
  double seconds = 0;       ///< mean duration of a run
  std::int64_t params = 0;  ///< number of the model's parameters; 0: unknown

  std::int64_t count(RunState state) const;
};

/// The outcomes of this many rows.
std::vector<Outcome> outcomes_of(const Plan& plan, std::size_t rows, std::span<const Trial> trials,
                                 std::span<const Trial> further = {});

}  // namespace lagtape::sweep
