#pragma once

#include "lagtape/data/generators/delay_series.h"

namespace lagtape {

/// A delayed oscillator of the El Nino-Southern Oscillation; T is the anomaly of the sea surface temperature:
///   T'(t) = T - T^3 - 0.93 T(t - 4.8) (1 - 0.49 T(t - 4.8)^2),   T(t) = T(0) for t <= 0
/// in steps of 0.1. Every T(0) ends on the same periodic orbit. Source and protocol: the tau-GRU paper.
DelaySeries enso();

}  // namespace lagtape
