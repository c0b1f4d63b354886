#pragma once

#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "lagtape/core/json/options.h"
#include "lagtape/core/tensor.h"

namespace lagtape {

/// The classes of targets in arrays: 0..count-1, or numbers, each of which is the class of its position.
struct ArrayClasses {
  std::int64_t count = 0;               ///< 0: targets are not classes, or their number is still to be found
  std::vector<std::string> names = {};  ///< [count], integers as texts; empty: 0..count-1
};

/// Whether the last axis of targets, [N, K] or [N, T, K] with K > 1, is one-hot in every row or, at steps past
/// the end of a sequence, all zeros.
bool are_one_hot(const Tensor& targets);
/// The positions of the ones, -1 where there is none: [N] or [N, T].
Tensor places_of_ones(const Tensor& targets);

/// The classes of numbers, if they are integers and at least two; otherwise empty.
std::optional<ArrayClasses> classes_of(const std::set<double>& values);

/// `"classes"`: their number, or a list of the numbers in the targets.
extern const OptionKindOf<ArrayClasses> kArrayClasses;

}  // namespace lagtape
