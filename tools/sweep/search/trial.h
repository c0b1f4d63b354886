#pragma once

#include <cstdint>
#include <filesystem>
#include <limits>
#include <string>
#include <vector>

#include "lagtape/tools/sweep/run.h"
#include "lagtape/tools/sweep/search/search_plan.h"

namespace lagtape::search {

using sweep::RunState;

/// The plan's metric on valid, and the loss, by which runs of the same metric are compared.
struct Score {
  double value = std::numeric_limits<double>::quiet_NaN();
  double loss = std::numeric_limits<double>::quiet_NaN();
};

/// One run of a search: its settings, its folder DIR/runs/NUMBER (NUMBER-seedS when repeated), and what became of it.
struct Trial : sweep::Run {
  std::size_t number = 0;
  Values values;
  double loss = std::numeric_limits<double>::quiet_NaN();  ///< on valid, where `value` is the best so far
  std::int64_t evaluations = 0;

  Score score() const { return {value, loss}; }
};

/// The runs of a search in DIR. Runs whose folder or end is there are looked at.
std::vector<Trial> find_trials(const SearchPlan& plan, const std::filesystem::path& out);
/// The file with the settings of a run that was drawn by the results of others.
std::filesystem::path draw_file(const std::filesystem::path& out, std::size_t number);
/// A run of these settings, which is looked at.
Trial trial_of(const SearchPlan& plan, const std::filesystem::path& out, std::size_t number, Values values);
/// The repetitions of a run with the seeds 1, 2, ... after the experiment's own.
std::vector<Trial> repetitions(const SearchPlan& plan, const Trial& trial, const std::filesystem::path& out);

/// The repetitions that are done, as the folder has them: also of runs that are no longer among the best.
std::vector<Trial> finished_repetitions(const SearchPlan& plan, const std::vector<Trial>& trials,
                                        const std::filesystem::path& out);

/// Reads what became of a run so far.
void look_at(Trial& trial, const SearchPlan& plan);
/// Notes, for good, that a run ended without a result.
void end(Trial& trial, RunState state, const std::string& message);
/// Forgets how a run ended that is trained again.
void begin_again(Trial& trial);

/// The best score after each evaluation of a run, from its metrics.jsonl.
std::vector<Score> best_so_far(const Trial& trial, const SearchPlan& plan);

/// Whether a score is better than another. A value that is not finite is worse than any other, and equal values are
/// compared by the loss.
bool is_better(const SearchPlan& plan, const Score& score, const Score& than);

Json json_of_values(const Values& values);
/// One JSON object a run, as in results.jsonl.
Json json_of(const SearchPlan& plan, const Trial& trial);

}  // namespace lagtape::search
