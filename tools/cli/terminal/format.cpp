#include "lagtape/tools/cli/terminal/format.h"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <limits>

namespace lagtape::cli {

double without_sign_of_nan(double value) {
  return std::isnan(value) ? std::numeric_limits<double>::quiet_NaN() : value;
}

std::string time_of(double seconds) {
  const auto whole = static_cast<std::int64_t>(seconds);
  if (whole < 60) return fmt::format("{}s", whole);
  if (whole < 3600) return fmt::format("{}m{:02}s", whole / 60, whole % 60);
  return fmt::format("{}h{:02}m", whole / 3600, whole / 60 % 60);
}

std::string line_of(const Evaluation& evaluation) {
  std::string line;
  for (const auto& [name, value] : evaluation)
    line += fmt::format("{}{} {:.6g}", line.empty() ? "" : "  ", name, without_sign_of_nan(value));
  return line;
}

std::string note_on_rest(std::size_t series) {
  if (series <= 2 * kShownEach) return {};
  return fmt::format("{} series between the worst and the best are left out: --json has all.\n",
                     series - 2 * kShownEach);
}

std::string table_of(const std::vector<SeriesEvaluation>& series) {
  if (series.empty()) return {};
  std::size_t width = 6;
  const std::vector<std::size_t> shown = worst_and_best(series);
  for (const std::size_t i : shown) width = std::max(width, series[i].name.size());
  std::string text = fmt::format("\n{:>{}}", "series", width);
  for (const auto& [name, value] : series.front().metrics) text += fmt::format("  {:>10}", name);
  for (const std::size_t i : shown) {
    text += fmt::format("\n{:>{}}", series[i].name, width);
    for (const auto& [name, value] : series[i].metrics)
      text += fmt::format("  {:>{}.4g}", without_sign_of_nan(value), std::max<std::size_t>(name.size(), 10));
  }
  return text + "\n" + note_on_rest(series.size());
}

std::string table_of(const Confusion& confusion) {
  std::size_t first = 5, width = 7;
  for (std::int64_t i = 0; i < confusion.classes(); ++i) {
    first = std::max(first, confusion.name(i).size());
    width = std::max(width, confusion.name(i).size());
  }
  std::string text = fmt::format("{:<{}}  predicted as\n{:{}}", "class", first, "", first);
  for (std::int64_t predicted = 0; predicted < confusion.classes(); ++predicted)
    text += fmt::format(" {:>{}}", confusion.name(predicted), width);
  text += "  precision   recall       f1";
  for (std::int64_t actual = 0; actual < confusion.classes(); ++actual) {
    text += fmt::format("\n{:>{}}", confusion.name(actual), first);
    for (std::int64_t predicted = 0; predicted < confusion.classes(); ++predicted)
      text += fmt::format(" {:>{}}", confusion.count(actual, predicted), width);
    text +=
        fmt::format("  {:>9.4f}{:>9.4f}{:>9.4f}", without_sign_of_nan(confusion.precision(actual)),
                    without_sign_of_nan(confusion.recall(actual)), without_sign_of_nan(confusion.f1(actual)));
  }
  return text + "\n";
}

}  // namespace lagtape::cli
