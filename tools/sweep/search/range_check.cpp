#include "lagtape/tools/sweep/search/range_check.h"

#include <algorithm>
#include <set>
#include <string>
#include <vector>

#include "lagtape/core/error.h"
#include "lagtape/core/json/json_pointer.h"
#include "lagtape/core/quote.h"
#include "lagtape/tools/sweep/search/places.h"

namespace lagtape::search {
namespace {

std::string range_of(const Setting& setting) { return "/ranges" + pointer_part(setting.pointer); }

/// Lists the pointers of a document. Very long ones are left out: no condition has one.
void add_pointers(const Json& value, const std::string& pointer, std::vector<std::string>& all) {
  constexpr std::size_t kLongest = 2000;
  if (pointer.size() > kLongest) return;
  if (!pointer.empty()) all.push_back(pointer);
  if (value.is_object()) {
    for (const auto& [key, child] : value.items()) add_pointers(child, pointer + pointer_part(key), all);
  } else if (value.is_array()) {
    for (std::size_t i = 0; i < value.size(); ++i) add_pointers(value[i], text_of(pointer, "/", i), all);
  }
}

/// Says that there is no place that a condition names, with the nearest of the experiment and of what the search adds.
std::string unknown_place(const std::string& condition, const SearchPlan& plan, const Json& experiment) {
  std::vector<std::string> places;
  add_pointers(experiment, "", places);
  for (const Setting& setting : plan.settings) {
    places.push_back(setting.pointer);
    for (const Json& choice : setting.choices) add_pointers(choice, setting.pointer, places);
  }
  const std::string nearest = nearest_name(condition, places);
  return text_of(
      condition.starts_with('/') ? "the experiment has no " : "no JSON Pointer: ", quote(condition),
      nearest.empty() ? ", expected the pointer to one of its values, such as '/optimizer/type'."
                      : text_of("; did you mean ", quote(nearest), "?"));
}

void check_nesting(const SearchPlan& plan, const Places& searched, JsonErrors& errors) {
  for (const Setting& inner : plan.settings) {
    const std::size_t* outer = searched.outside(inner.pointer);
    if (outer == nullptr) continue;
    errors.add(range_of(inner), text_of("lies in ", quote(plan.settings[*outer].pointer),
                                        ", which is searched too: expected a range for one of the two."));
  }
}

/// The rest of a pointer below a setting that it lies in.
std::string below(const Setting& setting, const std::string& pointer) {
  return pointer.substr(setting.pointer.size());
}

/// Whether a place exists in any run. `decides` is the setting that it lies in; null where it lies in none.
bool exists(const std::string& place, const Setting* decides, const Json& experiment) {
  if (place.starts_with('/') && experiment.find_pointer(place) != nullptr) return true;
  if (decides == nullptr) return false;
  const std::string rest = below(*decides, place);
  return rest.empty() || std::ranges::any_of(decides->choices, [&](const Json& choice) {
           return choice.find_pointer(rest) != nullptr;
         });
}

/// Whether any run may have one of the values of a setting's condition.
bool can_hold(const Setting& setting, const Setting* decides, const Json& experiment) {
  const std::vector<Json>& wanted = setting.condition_values;
  const auto is_wanted = [&](const Json* value) {
    return value != nullptr && std::ranges::find(wanted, *value) != wanted.end();
  };
  if (decides == nullptr) return is_wanted(experiment.find_pointer(setting.condition));
  constexpr std::size_t kMostCompared = 1'000'000;  // longer lists are not looked through
  if (decides->choices.size() * wanted.size() > kMostCompared) return true;
  const std::string rest = below(*decides, setting.condition);
  if (decides->has_choices())
    return std::ranges::any_of(decides->choices,
                               [&](const Json& choice) { return is_wanted(choice.find_pointer(rest)); });
  return rest.empty() && std::ranges::any_of(wanted, [&](const Json& value) {
           return value.is_number() && value.get<double>() >= decides->low &&
                  value.get<double>() <= decides->high;
         });
}

/// Checks that each condition names a place that exists, whose value is known before the setting's own.
void check_conditions(const SearchPlan& plan, const Places& searched, const Json& experiment,
                      JsonErrors& errors) {
  std::set<std::string> pointers;
  for (const Setting& setting : plan.settings) pointers.insert(setting.pointer);
  for (std::size_t i = 0; i < plan.settings.size(); ++i) {
    const Setting& setting = plan.settings[i];
    const std::string& condition = setting.condition;
    if (condition.empty()) continue;
    const auto inner = pointers.lower_bound(condition + "/");
    const std::size_t* number = searched.around(condition);
    const Setting* decides = number == nullptr ? nullptr : &plan.settings[*number];
    std::string fault;
    if (inner != pointers.end() && inner->starts_with(condition + "/")) {
      fault = text_of(quote(condition), " contains ", quote(*inner),
                      ", which is searched: expected a condition on that.");
    } else if (!exists(condition, decides, experiment)) {
      fault = errors.is_full() ? "unknown" : unknown_place(condition, plan, experiment);
    } else if (decides != nullptr && *number == i) {
      fault = "a condition on the setting itself, expected one on another value.";
    } else if (decides != nullptr && *number > i) {
      fault = text_of("the range of ", quote(decides->pointer),
                      " comes after this one, expected it before: a condition is on values drawn so far.");
    } else if (!can_hold(setting, decides, experiment)) {
      fault = text_of("holds in no run: ", quote(condition), " never has ",
                      shortened(Json(setting.condition_values).dump(), 100), ".");
    }
    if (!fault.empty()) errors.add(range_of(setting) + "/when", fault);
  }
}

/// The place of an assignment of --set, "train.epochs=3" or "/train/epochs=3", as a JSON Pointer.
std::string assigned_place(const std::string& assignment) {
  const std::string given = assignment.substr(0, assignment.find('='));
  if (given.starts_with('/')) return given;
  std::string place = pointer_part(given);
  std::ranges::replace(place, '.', '/');
  return place;
}

void check_assignments(const SearchPlan& plan, const Places& searched) {
  for (const std::string& assignment : plan.set) {
    const std::size_t* setting = searched.around(assigned_place(assignment));
    if (setting == nullptr) continue;
    throw InputError(Problem{.place = {.item = text_of("--set ", shortened(assignment, 200))},
                             .rule = Rule::conflict,
                             .statement = text_of(quote(plan.settings[*setting].pointer),
                                                  " is searched, so that no run would have this value"),
                             .expected = text_of("a setting without a range in ", plan.file.string())});
  }
}

}  // namespace

void check_ranges(const SearchPlan& plan, const Json& experiment, JsonErrors& errors) {
  Places searched;
  for (std::size_t i = 0; i < plan.settings.size(); ++i) searched.add(plan.settings[i].pointer, i);
  check_assignments(plan, searched);
  check_nesting(plan, searched, errors);
  check_conditions(plan, searched, experiment, errors);
}

}  // namespace lagtape::search
