#include <fmt/core.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <vector>

#include "lagtape/core/error.h"
#include "lagtape/core/io/file.h"
#include "lagtape/core/json/json_reader.h"
#include "lagtape/tools/cli/command.h"
#include "lagtape/tools/cli/terminal/print.h"
#include "lagtape/tools/cli/terminal/wrapped_text.h"
#include "lagtape/tools/view/comparison_plot.h"

namespace lagtape::cli {

namespace {

struct CompareArguments {
  std::vector<std::string> runs;
  std::string plot;
  bool json = false;
};

void add_options(Options& options, CompareArguments& arguments) {
  options.add("RUN", &arguments.runs, "run folders, at least two").required();
  options.add("--plot", &arguments.plot, "folder for a chart of each metric's learning curves")
      .not_empty()
      .called("DIR");
  options.add("--json", &arguments.json, "print the comparison as one JSON object");
}

/// "0.1358", or "0.1358 +- 0.0021".
std::string text_of_number(const std::pair<double, double>& mean_and_deviation, bool several) {
  const auto& [mean, deviation] = mean_and_deviation;
  return several && deviation > 0 ? fmt::format("{:.6g} +- {:.2g}", mean, deviation)
                                  : fmt::format("{:.6g}", mean);
}

std::string text_of_setting(const Json& value) {
  if (value.is_null()) return "-";
  if (value.is_number()) return fmt::format("{:g}", value.get<double>());
  return value.is_string() ? value.get<std::string>() : value.dump();
}

/// Rows of the table: what is compared, then a cell for each group.
std::vector<std::vector<std::string>> table_of(const Comparison& comparison) {
  std::vector<std::vector<std::string>> rows = {{""}};
  for (const ComparedRuns& group : comparison.groups) rows[0].push_back(group.name());
  for (std::size_t i = 0; i < comparison.differing.size(); ++i) {
    rows.push_back({comparison.differing[i]});
    for (const ComparedRuns& group : comparison.groups)
      rows.back().push_back(text_of_setting(group.settings[i]));
  }
  const std::vector<std::string> names = names_of_numbers(comparison);
  const std::size_t first = rows.size();
  for (const std::string& name : names) rows.push_back({name});
  for (const ComparedRuns& group : comparison.groups) {
    const auto numbers = group.numbers_at(names);
    for (std::size_t i = 0; i < names.size(); ++i)
      rows[first + i].push_back(numbers[i] == nullptr ? "-"
                                                      : text_of_number(*numbers[i], group.finished > 1));
  }
  return rows;
}

void print_comparison(const Comparison& comparison) {
  const std::vector<std::vector<std::string>> rows = table_of(comparison);
  std::vector<std::size_t> widths(rows[0].size(), 0);
  for (const auto& row : rows)
    for (std::size_t i = 0; i < row.size(); ++i) widths[i] = std::max(widths[i], row[i].size());
  // The terminal shows as many groups side by side as it has room for, at least one, and the others below them.
  const auto width = static_cast<std::size_t>(terminal_width(STDOUT_FILENO));
  for (std::size_t first = 1, end = 2; first < widths.size(); first = end++) {
    std::size_t used = widths[0] + 2 + widths[first];
    while (end < widths.size() && used + 2 + widths[end] < width) used += 2 + widths[end++];
    if (first > 1) print("\n");
    for (const auto& row : rows) {
      std::string line = fmt::format("{:<{}}", row[0], widths[0] + 2);
      for (std::size_t i = first; i < end; ++i) line += fmt::format("{:<{}}", row[i], widths[i] + 2);
      print("{}\n", line.substr(0, line.find_last_not_of(' ') + 1));
    }
  }
  for (const ComparedRuns& group : comparison.groups) {
    if (group.finished < group.folders.size())
      print("{}: {} of {} runs are not finished\n", group.name(), group.folders.size() - group.finished,
            group.folders.size());
  }
}

void run(const CompareArguments& arguments) {
  if (arguments.runs.size() < 2)
    throw unexpected({}, Rule::missing, "at least two run folders to compare",
                     text_of(arguments.runs.size()));
  const std::vector<std::filesystem::path> folders(arguments.runs.begin(), arguments.runs.end());
  const Comparison comparison = compare_runs(folders);
  if (!arguments.plot.empty()) {
    std::filesystem::create_directories(arguments.plot);
    for (const auto& [metric, plot] : compared_curves(comparison))
      write_file_atomically(std::filesystem::path(arguments.plot) / (metric + ".svg"), plot.svg());
  }
  if (arguments.json) {
    print("{}\n", json_of(comparison).dump(2));
  } else {
    print_comparison(comparison);
  }
}

}  // namespace

Command compare_command() {
  return make_command<CompareArguments>(
      "compare", "Compare runs: settings that differ, metrics over seeds, learning curves", add_options, run,
      {{"lagtape compare runs/load-0 runs/load-1", "settings, metrics"},
       {"lagtape compare runs/* --plot charts/", "and learning curves"}});
}

}  // namespace lagtape::cli
