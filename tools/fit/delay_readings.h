#pragma once

#include <string>
#include <utility>
#include <vector>

#include "lagtape/cells/models/delay_equations.h"
#include "lagtape/core/json/options.h"

namespace lagtape {

/// "data" of equations in continuous time.
struct DelayData {
  std::string task = "series", time = "t";
  double begin = 0;  ///< the time that becomes t = 0; rows up to it are the histories of observed states
  std::vector<std::string> paths, targets, inputs;
};
extern const OptionTable kDelayDataOptions;

/// Readings of states at times, from one file.
struct DelayReadings {
  std::vector<double> times;  ///< ascending, without duplicates
  std::vector<std::string> states;
  std::vector<std::vector<double>> values;           ///< [states][times]; NaN: missing
  std::vector<std::vector<double>> deviations = {};  ///< [states][times]; empty: all equal
  DelayInput input = {};
  std::vector<double> past_times = {};         ///< up to 0
  std::vector<std::vector<double>> past = {};  ///< [states][past times]
};

/// The existing readings of a state: times and values.
std::pair<std::vector<double>, std::vector<double>> known_readings(const DelayReadings& readings,
                                                                   std::size_t state);

/// Reads a table; if some history is observed, its rows up to t = 0 are the past. For each target, `deviations`
/// contains a number or a column name; it may be empty. Throws InputError.
DelayReadings read_delay_readings(const std::string& file, const DelayData& data,
                                  const std::vector<std::string>& deviations, bool has_past);

}  // namespace lagtape
