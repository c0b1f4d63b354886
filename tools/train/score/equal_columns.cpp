#include "lagtape/tools/train/score/equal_columns.h"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace lagtape {

namespace {

constexpr std::int64_t kMostFollowed = 10'000'000;

}  // namespace

EqualColumns::EqualColumns(std::int64_t inputs, std::int64_t targets)
    : classes_(1),
      of_target_(static_cast<std::size_t>(targets)),
      states_(static_cast<std::size_t>(targets), State::unknown) {
  classes_[0].resize(static_cast<std::size_t>(inputs));
  std::iota(classes_[0].begin(), classes_[0].end(), 0);
}

double EqualColumns::value_of(std::int32_t id, std::span<const double> x) const {
  return x[static_cast<std::size_t>(classes_[static_cast<std::size_t>(id)].front())];
}

void EqualColumns::add(std::span<const double> x, std::span<const double> y) {
  if (x.empty() || std::ranges::all_of(y, [](double value) { return std::isnan(value); })) return;
  split(x);
  by_value_.clear();
  for (std::size_t target = 0; target < y.size(); ++target) {
    if (states_[target] == State::followed) {
      follow(target, x, y[target]);
    } else if (states_[target] == State::unknown && !std::isnan(y[target])) {
      begin(target, x, y[target]);
    }
  }
}

/// Splits every class by the values of its inputs; those with the value of the first one stay.
void EqualColumns::split(std::span<const double> x) {
  parts_.clear();
  const std::size_t before = classes_.size();
  for (std::size_t id = 0; id < before; ++id) {
    if (classes_[id].size() < 2) continue;
    const auto value = [&](std::int32_t input) { return x[static_cast<std::size_t>(input)]; };
    const double first = value(classes_[id].front());
    if (std::ranges::all_of(classes_[id], [&](std::int32_t input) { return value(input) == first; }))
      continue;
    auto& [by_value, unordered] = parts_[static_cast<std::int32_t>(id)];
    const Ids inputs = std::exchange(classes_[id], {});
    by_value[first] = static_cast<std::int32_t>(id);
    classes_[id].push_back(inputs.front());
    for (const std::int32_t input : std::span(inputs).subspan(1)) {
      auto part = static_cast<std::int32_t>(classes_.size());
      if (std::isnan(value(input))) {
        unordered.push_back(part);
      } else {
        part = by_value.emplace(value(input), part).first->second;
      }
      if (static_cast<std::size_t>(part) == classes_.size()) classes_.emplace_back();
      classes_[static_cast<std::size_t>(part)].push_back(input);
    }
  }
}

void EqualColumns::follow(std::size_t target, std::span<const double> x, double value) {
  Ids& ids = of_target_[target];
  followed_ -= std::ssize(ids);
  if (!std::isnan(value)) {
    for (std::int32_t& id : ids) {
      if (const auto parts = parts_.find(id); parts != parts_.end()) {
        const auto part = parts->second.first.find(value);
        id = part == parts->second.first.end() ? -1 : part->second;
      } else if (value_of(id, x) != value) {
        id = -1;
      }
    }
    std::erase(ids, -1);
  } else if (!parts_.empty()) {
    const Ids whole = ids;
    for (const std::int32_t id : whole) {
      const auto parts = parts_.find(id);
      if (parts == parts_.end()) continue;
      for (const auto& [number, part] : parts->second.first)
        if (part != id) ids.push_back(part);
      ids.insert(ids.end(), parts->second.second.begin(), parts->second.second.end());
    }
  }
  followed_ += std::ssize(ids);
  if (followed_ <= kMostFollowed) return;
  followed_ -= std::ssize(ids);
  ids = {};
  states_[target] = State::given_up;
  given_up_ += 1;
}

/// Finds the classes that a target equals at its first number.
void EqualColumns::begin(std::size_t target, std::span<const double> x, double value) {
  if (by_value_.empty())
    for (std::size_t id = 0; id < classes_.size(); ++id)
      if (const double one = value_of(static_cast<std::int32_t>(id), x); !std::isnan(one))
        by_value_[one].push_back(static_cast<std::int32_t>(id));
  states_[target] = State::followed;
  const auto found = by_value_.find(value);
  if (found == by_value_.end()) return;
  if (followed_ + std::ssize(found->second) > kMostFollowed) {
    states_[target] = State::given_up;
    given_up_ += 1;
    return;
  }
  of_target_[target] = found->second;
  followed_ += std::ssize(found->second);
}

std::int64_t EqualColumns::count() const {
  std::int64_t count = 0;
  for (const Ids& ids : of_target_)
    for (const std::int32_t id : ids) count += std::ssize(classes_[static_cast<std::size_t>(id)]);
  return count;
}

std::vector<std::pair<std::int64_t, std::int64_t>> EqualColumns::pairs(std::size_t most) const {
  std::unordered_map<std::int32_t, std::vector<std::int64_t>> targets;
  for (std::size_t target = 0; target < of_target_.size(); ++target)
    for (const std::int32_t id : of_target_[target]) targets[id].push_back(static_cast<std::int64_t>(target));
  std::vector<std::pair<std::int32_t, std::int32_t>> inputs;  // and their classes
  for (const auto& [id, equal] : targets)
    for (const std::int32_t input : classes_[static_cast<std::size_t>(id)]) inputs.emplace_back(input, id);
  std::ranges::sort(inputs);
  std::vector<std::pair<std::int64_t, std::int64_t>> pairs;
  for (const auto& [input, id] : inputs)
    for (const std::int64_t target : targets[id]) {
      if (pairs.size() == most) return pairs;
      pairs.emplace_back(input, target);
    }
  return pairs;
}

}  // namespace lagtape
