#pragma once

#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "lagtape/core/json/options.h"
#include "lagtape/core/tensor.h"

namespace lagtape {

/// The classes of targets in arrays: 0..count-1, or numbers of which each is a class by its place.
struct ArrayClasses {
  std::int64_t count = 0;               ///< 0: targets are not classes, or these are to be found
  std::vector<std::string> names = {};  ///< [count], whole numbers as texts; empty: 0..count-1
};

/// Whether the last axis of targets, [N, K] or [N, T, K] with K > 1, has a 1 among zeros in every row, or, at a step behind
/// the end of its sequence, zeros alone.
bool are_one_hot(const Tensor& targets);
/// The places of the ones, -1 where there is none: [N] or [N, T].
Tensor places_of_ones(const Tensor& targets);

/// The classes of numbers, if they are whole and at least two; nothing for others.
std::optional<ArrayClasses> classes_of(const std::set<double>& values);

/// `"classes"`: their number, or a list of their numbers in the targets.
extern const OptionKindOf<ArrayClasses> kArrayClasses;

}  // namespace lagtape
