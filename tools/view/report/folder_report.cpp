#include <algorithm>

#include "lagtape/core/error.h"
#include "lagtape/core/io/folder.h"
#include "lagtape/tools/view/comparison_plot.h"
#include "lagtape/tools/view/report/columns.h"
#include "lagtape/tools/view/report/report_page.h"
#include "lagtape/tools/view/report/run_report.h"

namespace lagtape::report {

namespace fs = std::filesystem;

namespace {

std::vector<fs::path> runs_below(const fs::path& folder) {
  std::vector<fs::path> runs;
  std::error_code error, missing;
  for (const std::string& name : entries_of(folder, error))
    if (fs::exists(folder / name / "experiment.json", missing)) runs.push_back(folder / name);
  if (error)
    throw InputError({folder.string()}, Rule::cannot_read, text_of("cannot read: ", error.message(), "."));
  return runs;
}

void write_comparison(ReportPage& page, const Comparison& comparison) {
  const std::vector<std::string> names = names_of_numbers(comparison);
  std::vector<std::size_t> with_setting(comparison.differing.size()), with_number(names.size());
  for (const ComparedRuns& group : comparison.groups) {
    for (std::size_t i = 0; i < with_setting.size(); ++i)
      with_setting[i] += group.settings[i].is_null() ? 0 : 1;
    const auto numbers = group.numbers_at(names);
    for (std::size_t i = 0; i < names.size(); ++i) with_number[i] += numbers[i] == nullptr ? 0 : 1;
  }
  const std::vector<std::size_t> settings = shown_columns(with_setting), columns = shown_columns(with_number);
  std::vector<std::string> head = {"runs"};
  for (const std::size_t i : settings) head.push_back(setting_name(comparison.differing[i]));
  for (const std::size_t i : columns) head.push_back(names[i]);
  std::vector<std::vector<std::string>> rows;
  for (const ComparedRuns& group : comparison.groups) {
    rows.push_back({group.name()});
    for (const std::size_t i : settings) rows.back().push_back(value_text(group.settings[i]));
    const auto numbers = group.numbers_at(names);
    for (const std::size_t i : columns)
      rows.back().push_back(number_with_deviation(numbers[i], group.finished > 1));
  }
  say_what_is_left_out(page, with_setting.size(), settings.size(), "settings that differ");
  say_what_is_left_out(page, names.size(), columns.size(), "numbers");
  page.table(head, rows);
}

}  // namespace

std::string folder_page(const fs::path& folder) {
  const std::vector<fs::path> runs = runs_below(folder);
  if (runs.empty())
    throw InputError({folder.string()}, Rule::wrong_type,
                     "is neither a run nor a search, and no folder in it is a run.");
  const Comparison comparison = compare_runs(runs);
  ReportPage page(text_of(name_of(folder), ": ", runs.size(), " runs"));
  page.paragraph("Runs that differ in their seeds alone are one row: means with sample deviations.");
  write_comparison(page, comparison);
  page.heading("Learning");
  for (auto& [metric, plot] : compared_curves(comparison)) page.chart(std::move(plot));
  page.heading("How to repeat it");
  const std::string first = (fs::path(in_commands(folder)) / runs.front().filename()).string();
  page.code(text_of("lagtape train ", first, "/experiment.json --out again\nlagtape report ", first,
                    " --output run.html"));
  return page.html();
}

}  // namespace lagtape::report
