#pragma once

#include <filesystem>
#include <vector>

#include "lagtape/tools/sweep/runner.h"
#include "lagtape/tools/sweep/search/search_plan.h"

namespace lagtape::search {

/// A search and its results. The row of a trial is the number of its draw.
struct SearchResult {
  std::vector<Trial> trials = {};       ///< in the order of their rows
  std::vector<Trial> repetitions = {};  ///< the best draws with other seeds, one by one
  std::size_t elsewhere = 0;            ///< runs that another process is training
};

/// Trains missing runs, resumes unfinished ones, repeats the best, and writes `results.jsonl` and the link `best`
/// in the folder, with one thread for each run. Several processes, on machines that share the folder, may do so at the
/// same time. Throws Interrupted when it is stopped; everything is saved then.
SearchResult search(const SearchPlan& plan, const std::filesystem::path& out,
                    const sweep::RunnerOptions& options);

/// Throws an error when trainings crashed, or when all runs have ended and none has a result: InputError with their
/// problems when all failed, or when the metric is finite in none, DivergenceError when all diverged, Error otherwise.
void raise_failures(const SearchPlan& plan, const SearchResult& result);

/// The results of a search so far, with its repetitions; nothing is trained.
SearchResult look_at_search(const SearchPlan& plan, const std::filesystem::path& out);

/// The outcome of each draw over its seeds.
std::vector<sweep::Outcome> outcomes_of(const sweep::Plan& plan, const SearchResult& result);

/// The runs with a result, the best first. Runs that were repeated come before others, in the order of the mean over
/// their seeds.
std::vector<const Trial*> ranking(const sweep::Plan& plan, const SearchResult& result);

}  // namespace lagtape::search
