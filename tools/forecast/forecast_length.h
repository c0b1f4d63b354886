#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "lagtape/core/problem.h"
#include "lagtape/data/time/frequency.h"

namespace lagtape {

struct Panel;

/// How far a forecast reaches: a number of steps, or a length of time in steps of the rows' frequency.
class ForecastLength {
 public:
  ForecastLength(std::int64_t steps = 1) : steps_(steps) {}
  /// Reads "48", "2d", "90min" or "3 months". Throws InputError with the place for other texts and for less than one step.
  static ForecastLength parse(std::string_view text, const Place& place);

  /// A day has 24 hours here. Throws InputError for a length that is not a whole number of the panel's steps,
  /// reporting both.
  std::int64_t in_steps(const Panel& panel) const;

 private:
  std::int64_t steps_;
  std::optional<Frequency> length_ = {};
  std::string text_ = {};  ///< unit of the length
  Place place_ = {};
};

}  // namespace lagtape
