#pragma once

#include <span>
#include <string>
#include <vector>

#include "lagtape/core/tensor.h"

namespace lagtape::test {

/// The largest |actual - expected| of two tensors, relative to the largest |entry| of `expected`, and where
/// it is. Infinite when dtype or shape differ, when an entry is not finite, and when zeros were expected and
/// something else is there.
struct Difference {
  double relative = 0;
  std::string where;
};
Difference difference(const Tensor& actual, const Tensor& expected, double floor = 0);

/// The first element whose bits differ, both numbers printed exactly; empty when all bits are the same.
std::string bit_difference(const Tensor& actual, const Tensor& expected);

/// The results of a computation: its value, its gradients, its final windows.
struct NamedTensor {
  std::string name;
  Tensor tensor;
};
using Results = std::vector<NamedTensor>;

/// The result of that name. Throws Error when there is none.
const Tensor& named(const Results& results, const std::string& name);

/// A description of the differences, a line for each tensor; empty when the results have the same names and
/// nothing differs by more than `tolerance`, or in a bit. Gradients "d .." are measured by at least a
/// hundredth of the largest entry of all results: where terms of that size cancel, only their rounding is
/// left.
std::string differences(const Results& actual, const Results& expected, double tolerance);
std::string bit_differences(const Results& actual, const Results& expected);

}  // namespace lagtape::test
