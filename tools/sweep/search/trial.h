#pragma once

#include <cstdint>
#include <filesystem>
#include <limits>
#include <string>
#include <vector>

#include "lagtape/tools/sweep/search/search_plan.h"

namespace lagtape::search {

enum class TrialState : std::uint8_t { missing, unfinished, done, stopped, diverged, failed };
const char* name_of(TrialState state);

/// One run of a search: its settings, its folder DIR/runs/NUMBER (NUMBER-seedS when repeated), and what became of it.
struct Trial {
  std::size_t number = 0;
  std::int64_t seed = -1;  ///< -1: the experiment's own
  Values values;
  std::filesystem::path folder;
  TrialState state = TrialState::missing;
  double value = std::numeric_limits<double>::quiet_NaN();  ///< the plan's metric on valid, the best so far
  double seconds = 0;
  std::int64_t evaluations = 0;
  std::string message;  ///< why it was stopped, diverged or failed
};

/// The runs of a search in DIR. Runs whose folder or end is there are looked at.
std::vector<Trial> find_trials(const SearchPlan& plan, const std::filesystem::path& out);
/// The repetitions of a run with the seeds 1, 2, ... after the experiment's own.
std::vector<Trial> repetitions(const SearchPlan& plan, const Trial& trial, const std::filesystem::path& out);

/// The repetitions that are done, as the folder has them: also of runs that are no longer among the best.
std::vector<Trial> finished_repetitions(const SearchPlan& plan, const std::vector<Trial>& trials,
                                        const std::filesystem::path& out);

/// Reads what became of a run so far.
void look_at(Trial& trial, const SearchPlan& plan);
/// Notes, for good, that a run ended without a result.
void end(Trial& trial, TrialState state, const std::string& message);
/// Forgets how a run ended that is trained again.
void begin_again(Trial& trial);
bool has_ended(const Trial& trial);

/// The best value of the plan's metric after each evaluation of a run, from its metrics.jsonl.
std::vector<double> best_so_far(const Trial& trial, const SearchPlan& plan);

/// Whether a value is better than another; one that says how good a run is is better than one that does not.
bool is_better(const SearchPlan& plan, double value, double than);

std::filesystem::path log_file(const Trial& trial);

/// One JSON object a run, as in results.jsonl.
Json json_of(const SearchPlan& plan, const Trial& trial);

}  // namespace lagtape::search
