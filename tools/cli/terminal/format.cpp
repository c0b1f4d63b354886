#include "lagtape/tools/cli/terminal/format.h"
#include "lagtape/core/json/json.h"

#include <fmt/core.h>

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

std::string json_of(const Evaluation& evaluation, const Confusion* confusion) {
  Json json = Json::object();
  for (const auto& [name, value] : evaluation) json[name] = value;
  for (std::int64_t actual = 0; confusion && actual < confusion->classes(); ++actual) {
    Json row;
    for (std::int64_t predicted = 0; predicted < confusion->classes(); ++predicted) {
      row.push_back(confusion->count(actual, predicted));
    }
    json["confusion"].push_back(row);
    json["classes"].push_back({{"precision", confusion->precision(actual)},
                               {"recall", confusion->recall(actual)},
                               {"f1", confusion->f1(actual)}});
  }
  return json.dump(2);
}

std::string table_of(const Confusion& confusion) {
  std::string text = "class  predicted as\n     ";
  for (std::int64_t predicted = 0; predicted < confusion.classes(); ++predicted) {
    text += fmt::format(" {:>7}", predicted);
  }
  text += "  precision   recall       f1";
  for (std::int64_t actual = 0; actual < confusion.classes(); ++actual) {
    text += fmt::format("\n{:>5}", actual);
    for (std::int64_t predicted = 0; predicted < confusion.classes(); ++predicted) {
      text += fmt::format(" {:>7}", confusion.count(actual, predicted));
    }
    text +=
        fmt::format("  {:>9.4f}{:>9.4f}{:>9.4f}", without_sign_of_nan(confusion.precision(actual)),
                    without_sign_of_nan(confusion.recall(actual)), without_sign_of_nan(confusion.f1(actual)));
  }
  return text + "\n";
}

}  // namespace lagtape::cli
