#include "lagtape/tools/fit/fit_section.h"

#include <algorithm>

#include "lagtape/core/error.h"
#include "lagtape/core/json/json_pointer.h"
#include "lagtape/core/quote.h"

namespace lagtape {
namespace {

constexpr Option kFitRows[] = {
    option<&FitSection::force>(
        "force", Choices{"none", "data"},
        "\"data\": a first fit reads past values from smoothing splines of the readings"),
    option<&FitSection::grow>("grow",
                              "horizons of first fits, each from the result of the one before; or how many"),
    option<&FitSection::shoot>("shoot", "parts that begin from their own states in first fits; 0: none"),
    option<&FitSection::only>("only", "the fitted params; by default all that are trained"),
    option<&FitSection::own>("own", "params of which each file, or each series of a model, has its own"),
    option<&FitSection::deviation>(
        "deviation", "standard deviations of the readings: a column or a number, or one for each target"),
    option<&FitSection::profile>("profile", "params whose intervals come from fits of all others along them"),
    option<&FitSection::adam>("adam", at_least(0),
                              "steps of Adam before, for many numbers from a rough start"),
    option<&FitSection::lr>("lr", above(0), "step of Adam on the params' scales"),
};

/// The names of "target" of the data.
std::vector<std::string> targets_of(const Json& document) {
  const Json& given = value_at(document, "/data/target");
  std::vector<std::string> names;
  for (const Json& name : given.is_array() ? given : Json::array({given}))
    if (name.is_string()) names.push_back(name.get<std::string>());
  return names;
}

/// "fit" with lists where short forms are allowed.
Json with_long_forms(Json section, const std::vector<std::string>& targets, JsonErrors& errors) {
  if (!section.is_object()) return section;
  for (const char* key : {"own", "only", "profile"})
    if (section.contains(key) && section[key].is_string()) section[key] = Json::array({section[key]});
  if (section.contains("grow")) {
    const Json& grow = section["grow"];
    if (grow.is_boolean()) section["grow"] = grow.get<bool>() ? Json::array({-4}) : Json::array();
    if (grow.is_number()) section["grow"] = Json::array({-grow.get<double>()});
  }
  if (!section.contains("deviation")) return section;
  const auto text = [](const Json& one) { return one.is_number() ? Json(one.dump()) : one; };
  Json& deviation = section["deviation"];
  if (deviation == "") deviation = Json::array();
  if (deviation.is_object()) {
    Json list = Json::array();
    for (const auto& [name, one] : deviation.items())
      if (std::ranges::find(targets, name) == targets.end())
        errors.add("/fit/deviation", InputError(unknown_name("target", name, targets)));
    for (const std::string& target : targets) {
      if (deviation.contains(target))
        list.push_back(text(deviation[target]));
      else
        errors.add("/fit/deviation",
                   text_of("has no deviation of '", target, "': a column's name or a number."));
    }
    deviation = list;
  } else if (deviation.is_array()) {
    for (Json& one : deviation) one = text(one);
  } else {
    deviation = Json::array({text(deviation)});
  }
  return section;
}

}  // namespace

constinit const OptionTable kFitOptions = kFitRows;

FitSection read_fit_section(const ExperimentFile& file) {
  JsonErrors errors;
  const std::vector<std::string> targets = targets_of(file.document);
  const Json given = with_long_forms(file.document.value("fit", Json()), targets, errors);
  FitSection section = read_section<FitSection>(given, "/fit", kFitOptions, errors);
  if (section.deviation.size() > 1 && section.deviation.size() != targets.size())
    errors.add("/fit/deviation", "one for all targets, or one for each of them.");
  errors.raise(file.where);
  return section;
}

}  // namespace lagtape
