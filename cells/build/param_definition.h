#pragma once

#include <optional>
#include <string>

#include "lagtape/core/json/options.h"
#include "lagtape/core/parameter.h"

namespace lagtape {

/// A named number of a cell, such as a rate or a delay, or several of them: an entry of "params",
///
///     "tau": { "start": 17, "min": 5, "max": 40, "unit": "days" }
struct ParamDefinition {
  double start = 0;
  std::optional<double> min = {}, max = {};
  /// none: logit between two bounds, log above a `min` of 0, otherwise linear
  std::optional<Scale> scale = {};
  bool train = true;
  std::string size = {};  ///< how many there are, as a dimension of equations; empty: one, a scalar
  std::string unit = {};

  Bounds bounds() const;
};

/// The keys of a param given as an object. A number is a start without other keys.
extern const OptionTable kParamOptions;

/// Reads an entry; notes errors.
ParamDefinition read_param(const Json& value, const std::string& pointer, JsonErrors& errors);

Json param_schema();

}  // namespace lagtape
