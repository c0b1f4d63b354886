#pragma once

#include <cmath>
#include <cstdint>
#include <functional>
#include <initializer_list>
#include <string>
#include <vector>

#include "lagtape/core/random.h"
#include "lagtape/core/tape.h"
#include "lagtape/ops/kernels/element_functions.h"

namespace lagtape::test {

/// The range of random inputs: anywhere, away from the kink at zero, above zero, or between whole numbers.
using Domain = ElementDomain;

/// Numbers of magnitude 0.1 .. 1.9 (`real`: -1.9 .. 1.9), the same for the same seed.
inline Tensor random_tensor(const Shape& shape, Dtype dtype, std::uint64_t seed,
                            Domain domain = Domain::real) {
  Tensor tensor(shape, dtype);
  RandomStream stream(seed, 7);
  for (std::int64_t i = 0; i < tensor.numel(); ++i) {
    const double magnitude = 0.1 + 1.8 * stream.next_uniform(), sign = stream.next_uniform() < 0.5 ? -1 : 1;
    const double anywhere = 3.8 * stream.next_uniform() - 1.9;
    const double between = std::floor(anywhere) + 0.1 + 0.4 * magnitude;
    tensor.set(i, domain == Domain::real       ? anywhere
                  : domain == Domain::fraction ? between
                  : domain == Domain::positive ? magnitude
                                               : sign * magnitude);
  }
  return tensor;
}

inline std::vector<double> numbers(const Tensor& tensor) {
  std::vector<double> out;
  for (std::int64_t i = 0; i < tensor.numel(); ++i) out.push_back(tensor.at(i));
  return out;
}

inline Tensor matrix(std::int64_t rows, std::int64_t columns, std::initializer_list<double> values) {
  return Tensor::from({rows, columns}, values, Dtype::f64);
}

/// The message of the exception that `work` throws, or "nothing was thrown".
template <class Work>
std::string message_of(Work work) {
  try {
    work();
  } catch (const std::exception& error) {
    return error.what();
  }
  return "nothing was thrown";
}

}  // namespace lagtape::test
