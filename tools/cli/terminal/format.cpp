#include "lagtape/tools/cli/terminal/format.h"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <limits>

namespace lagtape::cli {

double without_sign_of_nan(double value) {
  return std::isnan(value) ? std::numeric_limits<double>::quiet_NaN() : value;
}

std::string line_of(const Evaluation& evaluation) {
  std::string line;
  for (const auto& [name, value] : evaluation)
    line += fmt::format("{}{} {:.6g}", line.empty() ? "" : "  ", name, without_sign_of_nan(value));
  return line;
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
