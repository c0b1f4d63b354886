#include "lagtape/tools/sweep/search/search_folder.h"

#include <charconv>
#include <cmath>
#include <set>
#include <span>
#include <string_view>
#include <unordered_map>
#include <unordered_set>
#include <utility>

#include "lagtape/core/error.h"
#include "lagtape/core/io/file.h"
#include "lagtape/core/io/folder.h"
#include "lagtape/core/io/folder_lock.h"
#include "lagtape/core/io/json_file.h"
#include "lagtape/core/quote.h"
#include "lagtape/tools/sweep/search/draw.h"
#include "lagtape/tools/sweep/search/tpe.h"
#include "lagtape/tools/train/experiment_paths.h"
#include "lagtape/tools/train/files/json_lines.h"
#include "lagtape/tools/train/score/metrics.h"

namespace lagtape::search {

namespace fs = std::filesystem;

namespace {

constexpr std::string_view kSeed = "-seed";

std::string folder_of(const fs::path& out, std::size_t row, std::int64_t seed) {
  std::string digits = std::to_string(row);
  digits.insert(0, digits.size() < 4 ? 4 - digits.size() : 0, '0');
  if (seed >= 0) digits += text_of(kSeed, seed);
  return out / "runs" / digits;
}

/// The file with the settings of a run that was drawn by the results of others.
fs::path draw_file(const fs::path& out, std::size_t row) { return folder_of(out, row, -1) + ".draw.json"; }

Json json_of_values(const Values& values) {
  Json settings = Json::object();
  for (const auto& [pointer, value] : values) settings[pointer] = value;
  return settings;
}

Values values_in(const Json& settings) {
  Values values;
  for (const auto& [pointer, value] : settings.items()) values.emplace_back(pointer, value);
  return values;
}

double number_in(const Json& line, const std::string& key) {
  const Json value = line.value(key, Json());
  return value.is_number() ? value.get<double>() : std::nan("");
}

/// The metric of a line; empty where it has none. Lines of lagtape 0.1 have its value alone, under its name.
std::string metric_of(const Json& line) {
  const auto is_metric = [](const std::string& name) { return name == "loss" || find_metric(name); };
  const Json metric = line.value("metric", Json());
  if (metric.is_string() && is_metric(metric.get<std::string>())) return metric.get<std::string>();
  for (const auto& [key, value] : line.items())
    if (is_metric(key)) return key;
  return {};
}

/// Adds a run of these settings, which is looked at.
void add_trial(const SearchPlan& plan, const fs::path& out, std::vector<Trial>& trials, Values values) {
  const std::size_t row = trials.size();
  trials.push_back({.row = row, .values = std::move(values), .folder = folder_of(out, row, -1)});
  look_at(trials.back(), plan);
}

}  // namespace

void begin_folder(const SearchPlan& plan, const fs::path& out) {
  const fs::path file = out / "search.json";
  const auto with_relative = [&](Json identity) {
    if (identity.contains("experiment"))
      identity["experiment"] = with_relative_paths(identity["experiment"], out);
    return identity;
  };
  const Json identity = with_relative(plan.identity);
  fs::create_directories(out);
  for (const char* name : {"search.json", "results.jsonl", "runs"}) refuse_link(out / name);
  const FolderLock lock(out);  // of several processes that begin at the same time, one makes the folder
  if (fs::exists(file)) {
    const std::string place = with_relative(read_json(file)).first_difference(identity);
    if (place.empty()) return;
    throw InputError({out.string()}, Rule::conflict,
                     text_of("is the folder of another search: ", place, " in search.json differs from ",
                             plan.file.string(), ". Give --out another folder."));
  }
  std::error_code error;
  remove_temporaries_of(file);
  if (!entries_of(out, error).empty())
    throw InputError({out.string()}, Rule::wrong_type,
                     "is not the folder of a search, and not empty. Give --out another folder.");
  write_file_atomically(file, identity.dump(2) + "\n", Links::refused);
}

std::vector<Trial> find_trials(const SearchPlan& plan, const fs::path& out) {
  // Very many runs that have not begun are not looked for one by one.
  std::error_code error;
  std::unordered_set<std::string> begun;
  for (const std::string& entry : entries_of(out / "runs", error))
    begun.insert(entry.substr(0, entry.find('.')));
  std::vector<Trial> trials;
  for (const Values& values : plan.draws) {
    const std::size_t row = trials.size();
    trials.push_back({.row = row, .values = values, .folder = folder_of(out, row, -1)});
    if (begun.contains(trials.back().folder.filename().string())) look_at(trials.back(), plan);
  }
  if (plan.method != Method::tpe || std::ssize(trials) < plan.tpe.startup) return trials;
  while (std::ssize(trials) < plan.runs && fs::exists(draw_file(out, trials.size()))) {
    const fs::path file = draw_file(out, trials.size());
    add_trial(plan, out, trials, values_in(read_json(file)));
  }
  return trials;
}

void draw_more(const SearchPlan& plan, const fs::path& out, std::vector<Trial>& trials) {
  constexpr std::uint64_t kAttempts = 100;
  if (plan.method != Method::tpe || std::ssize(trials) >= plan.runs) return;
  const auto startup = static_cast<std::size_t>(plan.tpe.startup),
             batch = static_cast<std::size_t>(plan.tpe.batch);
  if (trials.size() < startup) return;  // the ranges are used up
  const std::size_t before = startup + (trials.size() - startup) / batch * batch;
  const std::size_t end = std::min(before + batch, static_cast<std::size_t>(plan.runs));
  std::set<std::string> known;
  for (const Trial& trial : trials) known.insert(text_of_values(trial.values));
  for (std::size_t row = trials.size(); row < end; ++row) {
    std::uint64_t attempt = 0;
    const auto next = [&] {
      return attempt < kAttempts ? tpe_draw(plan, std::span(trials).first(before), row, attempt)
                                 : random_draw(plan, row, attempt);
    };
    Values values = next();
    while (!known.insert(text_of_values(values)).second && ++attempt < 2 * kAttempts) values = next();
    if (attempt == 2 * kAttempts) break;
    write_file_atomically(draw_file(out, row), json_of_values(values).dump() + "\n", Links::refused);
    add_trial(plan, out, trials, std::move(values));
  }
}

std::vector<Trial> find_repetitions(const SearchPlan& plan, const fs::path& out,
                                    const std::vector<Trial>& trials, std::span<const std::size_t> best) {
  const std::int64_t own = plan.identity.at("experiment").value("seed", std::int64_t{0});
  std::vector<std::pair<std::size_t, std::int64_t>> wanted, there;  // row and seed
  for (const std::size_t row : best)
    for (std::int64_t i = 1; i <= plan.again.seeds; ++i) wanted.emplace_back(row, own + i);
  std::error_code error;
  for (const std::string& name : entries_of(out / "runs", error)) {
    const char* end = name.data() + name.size();
    std::size_t row = 0;
    std::int64_t seed = -1;
    const auto [rest, no_row] = std::from_chars(name.data(), end, row);
    if (no_row != std::errc() || row >= trials.size() || !std::string_view(rest, end).starts_with(kSeed))
      continue;
    const auto [last, no_seed] = std::from_chars(rest + kSeed.size(), end, seed);
    if (no_seed == std::errc() && seed >= 0 && folder_of(out, row, seed).ends_with("/" + name))
      there.emplace_back(row, seed);
  }
  std::ranges::sort(there);
  std::set<std::pair<std::size_t, std::int64_t>> known;
  std::vector<Trial> found;
  for (const auto* list : {&wanted, &there}) {
    for (const auto& [row, seed] : *list) {
      if (!known.emplace(row, seed).second) continue;
      Trial trial{
          .row = row, .values = trials[row].values, .seed = seed, .folder = folder_of(out, row, seed)};
      look_at(trial, plan);
      if (list == &wanted || trial.state == RunState::done) found.push_back(std::move(trial));
    }
  }
  return found;
}

Json json_of(const sweep::Plan& plan, const Trial& trial) {
  const auto number = [](double value) { return std::isfinite(value) ? Json(value) : Json(); };
  Json line = {{"run", trial.folder.filename().string()},
               {"state", sweep::name_of(trial.state)},
               {"settings", json_of_values(trial.values)}};
  if (trial.seed >= 0) line["seed"] = trial.seed;
  line["metric"] = plan.metric;
  line["value"] = number(trial.value);
  line[plan.metric] = number(trial.value);
  line["loss"] = number(trial.loss);
  line["evaluations"] = trial.evaluations;
  if (trial.state == RunState::done) line["seconds"] = trial.seconds;
  if (!trial.message.empty()) line["message"] = trial.message;
  return line;
}

void write_results(const SearchPlan& plan, const fs::path& out, const std::vector<Trial>& trials) {
  std::string lines;
  for (const Trial& trial : trials)
    if (trial.state != RunState::missing) lines += json_of(plan, trial).dump() + "\n";
  const FolderLock lock(out);
  sweep::write_results_file(out / "results.jsonl", lines, Links::refused);
}

SearchResult read_results(const fs::path& out, sweep::Plan& plan) {
  static constexpr Option kRows[] = {option<&Trial::state>("state", sweep::kStates, "what became of it"),
                                     option<&Trial::seed>("seed", "of a repetition").open()};
  SearchResult result;
  std::unordered_map<std::string, std::size_t> rows;  // by the name of the run that is repeated
  for_each_json_line(out / "results.jsonl", [&](const Json& line, const std::string& where) {
    if (!line.contains("settings") || !line.contains("run")) return;
    JsonErrors errors;
    JsonReader reader(line, "", errors);
    std::string name;
    Trial trial{.state = RunState::done};
    reader.required("run", name, "name of the run's folder");
    read_options(reader, kRows, trial);
    const Json& settings = line.at("settings");
    if (!settings.is_object())
      reader.error("settings",
                   text_of("expected an object of settings such as {\"/optimizer/lr\": 0.01}, got ",
                           shortened(settings.dump(-1, ' ', true))));
    errors.raise(where);
    if (plan.metric.empty()) plan.metric = metric_of(line);
    trial.folder = out / "runs" / name;
    trial.values = values_in(settings);
    trial.value = number_in(line, plan.metric);
    trial.loss = number_in(line, "loss");
    const auto [row, is_new] =
        rows.emplace(trial.seed < 0 ? name : name.substr(0, name.rfind(kSeed)), result.trials.size());
    trial.row = row->second;
    (is_new ? result.trials : result.repetitions).push_back(std::move(trial));
  });
  if (plan.metric.empty()) plan.metric = "loss";
  plan.larger_is_better = plan.metric != "loss" && metric(plan.metric).larger_is_better;
  return result;
}

void link_best(const fs::path& out, const Trial& trial) {
  // A link of another name takes the old one's place at once; a killed process may have left one.
  const FolderLock lock(out);
  const fs::path fresh = out / ".best-new";
  std::error_code ignored;
  for (const std::string& entry : entries_of(out, ignored))
    if (entry.starts_with(".best-")) fs::remove(out / entry, ignored);
  fs::create_directory_symlink(fs::path("runs") / trial.folder.filename(), fresh);
  fs::rename(fresh, out / "best");
}

}  // namespace lagtape::search
