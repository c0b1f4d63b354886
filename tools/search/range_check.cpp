#include "lagtape/tools/search/range_check.h"

#include <algorithm>
#include <string>
#include <vector>

#include "lagtape/core/error.h"
#include "lagtape/core/quote.h"

namespace lagtape::search {
namespace {

/// A key as a part of a JSON Pointer.
std::string part_of(const std::string& key) {
  std::string part = "/";
  for (const char c : key) part += c == '~' ? "~0" : c == '/' ? "~1" : std::string(1, c);
  return part;
}

std::string range_of(const Setting& setting) { return "/ranges" + part_of(setting.pointer); }

/// Whether a place is another one or lies inside it.
bool is_within(const std::string& pointer, const std::string& outer) {
  return pointer == outer || pointer.starts_with(outer + "/");
}

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

void check_nesting(const SearchPlan& plan, JsonErrors& errors) {
  for (const Setting& inner : plan.settings) {
    for (const Setting& outer : plan.settings) {
      if (&inner == &outer || !is_within(inner.pointer, outer.pointer)) continue;
      errors.add(range_of(inner), text_of("lies in ", quote(outer.pointer),
                                          ", which is searched too: expected a range for one of the two."));
    }
  }
}

void check_conditions(const SearchPlan& plan, const Json& experiment, JsonErrors& errors) {
  std::vector<std::string> known;  // found when they are first needed
  for (const Setting& setting : plan.settings) {
    const std::string& condition = setting.condition;
    if (condition.empty()) continue;
    if (known.empty()) known = known_places(plan, experiment);
    const std::string place = range_of(setting) + "/when";
    if (std::ranges::find(known, condition) == known.end()) {
      const std::string nearest = nearest_name(condition, known);
      errors.add(
          place,
          text_of(
              condition.starts_with('/') ? "the experiment has no " : "no JSON Pointer: ", quote(condition),
              nearest.empty()
                  ? std::string(", expected the pointer to one of its values, such as '/optimizer/type'.")
                  : text_of("; did you mean ", quote(nearest), "?")));
      continue;
    }
    const auto decides = [&](const Setting& other) { return is_within(condition, other.pointer); };
    const auto searched = std::ranges::find_if(plan.settings, decides);
    if (searched == plan.settings.end()) continue;
    if (&*searched == &setting) {
      errors.add(place, "a condition on the setting itself, expected one on another value.");
    } else if (&*searched > &setting) {
      errors.add(
          place,
          text_of("the range of ", quote(searched->pointer),
                  " comes after this one, expected it before: a condition is on values drawn so far."));
    }
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

void check_assignments(const SearchPlan& plan) {
  for (const std::string& assignment : plan.set) {
    for (const Setting& setting : plan.settings) {
      if (!is_within(assigned_place(assignment), setting.pointer)) continue;
      throw InputError(
          text_of("--set ", shortened(assignment, 200), ": ", quote(setting.pointer),
                  " is searched, so that no run would have this value: expected a setting without a "
                  "range in ",
                  plan.file.string(), "."));
    }
  }
}

}  // namespace

void check_ranges(const SearchPlan& plan, const Json& experiment, JsonErrors& errors) {
  check_assignments(plan);
  check_nesting(plan, errors);
  check_conditions(plan, experiment, errors);
}

}  // namespace lagtape::search
