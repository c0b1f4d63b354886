#include "lagtape/tools/analysis/comparison.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <set>
#include <unordered_map>

#include "lagtape/core/error.h"
#include "lagtape/core/io/json_file.h"
#include "lagtape/core/json/json_pointer.h"
#include "lagtape/core/json/json_reader.h"
#include "lagtape/tools/train/experiment_paths.h"
#include "lagtape/tools/train/run_folder.h"

namespace lagtape {

namespace fs = std::filesystem;

namespace {

/// Calls `visit(pointer, value)` for every number, text, ... and every empty list or object inside a document.
template <class Visit>
void visit_leaves(const Json& value, const std::string& pointer, const Visit& visit) {
  const bool is_leaf = value.empty() || (!value.is_object() && !value.is_array());
  if (is_leaf && !pointer.empty()) visit(pointer, value);
  for (const auto& [key, inside] : value.items()) visit_leaves(inside, pointer + pointer_part(key), visit);
  if (value.is_array())
    for (std::size_t i = 0; i < value.size(); ++i) visit_leaves(value[i], text_of(pointer, "/", i), visit);
}

struct Member {
  fs::path folder;
  Json experiment;  ///< without name and seed
  std::int64_t seed;
};

Member read_member(const fs::path& folder) {
  const fs::path file = RunFolder(folder).experiment_file();
  if (!fs::exists(file))
    throw InputError({folder.string()}, Rule::missing,
                     "is not a run folder, since it has no experiment.json.");
  Json experiment = read_json(file);
  if (!experiment.is_object()) throw unexpected({file.string()}, Rule::wrong_type, "an experiment");
  make_paths_absolute(experiment,
                      folder);  // the same file is not a difference between runs in different folders
  std::int64_t seed = 0;
  JsonErrors errors;
  JsonReader(experiment, "", errors).optional("seed", seed, {}, "of every random draw");
  errors.raise(file.string());
  for (const char* key : {"name", "seed", "$schema"}) experiment.erase(key);
  return {folder, std::move(experiment), seed};
}

/// The pointers at which the documents do not all have the same value, in the order of the first that has them. A run's
/// experiment.json has every option with its default, so that the leaves of the documents are the options. The option
/// tables are not walked instead: runs of other versions, with keys that this one does not know, are compared as well, and
/// to read an experiment takes the data that it names.
std::vector<std::string> differing_in(const std::vector<Member>& members) {
  std::vector<std::string> order;
  std::map<std::string, std::vector<std::string>> values;  // by pointer: a text for each document that has it
  for (const Member& member : members) {
    visit_leaves(member.experiment, "", [&](const std::string& pointer, const Json& value) {
      std::vector<std::string>& seen = values[pointer];
      if (seen.empty()) order.push_back(pointer);
      seen.push_back(value.dump());
    });
  }
  std::erase_if(order, [&](const std::string& pointer) {
    const std::vector<std::string>& seen = values[pointer];
    return seen.size() == members.size() && std::ranges::count(seen, seen[0]) == std::ssize(seen);
  });
  return order;
}

/// The numbers of a finished run by name, in the order of its summary.
std::vector<std::pair<std::string, double>> numbers_of(const fs::path& file) {
  const Json summary = read_json(file);
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
  for (const std::string& name : order) group.numbers.emplace_back(name, mean_and_deviation(values[name]));
}

}  // namespace

std::pair<double, double> mean_and_deviation(const std::vector<double>& values) {
  double mean = 0, squares = 0;
  const auto n = static_cast<double>(values.size());
  for (const double value : values) mean += value / n;
  for (const double value : values) squares += (value - mean) * (value - mean);
  return {mean, n > 1 ? std::sqrt(squares / (n - 1)) : 0};
}

std::string ComparedRuns::name() const {
  const std::string first = folders[0].filename().empty() ? folders[0].parent_path().filename().string()
                                                          : folders[0].filename().string();
  return folders.size() == 1 ? first : text_of(first, " and ", folders.size() - 1, " more");
}

std::vector<const std::pair<double, double>*> ComparedRuns::numbers_at(
    const std::vector<std::string>& names) const {
  std::unordered_map<std::string_view, const std::pair<double, double>*> by_name;
  for (const auto& [name, value] : numbers) by_name.emplace(name, &value);
  std::vector<const std::pair<double, double>*> found;
  for (const std::string& name : names) {
    const auto place = by_name.find(name);
    found.push_back(place == by_name.end() ? nullptr : place->second);
  }
  return found;
}

std::vector<std::string> names_of_numbers(const Comparison& comparison) {
  std::vector<std::string> names;
  std::set<std::string> known;
  for (const ComparedRuns& group : comparison.groups)
    for (const auto& [name, value] : group.numbers)
      if (known.insert(name).second) names.push_back(name);
  return names;
}

Comparison compare_runs(std::span<const fs::path> folders) {
  std::vector<Member> members;
  for (const fs::path& folder : folders) members.push_back(read_member(folder));
  Comparison comparison{.differing = differing_in(members), .groups = {}};
  std::map<std::string, std::size_t> groups;  // by what their experiments have in common
  for (const Member& member : members) {
    const auto [place, is_new] =
        groups.try_emplace(member.experiment.dump_sorted(), comparison.groups.size());
    if (is_new) comparison.groups.emplace_back();
    ComparedRuns& group = comparison.groups[place->second];
    group.folders.push_back(member.folder);
    group.seeds.push_back(member.seed);
    if (!is_new) continue;
    for (const std::string& pointer : comparison.differing) {
      const Json* value = member.experiment.find_pointer(pointer);
      group.settings.push_back(value != nullptr ? *value : Json());
      if (Json& shown = group.settings.back(); names_file(pointer) && shown.is_string())
        shown = path_from(shown.get<std::string>(), folders[0].parent_path()).string();
    }
  }
  for (ComparedRuns& group : comparison.groups) add_numbers(group);
  return comparison;
}

Json json_of(const Comparison& comparison) {
  Json groups = Json::array();
  for (const ComparedRuns& group : comparison.groups) {
    Json runs = Json::array(), settings = Json::object(), numbers = Json::object();
    for (const fs::path& folder : group.folders) runs.push_back(folder.string());
    for (std::size_t i = 0; i < comparison.differing.size(); ++i)
      settings.append(comparison.differing[i], group.settings[i]);
    for (const auto& [name, value] : group.numbers)
      numbers.append(name, {{"mean", value.first}, {"deviation", value.second}});
    groups.push_back({{"runs", runs},
                      {"seeds", group.seeds},
                      {"finished", group.finished},
                      {"settings", settings},
                      {"numbers", numbers}});
  }
  return {{"differing", comparison.differing}, {"groups", groups}};
}

}  // namespace lagtape
