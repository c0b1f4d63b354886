#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace lagtape {

/// The factor or the summand for each position in a period, from classical decomposition.
struct Seasonality {
  std::vector<double> indices = {};  ///< [period], for position row % period; empty: none
  bool is_factor = true;

  double added(double value, std::int64_t row) const;
  double removed(double value, std::int64_t row) const;
};

/// The seasonality of numbers, if their autocorrelation at the period is significant at the 10 % level
/// (Fiorucci et al. 2016): factors if all numbers and factors are positive, else summands. None for less than
/// two periods.
Seasonality seasonality_of(std::span<const double> past, std::int64_t period);

/// The Theta method's forecast (Assimakopoulos and Nikolopoulos 2000) for the steps after `past`: simple
/// exponential smoothing with half of the past's linear trend as drift (Hyndman and Billah 2003), applied to
/// the deseasonalized numbers. `period` 0: no season. The smoothing parameter minimizes the squared error over
/// the past, which contains at least one number.
std::vector<double> theta_forecast(std::span<const double> past, std::int64_t period, std::int64_t steps);

}  // namespace lagtape
