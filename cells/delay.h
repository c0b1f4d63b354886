#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "lagtape/cells/initializer.h"

namespace lagtape {

class JsonReader;

/// How far back a cell looks: a fixed time, or a number of steps that is trained. In JSON a number >= 0, or
///
///     { "max": 64, "start": 20, "each": "layer" }
///
/// a delay between 1 and max, for which memory is planned, with its first value (by default `middle_of`), one
/// for the layer; or with "each": "unit" one for every unit of the state, with first values between the two
/// of "start": [1, 64] (by default all of the range).
struct Delay {
  double time = 0;       ///< fixed, >= 0
  std::int64_t max = 0;  ///< above 0: trained, `time` having no meaning
  bool each_unit = false;
  double low = 1, high = 1;  ///< first values

  Delay() = default;
  Delay(double fixed) : time(fixed) {}
  static Delay trained(std::int64_t max, bool each_unit, double low, double high);

  bool is_trained() const { return max > 0; }
  Initializer initializer() const;
};

/// About half of the range 1 .. max, and between two whole numbers: at those the interpolation has kinks.
double middle_of(std::int64_t max);

/// Reads a delay, or a list of them. Notes errors; there is at least one in the result.
std::vector<Delay> read_delays(JsonReader& reader, const std::string& key, const std::string& about);

}  // namespace lagtape
