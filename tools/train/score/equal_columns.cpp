#include "lagtape/tools/train/score/equal_columns.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <unordered_map>

namespace lagtape {

EqualColumns::EqualColumns(std::int64_t inputs, std::int64_t targets)
    : inputs_(static_cast<std::size_t>(inputs)), unknown_(static_cast<std::size_t>(targets)) {
  std::iota(inputs_.begin(), inputs_.end(), 0);
  std::iota(unknown_.begin(), unknown_.end(), 0);
}

void EqualColumns::add(std::span<const double> x, std::span<const double> y) {
  const auto take_known = [&](Ids& targets) {
    const auto is_missing = [&](std::int32_t target) {
      return std::isnan(y[static_cast<std::size_t>(target)]);
    };
    const auto known = std::stable_partition(targets.begin(), targets.end(), is_missing);
    const Ids taken(known, targets.end());
    targets.erase(known, targets.end());
    return taken;
  };
  const bool is_first = classes_.empty() && given_up_ == 0;
  for (Class& one : std::exchange(classes_, {})) {
    Class known{.inputs = {}, .targets = take_known(one.targets), .has_gaps = one.has_gaps};
    if (one.targets.empty()) {
      known.inputs = std::move(one.inputs);
    } else {
      one.has_gaps = known.has_gaps = true;
      if (!known.targets.empty()) known.inputs = one.inputs;
      classes_.push_back(std::move(one));
    }
    if (!known.targets.empty()) split(std::move(known), x, y);
  }
  if (Ids begun = take_known(unknown_); !begun.empty())
    split({.inputs = inputs_, .targets = std::move(begun), .has_gaps = !is_first}, x, y);
}

/// Keeps the parts of a class that are equal at a step.
void EqualColumns::split(Class whole, std::span<const double> x, std::span<const double> y) {
  if (whole.has_gaps) left_ -= std::ssize(whole.inputs);
  if (whole.has_gaps && left_ < 0) {
    given_up_ += std::ssize(whole.targets);
    return;
  }
  const auto input = [&](std::int32_t i) { return x[static_cast<std::size_t>(i)]; };
  const auto target = [&](std::int32_t i) { return y[static_cast<std::size_t>(i)]; };
  const double value = target(whole.targets.front());
  if (std::ranges::all_of(
          whole.inputs, [&](double number) { return number == value; }, input) &&
      std::ranges::all_of(
          whole.targets, [&](double number) { return number == value; }, target)) {
    classes_.push_back(std::move(whole));
    return;
  }
  std::unordered_map<double, Class> parts;
  for (const std::int32_t i : whole.targets) parts[target(i)].targets.push_back(i);
  for (const std::int32_t i : whole.inputs)
    if (const auto part = parts.find(input(i)); part != parts.end()) part->second.inputs.push_back(i);
  for (auto& [number, part] : parts) {
    part.has_gaps = whole.has_gaps;
    if (!part.inputs.empty()) classes_.push_back(std::move(part));
  }
}

std::int64_t EqualColumns::count() const {
  std::int64_t count = 0;
  for (const Class& one : classes_) count += std::ssize(one.inputs) * std::ssize(one.targets);
  return count;
}

std::vector<std::pair<std::int64_t, std::int64_t>> EqualColumns::pairs(std::size_t most) const {
  std::vector<std::pair<std::int32_t, const Class*>> inputs;
  for (const Class& one : classes_)
    for (const std::int32_t input : one.inputs) inputs.emplace_back(input, &one);
  std::ranges::sort(inputs);
  std::vector<std::pair<std::int64_t, std::int64_t>> pairs;
  for (std::size_t first = 0, end = 0; first < inputs.size() && pairs.size() < most; first = end) {
    Ids targets;  // of one input, in all its classes
    for (; end < inputs.size() && inputs[end].first == inputs[first].first; ++end)
      targets.insert(targets.end(), inputs[end].second->targets.begin(), inputs[end].second->targets.end());
    std::ranges::sort(targets);
    targets.resize(std::min(targets.size(), most - pairs.size()));
    for (const std::int32_t target : targets) pairs.emplace_back(inputs[first].first, target);
  }
  return pairs;
}

}  // namespace lagtape
