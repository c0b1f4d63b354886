#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <filesystem>
#include <vector>

#include "lagtape/core/error.h"
#include "lagtape/core/io/folder.h"
#include "lagtape/core/io/json_file.h"
#include "lagtape/core/json/json_reader.h"
#include "lagtape/core/quote.h"
#include "lagtape/tools/cli/command.h"
#include "lagtape/tools/cli/terminal/print.h"
#include "lagtape/tools/train/run_folder.h"

namespace lagtape::cli {

namespace {

namespace fs = std::filesystem;

struct RunsArguments {
  std::string folder = "runs";
  bool json = false;
};

void add_options(Options& options, RunsArguments& arguments) {
  options.add("FOLDER", &arguments.folder, "folder with runs").show_default();
  options.add("--json", &arguments.json, "print the runs as a JSON list");
}

bool is_there(const fs::path& path) {
  std::error_code error;
  return fs::exists(path, error);
}

/// A JSON file of a run; null where there is none that can be read.
Json run_document(const fs::path& file) try {
  return is_there(file) ? read_json(file) : Json();
} catch (const InputError&) {
  return {};
}

Json value_in(const Json& document, const std::string& pointer) {
  const Json* found = document.find_pointer(pointer);
  return found == nullptr ? Json() : *found;
}

/// Facts about a run: task, cell, whether it is finished, and the metric that chose its weights.
Json facts_of(const fs::path& path) {
  const RunFolder folder(path);
  const Json experiment = run_document(folder.experiment_file()),
             summary = run_document(folder.summary_file());
  const Json named = value_in(experiment, "/metrics/0");
  const std::string metric = named.is_string() ? named.get<std::string>() : "loss";
  Json facts = {{"run", path.string()},
                {"task", value_in(experiment, "/data/task")},
                {"cell", value_in(experiment, "/model/layers/0/cell")},
                {"state", is_there(folder.weights_file()) && !summary.is_null() ? "done" : "stopped"},
                {"metric", metric}};
  for (const char* key : {"valid", "test"}) facts[key] = value_in(summary, text_of("/", key, "/", metric));
  for (const char* key : {"best_epoch", "params", "seconds"})
    facts[key] = value_in(summary, text_of("/", key));
  return facts;
}

/// The runs in a folder, the latest last. A folder of runs, such as that of a search, is one entry with their number.
Json runs_in(const fs::path& folder) {
  std::vector<std::pair<fs::file_time_type, Json>> found;
  std::error_code error;
  for (const std::string& name : entries_of(folder, error)) {
    const fs::path path = folder / name;
    std::error_code ignored;
    if (!fs::is_directory(path, ignored)) continue;
    Json facts;
    if (is_there(path / "experiment.json") || is_there(path / "weights.safetensors")) {
      facts = facts_of(path);
    } else if (is_there(path / "search.json")) {
      facts = {{"run", path.string()}, {"task", "search"}};
    } else {
      const std::vector<std::string> inner = entries_of(path, ignored);
      const auto runs = std::ranges::count_if(
          inner, [&](const std::string& each) { return is_there(path / each / "experiment.json"); });
      if (runs > 0) facts = {{"run", path.string()}, {"runs", runs}};
    }
    if (!facts.is_null()) found.emplace_back(fs::last_write_time(path, ignored), std::move(facts));
  }
  if (error)
    throw InputError({folder.string()}, Rule::cannot_read, text_of("cannot read: ", error.message(), "."));
  std::ranges::stable_sort(found, {}, &std::pair<fs::file_time_type, Json>::first);
  Json runs = Json::array();
  for (auto& [time, facts] : found) runs.push_back(std::move(facts));
  return runs;
}

std::string text_of_fact(const Json& value) {
  if (value.is_null()) return "-";
  return value.is_number() ? fmt::format("{:.4g}", value.get<double>()) : value.get<std::string>();
}

void print_runs(const Json& runs) {
  std::vector<std::array<std::string, 6>> rows = {{"run", "task", "cell", "metric", "valid", "test"}};
  for (const Json& run : runs) {
    std::array<std::string, 6>& row = rows.emplace_back();
    row[0] = run["run"].get<std::string>();
    if (!run.contains("state")) {  // a search, or a folder of runs
      row[1] = run.contains("runs") ? fmt::format("{} runs", run["runs"].get<std::int64_t>()) : "search";
      continue;
    }
    for (std::size_t i = 1; i < row.size(); ++i) row[i] = text_of_fact(run[rows[0][i]]);
    if (run["state"] != "done") row[3] = "stopped";
  }
  std::array<std::size_t, 6> widths{};
  for (const auto& row : rows)
    for (std::size_t i = 0; i < row.size(); ++i)
      widths[i] = std::max(widths[i], std::min<std::size_t>(row[i].size(), i == 0 ? 28 : 14));
  for (auto& row : rows) {
    std::string line;
    // A long name keeps its line, and the rest of the row follows below it.
    if (row[0].size() > widths[0]) {
      print("{}\n", row[0]);
      row[0].clear();
    }
    for (std::size_t i = 0; i < row.size(); ++i) {
      const std::string text = shortened(row[i], widths[i]);
      line += i < 4 ? fmt::format("{:<{}}  ", text, widths[i]) : fmt::format("{:>{}}  ", text, widths[i]);
    }
    print("{}\n", line.substr(0, line.find_last_not_of(' ') + 1));
  }
}

void run(const RunsArguments& arguments) {
  const Json runs = runs_in(arguments.folder);
  if (arguments.json) return print("{}\n", runs.dump(2));
  if (runs.empty()) return print("no runs in {}\n", quote(arguments.folder));
  print_runs(runs);
}

}  // namespace

Command runs_command() {
  return make_command<RunsArguments>(
      "runs", "List the runs of a folder: task, cell, metric on valid and test", add_options, run,
      {{"lagtape runs", "those in runs/, the latest last"},
       {"lagtape runs results --json", "of another folder, for scripts"}});
}

}  // namespace lagtape::cli
