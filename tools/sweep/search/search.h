#pragma once

#include <filesystem>
#include <functional>
#include <vector>

#include "lagtape/tools/sweep/search/search_plan.h"
#include "lagtape/tools/sweep/search/trial.h"

namespace lagtape::search {

struct SearchOptions {
  int jobs = 1;  ///< number of parallel trainings, each with one thread
  std::function<bool()> stop_requested = [] { return false; };
  /// Called when a run has ended, with the number of runs that have and their total.
  std::function<void(const Trial&, std::size_t ended, std::size_t of)> ended = {};
};

/// A search and what has come out of it.
struct SearchResult {
  std::vector<Trial> trials = {};          ///< in the order of their numbers
  std::vector<Trial> repetitions = {};     ///< the best draw with other seeds, one by one
  std::size_t elsewhere = 0;               ///< runs that another process is training
  std::vector<std::string> failures = {};  ///< trainings that ended without a result; they are tried again
};

/// Trains what is missing, resumes what is unfinished, repeats the best, and writes `results.jsonl` and the link `best`
/// in the folder. Several processes, on machines that share the folder, may do so at the same time: each run is locked
/// by the one that trains it. Throws Interrupted when it is stopped; everything is saved then.
SearchResult search(const SearchPlan& plan, const std::filesystem::path& out, const SearchOptions& options);

/// Throws an error when trainings failed, or when all runs have ended and none has a result: InputError when all failed,
/// or when the metric says nothing of any, DivergenceError when all diverged, Error otherwise.
void raise_failures(const SearchPlan& plan, const SearchResult& result);

/// What has come out of a search so far, with its repetitions; nothing is trained.
SearchResult look_at_search(const SearchPlan& plan, const std::filesystem::path& out);

/// The runs with a result, the best first. Runs that were repeated come before others, in the order of the mean over
/// their seeds.
std::vector<const Trial*> ranking(const SearchPlan& plan, const SearchResult& result);
/// The results on valid of a run and of its repetitions.
std::vector<double> values_of(const SearchResult& result, const Trial& trial,
                              double Trial::*number = &Trial::value);

}  // namespace lagtape::search
