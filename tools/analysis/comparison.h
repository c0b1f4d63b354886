#pragma once

#include <cstdint>
#include <filesystem>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "lagtape/core/json/json.h"

namespace lagtape {

/// Runs of one experiment that differ only in their seeds.
struct ComparedRuns {
  std::vector<std::filesystem::path> folders;  ///< in the order given
  std::vector<std::int64_t> seeds;
  /// the number of runs with a summary.json; the others are not included in the numbers
  std::size_t finished = 0;
  /// The value of each differing setting, in order; null if the experiment lacks it.
  std::vector<Json> settings;
  /// Mean and sample deviation (0 for one run) by name: "params", "best_epoch", "seconds", "valid rmse", "test rmse".
  std::vector<std::pair<std::string, std::pair<double, double>>> numbers;

  std::string name() const;  ///< the folder of the first run, "and 2 more"
  /// The numbers in a given order of names; null if the group lacks one.
  std::vector<const std::pair<double, double>*> numbers_at(const std::vector<std::string>& names) const;
};

/// The mean and the sample deviation, which is 0 for a single number.
std::pair<double, double> mean_and_deviation(const std::vector<double>& values);

/// The settings that several runs share, and those that differ between them.
struct Comparison {
  std::vector<std::string> differing;  ///< JSON Pointers of the settings that differ between runs
  std::vector<ComparedRuns> groups;
};

/// Compares run folders by their experiment.json and summary.json. Paths in their settings are relative to the
/// folder of the first run. Throws InputError for a folder that is not a run.
Comparison compare_runs(std::span<const std::filesystem::path> folders);

/// The names of all groups' numbers, in order of first appearance.
std::vector<std::string> names_of_numbers(const Comparison& comparison);

Json json_of(const Comparison& comparison);

}  // namespace lagtape
