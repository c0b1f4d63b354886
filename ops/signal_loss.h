#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>

namespace lagtape {

// The losses esr and dc, which treat a sequence as a signal (Wright and Valimaki 2020, arXiv 1911.08922): sums
// of squared errors divided by the energy of the targets. Pre-emphasis c replaces outputs and targets, and so
// their errors, by a[n] - c a[n-1] before esr squares them. A step counts for esr if the previous step has a
// target too. Sums are in double and in order; each column of a target is a separate signal.

/// Sums over columns of sequences, from which the losses follow.
struct SignalSums {
  double pairs = 0, emphasized = 0;  ///< the steps that count for esr, and the energy of their targets
  double count = 0, energy = 0;      ///< the steps that count for dc, and the energy of their targets
  double error = 0;                  ///< the energy of the pre-emphasized errors
  double bias = 0;                   ///< the square of the sum of a column's errors, divided by its steps

  void add(const SignalSums& other) {
    pairs += other.pairs, emphasized += other.emphasized, count += other.count, energy += other.energy;
    error += other.error, bias += other.bias;
  }
};

/// Factors of `error` and `bias` of the same sums in a loss.
struct SignalFactors {
  double error = 0, bias = 0;
};

/// Targets with a root mean square below 1e-3 are divided by 1e-3 instead: the ratio is undefined for silence.
inline SignalFactors signal_factors(const SignalSums& sums, double esr_weight, double dc_weight) {
  constexpr double kFloor = 1e-6;
  SignalFactors factors;
  if (sums.pairs > 0) factors.error = esr_weight / std::max(sums.emphasized, kFloor * sums.pairs);
  if (sums.count > 0) factors.bias = dc_weight / std::max(sums.energy, kFloor * sums.count);
  return factors;
}

/// Whether step n of a column counts for esr.
template <class T>
bool is_pair(const T* target, std::int64_t n, std::int64_t stride, double pre_emphasis) {
  return !std::isnan(target[n * stride]) &&
         (pre_emphasis == 0 || (n > 0 && !std::isnan(target[(n - 1) * stride])));
}

/// Adds the energies of the targets of one column.
template <class T>
void add_target_energy(SignalSums& sums, const T* target, std::int64_t steps, std::int64_t stride,
                       double pre_emphasis) {
  for (std::int64_t n = 0; n < steps; ++n) {
    const double own = target[n * stride];
    if (std::isnan(own)) continue;
    sums.count += 1;
    sums.energy += own * own;
    if (!is_pair(target, n, stride, pre_emphasis)) continue;
    const double before = pre_emphasis == 0 ? 0 : static_cast<double>(target[(n - 1) * stride]);
    const double emphasized = own - pre_emphasis * before;
    sums.pairs += 1;
    sums.emphasized += emphasized * emphasized;
  }
}

/// Adds the errors of one column, `error_stride` apart; those without a target are not read.
template <class T, class E>
void add_errors(SignalSums& sums, const E* error, std::int64_t error_stride, const T* target,
                std::int64_t steps, std::int64_t stride, double pre_emphasis) {
  double sum = 0, count = 0;
  for (std::int64_t n = 0; n < steps; ++n) {
    if (std::isnan(target[n * stride])) continue;
    const double own = error[n * error_stride];
    sum += own;
    count += 1;
    if (!is_pair(target, n, stride, pre_emphasis)) continue;
    const double before = pre_emphasis == 0 ? 0 : static_cast<double>(error[(n - 1) * error_stride]);
    const double emphasized = own - pre_emphasis * before;
    sums.error += emphasized * emphasized;
  }
  if (count > 0) sums.bias += sum * sum / count;
}

/// Replaces the errors of one column by the gradient of factors.error * error + factors.bias * bias.
template <class T>
void errors_to_gradient(T* error, const T* target, std::int64_t steps, std::int64_t stride,
                        double pre_emphasis, const SignalFactors& factors) {
  double sum = 0, count = 0;
  for (std::int64_t n = 0; n < steps; ++n) {
    if (std::isnan(target[n * stride])) continue;
    sum += error[n * stride];
    count += 1;
  }
  const double mean_slope = count > 0 ? 2 * factors.bias * sum / count : 0;
  const auto emphasized = [&](std::int64_t n, double before) {
    if (n >= steps || !is_pair(target, n, stride, pre_emphasis)) return 0.0;
    return static_cast<double>(error[n * stride]) - pre_emphasis * before;
  };
  double here = emphasized(0, 0);
  for (std::int64_t n = 0; n < steps; ++n) {
    const double after = pre_emphasis == 0 ? 0 : emphasized(n + 1, error[n * stride]);
    const double slope = 2 * factors.error * (here - pre_emphasis * after) + mean_slope;
    here = pre_emphasis == 0 ? emphasized(n + 1, 0) : after;
    error[n * stride] = std::isnan(target[n * stride]) ? T(0) : static_cast<T>(slope);
  }
}

}  // namespace lagtape
