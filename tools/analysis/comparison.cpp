#include "lagtape/tools/analysis/comparison.h"

#include <algorithm>
#include <cmath>
#include <map>

#include "lagtape/core/error.h"
#include "lagtape/core/io/file.h"
#include "lagtape/core/json/json_reader.h"
#include "lagtape/core/text_lines.h"
#include "lagtape/tools/train/metrics.h"
#include "lagtape/tools/train/run_folder.h"

namespace lagtape {

namespace fs = std::filesystem;

namespace {

/// One value of a flattened document: the pointer of a number, a text, ... or of an empty list or object.
using Leaves = std::vector<std::pair<std::string, Json>>;

void add_leaves(const Json& value, const std::string& pointer, Leaves& leaves) {
  if (value.is_object() && !value.empty()) {
    for (const auto& [key, inside] : value.items()) add_leaves(inside, pointer + "/" + key, leaves);
  } else if (value.is_array() && !value.empty()) {
    for (std::size_t i = 0; i < value.size(); ++i) add_leaves(value[i], text_of(pointer, "/", i), leaves);
  } else {
    leaves.emplace_back(pointer, value);
  }
}

struct Member {
  fs::path folder;
  Json experiment;  ///< without name and seed
  std::int64_t seed;
};

Member read_member(const fs::path& folder) {
  const fs::path file = RunFolder(folder).experiment_file();
  if (!fs::exists(file))
    throw InputError(text_of(folder.string(), ": is not a run folder, since it has no experiment.json."));
  Json experiment = parse_json(read_file(file), file.string());
  if (!experiment.is_object()) throw InputError(text_of(file.string(), ": expected an experiment."));
  const std::int64_t seed = experiment.value("seed", std::int64_t{0});
  for (const char* key : {"name", "seed", "$schema"}) experiment.erase(key);
  return {folder, std::move(experiment), seed};
}

/// The pointers at which the documents do not all have the same value, in the order of the first that has them.
std::vector<std::string> differing_in(const std::vector<Member>& members) {
  std::vector<std::string> order;
  std::map<std::string, std::vector<std::string>> values;  // by pointer: a text for each document that has it
  for (const Member& member : members) {
    Leaves leaves;
    add_leaves(member.experiment, "", leaves);
    for (const auto& [pointer, value] : leaves) {
      std::vector<std::string>& seen = values[pointer];
      if (seen.empty()) order.push_back(pointer);
      seen.push_back(value.dump());
    }
  }
  std::erase_if(order, [&](const std::string& pointer) {
    const std::vector<std::string>& seen = values[pointer];
    return seen.size() == members.size() && std::ranges::count(seen, seen[0]) == std::ssize(seen);
  });
  return order;
}

/// The numbers of a finished run by name, in the order of its summary.
std::vector<std::pair<std::string, double>> numbers_of(const fs::path& file) {
  const Json summary = parse_json(read_file(file), file.string());
  std::vector<std::pair<std::string, double>> numbers;
  const auto add = [&](const std::string& name, const Json& value) {
    if (value.is_number()) numbers.emplace_back(name, value.get<double>());
  };
  for (const char* key : {"params", "best_epoch", "seconds"}) add(key, summary.value(key, Json()));
  for (const char* split : {"valid", "test"}) {
    const Json metrics = summary.value(split, Json());
    if (!metrics.is_object()) continue;
    for (const auto& [name, value] : metrics.items()) add(text_of(split, " ", name), value);
  }
  return numbers;
}

void add_numbers(ComparedRuns& group) {
  std::vector<std::string> order;
  std::map<std::string, std::vector<double>> values;
  for (const fs::path& folder : group.folders) {
    const fs::path file = RunFolder(folder).summary_file();
    if (!fs::exists(file)) continue;
    ++group.finished;
    for (const auto& [name, value] : numbers_of(file)) {
      if (values[name].empty()) order.push_back(name);
      values[name].push_back(value);
    }
  }
  for (const std::string& name : order) {
    const std::vector<double>& all = values[name];
    double mean = 0, squares = 0;
    for (const double value : all) mean += value / static_cast<double>(all.size());
    for (const double value : all) squares += (value - mean) * (value - mean);
    const double deviation = all.size() > 1 ? std::sqrt(squares / static_cast<double>(all.size() - 1)) : 0;
    group.numbers.push_back({name, {mean, deviation}});
  }
}

/// A metric of a run's validation set by epoch (or by step, for a training set that never ends).
std::vector<std::pair<double, double>> curve_of(const fs::path& folder, const std::string& metric) {
  std::vector<std::pair<double, double>> curve;
  const fs::path file = RunFolder(folder).metrics_file();
  if (!fs::exists(file)) return curve;
  const std::string text = read_file(file);
  std::string_view rest = text;
  double epoch_before = -1;
  bool epochs = true;
  std::vector<double> steps;
  for (std::string line; take_line(rest, line);) {
    if (!Json::accept(line)) break;  // a line that is being written
    const Json row = Json::parse(line);
    const Json value = row.value("valid_" + metric, Json());
    if (!value.is_number()) continue;
    const double epoch = row.value("epoch", 0.0);
    epochs = epochs && epoch > epoch_before;
    epoch_before = epoch;
    curve.emplace_back(epoch, value.get<double>());
    steps.push_back(row.value("step", 0.0));
  }
  if (!epochs)
    for (std::size_t i = 0; i < curve.size(); ++i) curve[i].first = steps[i];
  return curve;
}

/// The mean over curves, as far as all of them go.
PlotLine mean_of(const std::vector<std::vector<std::pair<double, double>>>& curves, std::string name) {
  PlotLine line{.name = std::move(name), .x = {}, .y = {}};
  std::size_t length = curves.empty() ? 0 : curves[0].size();
  for (const auto& curve : curves) length = std::min(length, curve.size());
  for (std::size_t i = 0; i < length; ++i) {
    double sum = 0;
    for (const auto& curve : curves) sum += curve[i].second;
    line.x.push_back(curves[0][i].first);
    line.y.push_back(sum / static_cast<double>(curves.size()));
  }
  return line;
}

std::string label_of(const Comparison& comparison, const ComparedRuns& group) {
  std::string label;
  for (std::size_t i = 0; i < comparison.differing.size() && i < 3; ++i) {
    const std::string& pointer = comparison.differing[i];
    const Json& value = group.settings[i];
    label += text_of(label.empty() ? "" : ", ", pointer.substr(pointer.rfind('/') + 1), " ",
                     value.is_string()         ? value.get<std::string>()
                     : value.is_null()         ? "-"
                     : value.is_number_float() ? text_of(value.get<double>())
                                               : value.dump());
  }
  return label.empty() ? group.name() : label;
}

}  // namespace

std::string ComparedRuns::name() const {
  const std::string first = folders[0].filename().empty() ? folders[0].parent_path().filename().string()
                                                          : folders[0].filename().string();
  return folders.size() == 1 ? first : text_of(first, " and ", folders.size() - 1, " more");
}

Comparison compare_runs(std::span<const fs::path> folders) {
  std::vector<Member> members;
  for (const fs::path& folder : folders) members.push_back(read_member(folder));
  Comparison comparison{.differing = differing_in(members), .groups = {}};
  std::vector<const Member*> first_of_group;
  for (const Member& member : members) {
    const auto same = [&](const Member* other) { return other->experiment == member.experiment; };
    const auto found = std::ranges::find_if(first_of_group, same);
    const auto group = static_cast<std::size_t>(found - first_of_group.begin());
    if (found == first_of_group.end()) {
      first_of_group.push_back(&member);
      comparison.groups.emplace_back();
      for (const std::string& pointer : comparison.differing) {
        const Json* value = member.experiment.find_pointer(pointer);
        comparison.groups.back().settings.push_back(value != nullptr ? *value : Json());
      }
    }
    comparison.groups[group].folders.push_back(member.folder);
    comparison.groups[group].seeds.push_back(member.seed);
  }
  for (ComparedRuns& group : comparison.groups) add_numbers(group);
  return comparison;
}

std::vector<std::string> common_metrics(const Comparison& comparison) {
  std::vector<std::string> common = metric_names();
  common.insert(common.begin(), "loss");
  for (const auto& [name, value] : comparison.groups.front().numbers) {
    const std::string own = name.starts_with("valid ") ? name.substr(6) : "";
    if (const std::optional<Metric> found = find_metric(own); found && found->of_class >= 0)
      common.push_back(own);
  }
  for (const ComparedRuns& group : comparison.groups) {
    for (const fs::path& folder : group.folders)
      std::erase_if(common, [&](const std::string& metric) { return curve_of(folder, metric).empty(); });
  }
  return common;
}

Plot compared_curves(const Comparison& comparison, const std::string& metric) {
  const bool larger_is_better = metric != "loss" && lagtape::metric(metric).larger_is_better;
  Plot plot{.title = text_of(metric, " on the validation set"),
            .x = {.title = "epoch or update"},
            .y = {.title = metric, .log = !larger_is_better}};
  if (larger_is_better) plot.y.max = 1;  // accuracy, f1, auc and r2 cannot be larger
  for (const ComparedRuns& group : comparison.groups) {
    std::vector<std::vector<std::pair<double, double>>> curves;
    for (const fs::path& folder : group.folders) curves.push_back(curve_of(folder, metric));
    plot.lines.push_back(mean_of(curves, label_of(comparison, group)));
  }
  return plot;
}

Json json_of(const Comparison& comparison) {
  Json groups = Json::array();
  for (const ComparedRuns& group : comparison.groups) {
    Json runs = Json::array(), settings = Json::object(), numbers = Json::object();
    for (const fs::path& folder : group.folders) runs.push_back(folder.string());
    for (std::size_t i = 0; i < comparison.differing.size(); ++i)
      settings[comparison.differing[i]] = group.settings[i];
    for (const auto& [name, value] : group.numbers)
      numbers[name] = {{"mean", value.first}, {"deviation", value.second}};
    groups.push_back({{"runs", runs},
                      {"seeds", group.seeds},
                      {"finished", group.finished},
                      {"settings", settings},
                      {"numbers", numbers}});
  }
  return {{"differing", comparison.differing}, {"groups", groups}};
}

}  // namespace lagtape
