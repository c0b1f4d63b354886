#include "lagtape/tools/sweep/search/search_plan.h"

#include <algorithm>
#include <cmath>
#include <string_view>
#include <unordered_set>
#include <utility>

#include "lagtape/core/error.h"
#include "lagtape/core/io/json_file.h"
#include "lagtape/core/json/json_comments.h"
#include "lagtape/core/json/json_reader.h"
#include "lagtape/core/quote.h"
#include "lagtape/tools/sweep/search/range_check.h"
#include "lagtape/tools/train/experiment.h"
#include "lagtape/tools/train/experiment_paths.h"
#include "lagtape/tools/train/experiment_reader.h"
#include "lagtape/tools/train/json_set.h"
#include "lagtape/tools/train/score/metrics.h"

namespace lagtape::search {

namespace fs = std::filesystem;

const Json* Setting::value_in(const Trial& trial) const {
  const auto found = std::ranges::find(trial.values, pointer, &Values::value_type::first);
  return found == trial.values.end() ? nullptr : &found->second;
}

namespace {

constexpr double kMostPoints = 10'000;
constexpr double kEndOfExact = 0x1p53;  ///< from here on a double does not distinguish all integers
constexpr std::pair<const char*, Setting::Kind> kKinds[] = {{"uniform", Setting::Kind::uniform},
                                                            {"log_uniform", Setting::Kind::log_uniform},
                                                            {"integers", Setting::Kind::integers},
                                                            {"log_integers", Setting::Kind::log_integers},
                                                            {"choices", Setting::Kind::choices}};

void read_bounds(JsonReader& reader, const std::string& key, const Json& bounds, Setting& setting) {
  const auto fits = [&](const Json& bound) {
    return setting.is_whole() ? bound.is_number_integer() : bound.is_number();
  };
  if (!bounds.is_array() || bounds.size() != 2 || !fits(bounds[0]) || !fits(bounds[1])) {
    reader.error(key,
                 text_of("expected the smallest and the largest ", setting.is_whole() ? "integer" : "number",
                         ", as in [1, 8]. Got ", bounds.dump(), "."));
    return;
  }
  setting.low = bounds[0].get<double>();
  setting.high = bounds[1].get<double>();
  if (!(setting.low < setting.high)) reader.error(key, "expected the smaller number first.");
  if (setting.is_whole() && !(setting.low > -kEndOfExact && setting.high < kEndOfExact))
    reader.error(key, text_of("expected integers above -2^53 and below 2^53. Got ", bounds.dump(), "."));
  if (!std::isfinite(setting.high - setting.low))
    reader.error(key,
                 text_of("expected bounds whose difference is a finite number. Got ", bounds.dump(), "."));
  if (setting.is_logarithmic() && !(setting.low > 0))
    reader.error(key, "a logarithmic range begins above 0.");
}

void read_choices(JsonReader& reader, const std::string& key, const Json& choices, Setting& setting) {
  if (!choices.is_array() || choices.empty()) {
    reader.error(key, text_of("expected a list of values. Got ", choices.dump(), "."));
    return;
  }
  for (const Json& choice : choices) setting.choices.push_back(choice);
}

/// Refuses pointers whose parts take a long time to compare.
void check_length(JsonReader& reader, const std::string& key, const std::string& pointer) {
  constexpr std::ptrdiff_t kMostKeys = 100, kLongest = 2000;
  const std::ptrdiff_t keys = std::ranges::count(pointer, '/');
  if (keys > kMostKeys || std::ssize(pointer) > kLongest)
    reader.error(key, text_of("a pointer of ", pointer.size(), " characters and ", keys,
                              " keys, expected at most ", kLongest, " and ", kMostKeys, "."));
}

void read_condition(JsonReader& reader, Setting& setting) {
  const Json& when = reader.raw("when", R"(condition, such as {"/optimizer/type": "sgd"})");
  if (when.is_null()) return;
  if (!when.is_object() || when.size() != 1) {
    reader.error("when", R"(expected one pointer with its values, such as {"/optimizer/type": "sgd"}.)");
    return;
  }
  for (const auto& [pointer, values] : when.items()) {
    if (pointer.empty())
      reader.error("when", "'' is not a pointer to a value, expected one such as '/optimizer/type'.");
    check_length(reader, "when", pointer);
    setting.condition = pointer;
    if (values.is_array()) {
      for (const Json& value : values) setting.condition_values.push_back(value);
    } else {
      setting.condition_values = {values};
    }
  }
}

/// Checks that a range has a number of points on a grid, not too many, and none twice.
void check_points(JsonReader& reader, const Setting& setting) {
  if (setting.has_choices()) {
    std::unordered_set<std::string> known;
    for (const Json& choice : setting.choices)
      if (!known.insert(choice.dump_sorted()).second)
        return reader.error("choices", text_of("a grid would have the value ", shortened(choice.dump(), 100),
                                               " twice, expected different ones."));
    return;
  }
  if (!setting.is_whole()) {
    if (setting.points < 2)
      reader.error("", "a grid needs the number of its values here: \"points\", at least 2.");
    return;
  }
  const double all = setting.high - setting.low + 1;
  if (setting.points == 0 && all > kMostPoints) {
    reader.error("", text_of("a grid over ", static_cast<std::int64_t>(all), " integers, expected at most ",
                             kMostPoints, ": give the number of those that it is to have, \"points\"."));
  }
}

Setting read_setting(const std::string& pointer, const Json& value, Method method, JsonReader& ranges) {
  Setting setting{.pointer = pointer};
  JsonReader reader(value, ranges.pointer_to(pointer), ranges.errors());
  int given = 0;
  for (const auto& [name, kind] : kKinds) {
    const Json& range = reader.raw(name, "values of the setting");
    if (range.is_null()) continue;
    ++given;
    setting.kind = kind;
    if (kind == Setting::Kind::choices) {
      read_choices(reader, name, range, setting);
    } else {
      read_bounds(reader, name, range, setting);
    }
  }
  reader.optional("points", setting.points, between(0, kMostPoints), "number of values on a grid");
  read_condition(reader, setting);
  reader.finish();
  if (!reader.is_object()) return setting;
  if (pointer.empty() || pointer[0] != '/')
    reader.error("", "expected a JSON Pointer into the experiment, such as \"/optimizer/lr\".");
  check_length(reader, "", pointer);
  if (given != 1)
    reader.error("", "expected one of uniform, log_uniform, integers, log_integers and choices.");
  if (method == Method::grid) check_points(reader, setting);
  return setting;
}

void read_ranges(JsonReader& reader, SearchPlan& plan) {
  const Json& ranges = reader.raw("ranges", "the settings that vary");
  if (!ranges.is_object() || ranges.empty()) {
    reader.error("ranges",
                 R"(expected the settings that vary: {"/optimizer/lr": {"log_uniform": [1e-4, 0.1]}}.)");
    return;
  }
  constexpr std::size_t kMostSettings = 20'000;
  if (ranges.size() > kMostSettings)
    return reader.error("ranges", text_of(ranges.size(), " settings, expected at most ", kMostSettings, "."));
  JsonReader places(ranges, reader.pointer_to("ranges"), reader.errors());
  for (const auto& [pointer, value] : ranges.items())
    plan.settings.push_back(read_setting(pointer, value, plan.method, places));
}

constexpr Option kHalvingRows[] = {
    option<&HalvingOptions::first>("first", between(1, 1e6), "evaluations after which a run is judged first"),
    option<&HalvingOptions::factor>("factor", between(2, 100),
                                    "one of so many runs continues, for so many times as long"),
};
constexpr Option kTpeRows[] = {
    option<&TpeOptions::startup>("startup", between(2, 1e5), "number of random draws to begin with"),
    option<&TpeOptions::batch>("batch", between(1, 1000),
                               "number of runs to draw at a time, from the results of all before them"),
};
constexpr Option kAgainRows[] = {
    option<&RepetitionOptions::best>("best", between(0, 1000), "number of runs that are repeated"),
    option<&RepetitionOptions::seeds>("seeds", between(0, 1000), "number of further seeds for each"),
};
constexpr OptionTable kHalving = kHalvingRows, kTpe = kTpeRows, kAgain = kAgainRows;
constexpr Choices kMethods = {
    {"random", Method::random}, {"grid", Method::grid}, {"halving", Method::halving}, {"tpe", Method::tpe}};

void set_runs(SearchPlan& plan) {
  if (plan.method == Method::grid) plan.runs = 0;
}

constexpr Option kPlan[] = {
    option<&SearchPlan::method>(
        "method", kMethods,
        "random draws; a grid of all combinations; random draws of which the hopeless are stopped early "
        "(asynchronous successive halving); or draws near the best runs so far (tree of Parzen estimators)"),
    option<&SearchPlan::runs>("runs", between(1, static_cast<double>(kMostRuns)), "number of runs")
        .after<set_runs>(),
    option<&SearchPlan::halving>("halving", kHalving, "when runs are judged"),
    option<&SearchPlan::tpe>("tpe", kTpe, "how runs are drawn"),
    option<&SearchPlan::again>("again", kAgain, "the best runs once more, with other seeds"),
};

void read_plan(JsonReader& reader, SearchPlan& plan) {
  read_options(reader, kPlan, plan);
  std::int64_t seed = 0;
  reader.optional("seed", seed, at_least(0), "of the draws");
  plan.seed = static_cast<std::uint64_t>(seed);
  const std::string_view method = kMethods.name(static_cast<std::size_t>(plan.method));
  for (const char* owner : {"halving", "tpe"})
    if (reader.has(owner) && owner != method)
      reader.error(owner,
                   text_of("these settings are those of \"method\": \"", owner, "\". Got \"", method, "\"."));
}

void choose_metric(SearchPlan& plan, const Experiment& experiment, JsonErrors& errors) {
  if (plan.metric.empty()) plan.metric = experiment.metrics.empty() ? "loss" : experiment.metrics[0];
  if (plan.metric == "loss") return;
  std::vector<std::string> known = experiment.metrics;
  known.emplace_back("loss");
  if (std::ranges::find(known, plan.metric) == known.end()) {
    errors.add("/metric", unknown_name("metric of the experiment", plan.metric, known));
  } else {
    plan.larger_is_better = metric(plan.metric).larger_is_better;
  }
}

void check_run(const SearchPlan& plan, const ExperimentFile& parsed, const Values& values) try {
  read_experiment(parsed, assignments(plan, values));
} catch (const InputError& error) {
  std::vector<Problem> problems = error.problems();
  problems.insert(
      problems.begin(),
      {.place = {plan.file.string()},
       .rule = Rule::conflict,
       .statement = text_of("a run would have ", shortened(text_of_values(values), 400), ", which fails:")});
  throw InputError(std::move(problems));
}

}  // namespace

SearchPlan read_search(const fs::path& file, std::int64_t runs, const std::vector<std::string>& set,
                       Checked checked) {
  if (runs > kMostRuns)
    throw InputError({.item = "--runs"}, Rule::out_of_range,
                     text_of("a search has at most ", kMostRuns, " runs"), text_of(runs));
  const Json document = read_commented_json(file);
  if (document.contains("model") && !document.contains("ranges")) {
    throw InputError({file.string()}, Rule::wrong_type,
                     "expected the file of a search, with an \"experiment\" and \"ranges\". This is an "
                     "experiment, which `lagtape train` takes.");
  }
  JsonErrors errors;
  JsonReader reader(document, "", errors);
  SearchPlan plan;
  plan.file = file;
  plan.set = set;
  std::string experiment;
  reader.required("experiment", experiment, "experiment file that the search varies, relative to this file");
  reader.optional("row", plan.experiment.row, "row of an experiment file that has several");
  read_plan(reader, plan);
  read_ranges(reader, plan);
  reader.optional("metric", plan.metric,
                  "metric of the validation set that is compared; by default the first of the experiment");
  reader.finish();
  errors.raise(file.string());
  plan.experiment.file = (fs::absolute(file).parent_path() / experiment).lexically_normal();
  if (runs > 0) plan.runs = runs;
  const ExperimentFile parsed = parse_experiment_file(plan.experiment.file, plan.experiment.row);
  const Experiment base = read_experiment(parsed, set);
  choose_metric(plan, base, errors);
  check_ranges(plan, document_of(base), errors);
  errors.raise(file.string());
  Json search = document;
  for (const char* key : {"$schema", "experiment", "row", "runs", "again"}) search.erase(key);
  plan.identity = {{"search", search}, {"experiment", document_of(base)}};
  const std::int64_t most = most_runs(plan);
  if (plan.runs > most) {
    throw InputError({.file = file.string(), .pointer = "/runs"}, Rule::out_of_range,
                     text_of(plan.runs, " runs of ", plan.settings.size(),
                             " settings each, expected at most ", most, " of so many and so long ones."));
  }
  plan.draws = candidates(plan);
  if (std::ssize(plan.draws) > most) {
    throw InputError(
        {.file = file.string(), .pointer = "/ranges"}, Rule::out_of_range,
        text_of("a grid of more than ", most, " combinations, the most that a search of ",
                plan.settings.size(),
                " settings has: give the ranges fewer \"points\", or \"runs\" for the first so many."));
  }
  constexpr std::size_t kSome = 200;
  const std::size_t step = checked == Checked::all ? 1 : plan.draws.size() / kSome + 1;
  for (std::size_t i = 0; i < plan.draws.size(); i += step) check_run(plan, parsed, plan.draws[i]);
  return plan;
}

std::string name_of_setting(const std::string& pointer) {
  std::string name = pointer.substr(1);
  std::ranges::replace(name, '/', '.');
  return name;
}

std::string text_of_values(const Values& values) {
  std::string text;
  for (const auto& [pointer, value] : values) {
    const bool is_plain = value.is_string() && !Json::accept(value.get<std::string>());
    text += text_of(text.empty() ? "" : " ", name_of_setting(pointer), "=",
                    is_plain ? value.get<std::string>() : value.dump());
  }
  return text;
}

std::vector<std::string> assignments(const SearchPlan& plan, const Values& values) {
  std::vector<std::string> result = plan.set;
  for (const auto& [pointer, value] : values) {
    Assignment assignment = parse_assignment(text_of(pointer, "=", value.dump()));
    make_assigned_paths_absolute(assignment.value, assignment.keys, plan.identity.at("experiment"),
                                 fs::absolute(plan.file).parent_path());
    result.push_back(text_of(pointer, "=", assignment.value.dump()));
  }
  return result;
}

}  // namespace lagtape::search
