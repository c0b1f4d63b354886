#pragma once

#include <cstdint>
#include <filesystem>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "lagtape/core/json/json.h"
#include "lagtape/tools/analysis/plot.h"

namespace lagtape {

/// Runs of one experiment that differ in their seeds alone.
struct ComparedRuns {
  std::vector<std::filesystem::path> folders;  ///< in the order given
  std::vector<std::int64_t> seeds;
  std::size_t finished = 0;  ///< how many have a summary.json; the others have no part in the numbers
  /// The value of each of the settings that differ, in their order; null where the experiment does not have it.
  std::vector<Json> settings;
  /// Mean and sample deviation (0 for one run) by name: "params", "best_epoch", "seconds", "valid rmse", "test rmse".
  std::vector<std::pair<std::string, std::pair<double, double>>> numbers;

  std::string name() const;  ///< the folder of the first run, "and 2 more"
};

/// What several runs have in common and where they differ.
struct Comparison {
  std::vector<std::string> differing;  ///< JSON Pointers of the settings that are not the same in all runs
  std::vector<ComparedRuns> groups;
};

/// Compares run folders by their experiment.json and summary.json. Throws InputError for a folder that is no run.
Comparison compare_runs(std::span<const std::filesystem::path> folders);

/// The learning curves of a metric on the validation set ("loss" is the loss), a line a group, the mean of its runs.
/// A metric of which smaller is better has a logarithmic axis.
Plot compared_curves(const Comparison& comparison, const std::string& metric);
/// The metrics on the validation set that all runs have, the loss first.
std::vector<std::string> common_metrics(const Comparison& comparison);

Json json_of(const Comparison& comparison);

}  // namespace lagtape
