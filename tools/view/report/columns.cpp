#include "lagtape/tools/view/report/columns.h"

#include <fmt/core.h>

#include <algorithm>
#include <functional>
#include <numeric>

#include "lagtape/core/error.h"

namespace lagtape::report {

std::string value_text(const Json& value) {
  if (value.is_null()) return "-";
  if (value.is_number()) return fmt::format("{:g}", value.get<double>());
  return value.is_string() ? value.get<std::string>() : value.dump();
}

std::string setting_name(const std::string& pointer) {
  return pointer.starts_with('/') ? pointer.substr(1) : pointer;
}

std::string number_with_deviation(const std::pair<double, double>* number, bool several) {
  if (number == nullptr) return "-";
  const auto& [mean, deviation] = *number;
  return several && deviation > 0 ? fmt::format("{:.6g} +- {:.2g}", mean, deviation)
                                  : fmt::format("{:.6g}", mean);
}

namespace {

/// A table shows at most so many columns of settings or numbers.
constexpr std::size_t kMostColumns = 60;

}  // namespace

std::vector<std::size_t> shown_columns(const std::vector<std::size_t>& counts) {
  std::vector<std::size_t> columns(counts.size());
  std::iota(columns.begin(), columns.end(), std::size_t{0});
  if (columns.size() <= kMostColumns) return columns;
  std::ranges::stable_sort(columns, std::greater(), [&](std::size_t column) { return counts[column]; });
  columns.resize(kMostColumns);
  std::ranges::sort(columns);
  return columns;
}

void say_what_is_left_out(ReportPage& page, std::size_t all, std::size_t shown, const char* what) {
  if (all > shown)
    page.paragraph(text_of("There are ", all, " ", what, ". Shown are the ", shown, " that most runs have; ",
                           all - shown, " are left out."));
}

std::string in_commands(const std::filesystem::path& folder) {
  return folder.is_absolute() ? name_of(folder) : folder.string();
}

std::string name_of(const std::filesystem::path& folder) {
  const std::filesystem::path whole = std::filesystem::absolute(folder).lexically_normal();
  return whole.filename().empty() ? whole.parent_path().filename().string() : whole.filename().string();
}

}  // namespace lagtape::report
