#include "lagtape/tools/sweep/search/range_check.h"

#include <algorithm>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_set>
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
      : plan_(plan),
        searched_(searched),
        experiment_(experiment),
        errors_(errors),
        names_(known_places(plan, experiment)) {
    for (const std::string& name : names_) known_.insert(name);
    for (const Setting& setting : plan.settings) sorted_.push_back(&setting);
    std::ranges::sort(sorted_, {}, &Setting::pointer);
  }

  void check(std::size_t number) {
    const Setting& setting = plan_.settings[number];
    const std::string place = range_of(setting) + "/when";
    if (const Setting* inner = inside(setting.condition)) {
      errors_.add(place, text_of(quote(setting.condition), " contains ", quote(inner->pointer),
                                 ", which is searched: expected a condition on that."));
      return;
    }
    if (!known_.contains(setting.condition)) {
      errors_.add(place, errors_.is_full() ? "" : unknown(setting.condition));
      return;
    }
    const std::size_t* decides = searched_.around(setting.condition);
    if (decides != nullptr && *decides == number) {
      errors_.add(place, "a condition on the setting itself, expected one on another value.");
    } else if (decides != nullptr && *decides > number) {
      errors_.add(
          place,
          text_of("the range of ", quote(plan_.settings[*decides].pointer),
                  " comes after this one, expected it before: a condition is on values drawn so far."));
    } else if (!can_hold(setting, decides != nullptr ? &plan_.settings[*decides] : nullptr)) {
      errors_.add(place, text_of("holds in no run: ", quote(setting.condition), " never has ",
                                 shortened(Json(setting.condition_values).dump(), 100), "."));
    }
  }

 private:
  /// A setting that lies inside a place; null when there is none.
  const Setting* inside(const std::string& place) const {
    const auto after = std::ranges::lower_bound(sorted_, place + "/", {}, &Setting::pointer);
    return after != sorted_.end() && (*after)->pointer.starts_with(place + "/") ? *after : nullptr;
  }

  /// Whether any run may have one of a condition's values. `decides` is the setting that the value is of or in; null
  /// where the experiment has it.
  bool can_hold(const Setting& setting, const Setting* decides) const {
    const auto is_wanted = [&](const Json* value) {
      return value != nullptr &&
             std::ranges::find(setting.condition_values, *value) != setting.condition_values.end();
    };
    constexpr std::size_t kMostCompared = 1'000'000;  // longer lists are not looked through
    if (decides != nullptr && decides->choices.size() * setting.condition_values.size() > kMostCompared)
      return true;
    if (decides == nullptr) return is_wanted(experiment_.find_pointer(setting.condition));
    const std::string rest = setting.condition.substr(decides->pointer.size());
    if (decides->kind == Setting::Kind::choices)
      return std::ranges::any_of(decides->choices,
                                 [&](const Json& choice) { return is_wanted(choice.find_pointer(rest)); });
    return rest.empty() && std::ranges::any_of(setting.condition_values, [&](const Json& value) {
             return value.is_number() && value.get<double>() >= decides->low &&
                    value.get<double>() <= decides->high;
           });
  }

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
  const Json& experiment_;
  JsonErrors& errors_;
  std::vector<std::string> names_;
  std::unordered_set<std::string_view> known_;
  std::vector<const Setting*> sorted_;  // by their pointers
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
  std::string place = pointer_part(given);
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
