#include "lagtape/tools/search/range_check.h"

#include <algorithm>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_set>
#include <vector>

#include "lagtape/core/error.h"
#include "lagtape/core/quote.h"
#include "lagtape/tools/search/places.h"

namespace lagtape::search {
namespace {

/// A key as a part of a JSON Pointer.
std::string part_of(const std::string& key) {
  std::string part = "/";
  for (const char c : key) part += c == '~' ? "~0" : c == '/' ? "~1" : std::string(1, c);
  return part;
}

std::string range_of(const Setting& setting) { return "/ranges" + part_of(setting.pointer); }

void add_pointers(const Json& value, const std::string& pointer, std::vector<std::string>& all) {
  if (!pointer.empty()) all.push_back(pointer);
  if (value.is_object()) {
    for (const auto& [key, child] : value.items()) add_pointers(child, pointer + part_of(key), all);
  } else if (value.is_array()) {
    for (std::size_t i = 0; i < value.size(); ++i) add_pointers(value[i], text_of(pointer, "/", i), all);
  }
}

/// The places that a condition may name: those of the experiment, and those that the search adds to it.
std::vector<std::string> known_places(const SearchPlan& plan, const Json& experiment) {
  std::vector<std::string> places;
  add_pointers(experiment, "", places);
  for (const Setting& setting : plan.settings) {
    places.push_back(setting.pointer);
    for (const Json& choice : setting.choices) add_pointers(choice, setting.pointer, places);
  }
  return places;
}

Places places_of_settings(const SearchPlan& plan) {
  Places places;
  for (std::size_t i = 0; i < plan.settings.size(); ++i) places.add(plan.settings[i].pointer, i);
  return places;
}

void check_nesting(const SearchPlan& plan, const Places& searched, JsonErrors& errors) {
  for (const Setting& inner : plan.settings) {
    const std::size_t* outer = searched.outside(inner.pointer);
    if (outer == nullptr) continue;
    errors.add(range_of(inner), text_of("lies in ", quote(plan.settings[*outer].pointer),
                                        ", which is searched too: expected a range for one of the two."));
  }
}

/// Conditions of a search: each names a place that exists, whose value is known before the setting's own.
class ConditionCheck {
 public:
  ConditionCheck(const SearchPlan& plan, const Places& searched, const Json& experiment, JsonErrors& errors)
      : plan_(plan), searched_(searched), errors_(errors), names_(known_places(plan, experiment)) {
    for (const std::string& name : names_) known_.insert(name);
  }

  void check(std::size_t number) {
    const Setting& setting = plan_.settings[number];
    const std::string place = range_of(setting) + "/when";
    if (!known_.contains(setting.condition)) {
      errors_.add(place, errors_.is_full() ? "" : unknown(setting.condition));
      return;
    }
    const std::size_t* decides = searched_.around(setting.condition);
    if (decides == nullptr) return;
    if (*decides == number) {
      errors_.add(place, "a condition on the setting itself, expected one on another value.");
    } else if (*decides > number) {
      errors_.add(
          place,
          text_of("the range of ", quote(plan_.settings[*decides].pointer),
                  " comes after this one, expected it before: a condition is on values drawn so far."));
    }
  }

 private:
  std::string unknown(const std::string& condition) const {
    const std::string nearest = nearest_name(condition, names_);
    return text_of(
        condition.starts_with('/') ? "the experiment has no " : "no JSON Pointer: ", quote(condition),
        nearest.empty()
            ? std::string(", expected the pointer to one of its values, such as '/optimizer/type'.")
            : text_of("; did you mean ", quote(nearest), "?"));
  }

  const SearchPlan& plan_;
  const Places& searched_;
  JsonErrors& errors_;
  std::vector<std::string> names_;
  std::unordered_set<std::string_view> known_;
};

void check_conditions(const SearchPlan& plan, const Places& searched, const Json& experiment,
                      JsonErrors& errors) {
  std::optional<ConditionCheck> check;  // made when it is first needed
  for (std::size_t i = 0; i < plan.settings.size(); ++i) {
    if (plan.settings[i].condition.empty()) continue;
    if (!check) check.emplace(plan, searched, experiment, errors);
    check->check(i);
  }
}

/// The place of an assignment of --set, "train.epochs=3" or "/train/epochs=3", as a JSON Pointer.
std::string assigned_place(const std::string& assignment) {
  const std::string given = assignment.substr(0, assignment.find('='));
  if (given.starts_with('/')) return given;
  std::string place = part_of(given);
  std::ranges::replace(place, '.', '/');
  return place;
}

void check_assignments(const SearchPlan& plan, const Places& searched) {
  for (const std::string& assignment : plan.set) {
    const std::size_t* setting = searched.around(assigned_place(assignment));
    if (setting == nullptr) continue;
    throw InputError(
        text_of("--set ", shortened(assignment, 200), ": ", quote(plan.settings[*setting].pointer),
                " is searched, so that no run would have this value: expected a setting without a "
                "range in ",
                plan.file.string(), "."));
  }
}

}  // namespace

void check_ranges(const SearchPlan& plan, const Json& experiment, JsonErrors& errors) {
  const Places searched = places_of_settings(plan);
  check_assignments(plan, searched);
  check_nesting(plan, searched, errors);
  check_conditions(plan, searched, experiment, errors);
}

}  // namespace lagtape::search
