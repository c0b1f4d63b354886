#include <fmt/core.h>

#include <map>

#include "lagtape/core/io/file.h"
#include "lagtape/core/json/json_reader.h"
#include "lagtape/core/quote.h"
#include "lagtape/core/text_lines.h"
#include "lagtape/tools/table/report.h"
#include "lagtape/tools/train/run_folder.h"

namespace lagtape::table {

namespace {

/// Sums of a metric at each epoch or step at which it was measured, for averages over runs.
struct Sums {
  std::map<double, std::pair<double, int>> by_epoch, by_step;
  bool has_epochs = false;  ///< false for a training set that never ends: steps count

  void add(const PaperTable& table, const std::filesystem::path& metrics_file) {
    std::string text = read_file(metrics_file);
    text.resize(text.rfind('\n') + 1);  // a run that was killed can leave a line that is not whole
    std::string_view rest = text;
    const std::string key = "valid_" + table.metric;
    int number = 0;
    for (std::string line; take_line(rest, line);) {
      const std::string where = text_of(metrics_file.string(), " line ", ++number);
      const Json row = parse_json(line, where);
      const auto count = [&](const char* name) {
        const Json* found = row.find(name);
        if (found == row.end()) return 0.0;
        if (!found->is_number())
          throw InputError(text_of(where, ": ", name, ": expected a number, got ", shortened(found->dump())));
        return found->get<double>();
      };
      if (!row.contains(key) || !row[key].is_number()) continue;
      const double value = row[key].get<double>() * table.scale;
      const auto take = [value](std::pair<double, int>& sum) { sum = {sum.first + value, sum.second + 1}; };
      take(by_epoch[count("epoch")]);
      take(by_step[count("step")]);
    }
    has_epochs = by_epoch.size() == by_step.size();
  }
};

PlotLine line_of(const std::string& name, const Sums& sums) {
  PlotLine line{.name = name, .x = {}, .y = {}};
  for (const auto& [x, sum] : sums.has_epochs ? sums.by_epoch : sums.by_step) {
    line.x.push_back(x);
    line.y.push_back(sum.first / sum.second);
  }
  return line;
}

}  // namespace

Plot learning_curves(const PaperTable& table, const std::vector<Run>& runs) {
  bool epochs = true;
  Plot plot{.title = table.title,
            .y = {.title = fmt::format("validation {}", table.unit), .log = !table.larger_is_better}};
  for (std::size_t i = 0; i < table.rows.size(); ++i) {
    Sums sums;
    const Outcome outcome = outcome_of(table, i, runs);
    // A mean over runs of different lengths would jump where one of them ends.
    const RunState wanted = outcome.values.empty() ? RunState::unfinished : RunState::done;
    for (const Run* run : outcome.runs) {
      const std::filesystem::path metrics = RunFolder(run->folder).metrics_file();
      if (run->state == wanted && std::filesystem::exists(metrics)) sums.add(table, metrics);
    }
    if (sums.by_step.empty()) continue;
    epochs = epochs && sums.has_epochs;
    plot.lines.push_back(line_of(table.rows[i].name, sums));
  }
  plot.x.title = epochs ? "epoch" : "update";
  return plot;
}

}  // namespace lagtape::table
