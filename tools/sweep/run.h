#pragma once

#include <cstdint>
#include <filesystem>
#include <limits>
#include <string>
#include <vector>

#include "lagtape/core/io/file.h"

namespace lagtape::sweep {

enum class RunState : std::uint8_t { missing, unfinished, done, stopped, diverged, failed };
const char* name_of(RunState state);
/// The state of that name; `missing` for any other text.
RunState state_called(const std::string& name);

/// A training of a plan of many.
struct Run {
  std::filesystem::path folder;
  std::int64_t seed = -1;  ///< -1: the experiment's own
  RunState state = RunState::missing;
  double value = std::numeric_limits<double>::quiet_NaN();  ///< the metric that the plan compares
  double seconds = 0;
  std::string message;  ///< why it was stopped, diverged or failed

  bool has_ended() const { return state != RunState::missing && state != RunState::unfinished; }
};

/// The log of a training, beside its folder.
std::filesystem::path log_file(const Run& run);

/// Replaces the results file of a plan, a JSON object a line, and removes what a killed process left of one. The caller
/// holds a lock of the folder, as other processes may train the same plan.
void write_results_file(const std::filesystem::path& file, const std::string& lines,
                        Links links = Links::followed);

}  // namespace lagtape::sweep
