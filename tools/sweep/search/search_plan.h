#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "lagtape/tools/sweep/trial.h"
#include "lagtape/tools/train/experiment_rows.h"

namespace lagtape::search {

using sweep::RunState;
using sweep::Trial;
using sweep::Values;

/// A setting that a search varies, and the values it may take.
struct Setting {
  enum class Kind : std::uint8_t { uniform, log_uniform, integers, log_integers, choices };

  std::string pointer;  ///< its place in the experiment: "/optimizer/lr"
  Kind kind = Kind::choices;
  double low = 0, high = 0;  ///< both included
  std::vector<Json> choices = {};
  std::int64_t points = 0;  ///< number of values on a grid; 0: all, if their number is finite
  /// The setting exists only if the value at another pointer is one of these; an empty pointer: always.
  std::string condition = {};
  std::vector<Json> condition_values = {};

  bool has_choices() const { return kind == Kind::choices; }
  bool is_whole() const { return kind == Kind::integers || kind == Kind::log_integers; }
  bool is_logarithmic() const { return kind == Kind::log_uniform || kind == Kind::log_integers; }
  /// The value in a run; null if the run lacks the setting.
  const Json* value_in(const Trial& trial) const;
};

constexpr std::int64_t kMostRuns = 100'000;  ///< the maximum for a search

enum class Method : std::uint8_t { random, grid, halving, tpe };

struct HalvingOptions {
  std::int64_t first = 1, factor = 3;  ///< runs are judged after first, first * factor, ... evaluations
};
struct TpeOptions {
  std::int64_t startup = 10, batch = 4;  ///< number of runs drawn at random, and of runs drawn at a time
};
struct RepetitionOptions {
  std::int64_t best = 0, seeds = 0;  ///< the best runs are trained again with this many other seeds each
};

/// A search as described in its file:
///
///     { "experiment": "tau_gru.json",
///       "ranges": { "/optimizer/lr": {"log_uniform": [1e-4, 1e-1]},
///                   "/model/layers/0/tau": {"choices": [5, 10, 20]} },
///       "method": "halving", "runs": 40 }
struct SearchPlan : sweep::Plan {
  std::filesystem::path file = {};
  ExperimentPlace experiment = {};
  std::vector<Setting> settings = {};
  Method method = Method::random;
  std::int64_t runs = 20;  ///< 0: all points of a grid
  std::uint64_t seed = 0;  ///< seed of the draws
  HalvingOptions halving = {};
  TpeOptions tpe = {};
  RepetitionOptions again = {};
  Json identity = {};              ///< everything that must match an existing folder
  std::vector<Values> draws = {};  ///< `candidates`
};

/// The runs to check as experiments: before training all of them, else some, because a check takes time.
enum class Checked : std::uint8_t { all, some };

/// Reads a search file. `runs` replaces its number unless 0; `set` changes the experiment. Throws InputError
/// with all errors in the file, and for a run whose settings the experiment cannot have.
SearchPlan read_search(const std::filesystem::path& file, std::int64_t runs,
                       const std::vector<std::string>& set, Checked checked);

/// The settings of every run, for `tpe` only of the first ones; all differ, so there are fewer than `runs` if
/// the ranges allow fewer. Run i depends only on the plan and i, so every process draws the same settings.
std::vector<Values> candidates(const SearchPlan& plan);

/// The maximum number of runs in a search: fewer than kMostRuns if it has very many settings, whose values
/// every run stores.
std::int64_t most_runs(const SearchPlan& plan);

/// "optimizer.lr" for "/optimizer/lr"
std::string name_of_setting(const std::string& pointer);
/// "optimizer.lr=0.01 model.layers.0.tau=20"
std::string text_of_values(const Values& values);
/// All changes that make a run's experiment, in the form of --set. Paths are relative to the search file's
/// folder.
std::vector<std::string> assignments(const SearchPlan& plan, const Values& values);

}  // namespace lagtape::search
