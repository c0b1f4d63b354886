#pragma once

#include <filesystem>
#include <vector>

#include "lagtape/tools/sweep/runner.h"
#include "lagtape/tools/sweep/search/search_plan.h"

namespace lagtape::search {

/// A search and its results. A trial's row is the number of its draw.
struct SearchResult {
  std::vector<Trial> trials = {};       ///< in row order
  std::vector<Trial> repetitions = {};  ///< the best draws repeated with other seeds
  std::size_t elsewhere = 0;            ///< runs that another process is training
};

/// Trains missing runs, resumes unfinished ones, repeats the best, and writes `results.jsonl` and the link
/// `best` in the folder, with one thread per run. Several processes, on machines that share the folder, may do
/// so at the same time. Throws Interrupted if it is stopped; everything has been saved by then.
SearchResult search(const SearchPlan& plan, const std::filesystem::path& out,
                    const sweep::RunnerOptions& options);

/// Throws an error if training runs crashed, or if all runs have ended and none has a result: InputError with
/// their problems if all failed, or if the metric is finite in none, DivergenceError if all diverged, Error
/// otherwise.
void raise_failures(const SearchPlan& plan, const SearchResult& result);

/// The results of a search so far, with its repetitions; nothing is trained.
SearchResult look_at_search(const SearchPlan& plan, const std::filesystem::path& out);

/// The outcome of each draw over its seeds.
std::vector<sweep::Outcome> outcomes_of(const sweep::Plan& plan, const SearchResult& result);

/// The runs with a result, best first. Repeated runs come before others, ordered by the mean over their seeds.
std::vector<const Trial*> ranking(const sweep::Plan& plan, const SearchResult& result);

}  // namespace lagtape::search
