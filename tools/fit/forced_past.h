#pragma once

#include "lagtape/core/json/json.h"
#include "lagtape/tools/fit/delay_fit.h"

namespace lagtape {

/// The document with equations that read past values of the states in `readings` from smoothing splines of the
/// readings, and the readings with the inputs that this needs. For each such state y there is a state y_data
/// that follows the spline.
struct ForcedPast {
  Json document;
  DelayReadings readings;
};
ForcedPast force_past(const Json& document, const DelayReadings& readings);

}  // namespace lagtape
