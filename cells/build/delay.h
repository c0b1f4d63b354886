#pragma once

#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <map>
#include <string>
#include <vector>

#include "lagtape/cells/build/initializer.h"
#include "lagtape/core/parameter.h"
#include "lagtape/ops/recurrence/step/step_program.h"

namespace lagtape {

/// The delay of a cell: a fixed time, or a trained number of steps. In JSON it is a number >=
/// 0, or
///
///     { "max": 64, "start": 20, "each": "layer" }
///
/// for a trained delay between 1 and max, for which memory is planned. By default the layer has one delay,
/// which starts at `middle_of(max)`; with "each": "unit" every unit of the state has its own delay, and they
/// start evenly spread over "start": [1, 64], by default over the whole range.
struct Delay {
  double time = 0;           ///< the fixed delay, >= 0
  std::int64_t max = 0;      ///< the largest value of a trained delay; 0: the delay is fixed
  bool each_unit = false;    ///< every unit trains its own delay
  double low = 1, high = 1;  ///< the range of initial values of a trained delay

  Delay() = default;
  Delay(double fixed) : time(fixed) {}

  // Trained delays for the layer, and for each unit. Throw InputError for a max below 1.
  static Delay trained(std::int64_t max);
  static Delay trained(std::int64_t max, double start);
  static Delay trained_each_unit(std::int64_t max);
  static Delay trained_each_unit(std::int64_t max, double low, double high);

  bool is_trained() const { return max > 0; }
  /// The initial values of a trained delay.
  Initializer initializer() const;
};

/// The delays of a layer: 10, {10, 20}, Delay::trained(64), {10, Delay::trained(64)}.
class Delays {
 public:
  Delays() = default;
  Delays(double fixed) : delays_{fixed} {}
  Delays(const Delay& delay) : delays_{delay} {}
  Delays(std::initializer_list<Delay> delays) : delays_(delays) {}

  void push_back(const Delay& delay) { delays_.push_back(delay); }
  std::size_t size() const { return delays_.size(); }
  const Delay& operator[](std::size_t i) const { return delays_[i]; }
  auto begin() const { return delays_.begin(); }
  auto end() const { return delays_.end(); }

 private:
  std::vector<Delay> delays_;
};

/// About half of the range 1 .. max, and between two integers, where the interpolation has kinks.
double middle_of(std::int64_t max);

/// The range of each weight that is a lag, by name: from 1 for lags of states, from 0 for those of the input.
std::map<std::string, Bounds> bounds_of_lags(const StepProgram& program,
                                             const std::map<std::string, std::int64_t>& of_input);

}  // namespace lagtape
