#pragma once

#include <algorithm>
#include <string>
#include <utility>

#include "lagtape/tools/sweep/search/places.h"
#include "lagtape/tools/sweep/search/search_plan.h"

namespace lagtape::search {

/// The value of a range at a position from 0 to 1. `stretch`: how far integers reach beyond their ends.
Json value_at(const Setting& setting, double place, double stretch);

/// The stretch for integers in draws: each has the same width, from half below it to half above.
constexpr double kEvenly = 0.5;

/// The values drawn so far, on which the conditions of later settings depend.
class Draw {
 public:
  explicit Draw(const Json& experiment) : experiment_(experiment) {}

  void push(const Setting& setting, Json value) {
    places_.add(setting.pointer, values_.size());
    values_.emplace_back(setting.pointer, std::move(value));
  }
  void pop() {
    places_.remove(values_.back().first);
    values_.pop_back();
  }
  bool holds_for(const Setting& setting) const {
    if (setting.condition.empty()) return true;
    const Json* value = value_at(setting.condition);
    return value != nullptr &&
           std::ranges::find(setting.condition_values, *value) != setting.condition_values.end();
  }
  const Values& values() const { return values_; }

 private:
  const Json* value_at(const std::string& pointer) const {
    const std::size_t* drawn = places_.around(pointer);
    if (drawn == nullptr) return experiment_.find_pointer(pointer);
    const auto& [place, value] = values_[*drawn];
    return value.find_pointer(pointer.substr(place.size()));
  }

  const Json& experiment_;
  Values values_;
  Places places_;
};

/// The settings of a run that depends on no other run; further attempts return different ones.
Values random_draw(const SearchPlan& plan, std::uint64_t run, std::uint64_t attempt);

}  // namespace lagtape::search
