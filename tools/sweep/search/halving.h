#pragma once

#include <map>
#include <string>
#include <vector>

#include "lagtape/tools/sweep/search/search_plan.h"

namespace lagtape::search {

/// Asynchronous successive halving (Li et al. 2020, "A System for Massively Parallel Hyperparameter Tuning"),
/// in the form that stops runs: after first, first * factor, first * factor^2, ... evaluations a run continues
/// if it is among the best 1 / factor of the runs that have come that far, or if fewer than `factor` have.
class Halving {
 public:
  explicit Halving(const SearchPlan& plan) : plan_(plan) {}

  /// Why a run should be stopped now; empty if it continues.
  std::string verdict(const Trial& trial, const std::vector<Trial>& all);

 private:
  /// A run's best score after this many evaluations; empty if it has fewer.
  const sweep::Score* score_after(const Trial& trial, std::int64_t evaluations);

  const SearchPlan& plan_;
  std::map<std::size_t, std::int64_t> judged_;  // by run: the evaluations of its last verdict
  std::map<std::size_t, std::vector<sweep::Score>> scores_ = {};  // by run: best_so_far when it was last read
};

/// A note that all runs had the same metric when they were first judged, so their losses decided, or nothing
/// did. Empty if the metric differed.
std::string first_rung_note(const SearchPlan& plan, const std::vector<Trial>& trials);

}  // namespace lagtape::search
