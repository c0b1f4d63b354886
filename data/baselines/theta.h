#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace lagtape {

/// The factor or the summand of each place of a period, as classical decomposition finds them.
struct Seasonality {
  std::vector<double> indices = {};  ///< [period], of the place row % period; empty: there is none
  bool is_factor = true;

  double added(double value, std::int64_t row) const;
  double removed(double value, std::int64_t row) const;
};

/// The seasonality of numbers, if their autocorrelation at the period is significant at the level of 10 % (Fiorucci et al.
/// 2016): factors where all numbers and factors are positive, else summands. None for less than two periods.
Seasonality seasonality_of(std::span<const double> past, std::int64_t period);

/// The forecast of the Theta method (Assimakopoulos and Nikolopoulos 2000) for the steps after the past: simple exponential
/// smoothing with half of the past's linear trend as drift (Hyndman and Billah 2003), of the deseasonalized numbers.
/// `period` 0: no season. The smoothing has the least squared error over the past. The past has one number at least.
std::vector<double> theta_forecast(std::span<const double> past, std::int64_t period, std::int64_t steps);

}  // namespace lagtape
