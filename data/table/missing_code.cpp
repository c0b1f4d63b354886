#include "lagtape/data/table/missing_code.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <set>
#include <unordered_map>

#include "lagtape/core/quote.h"
#include "lagtape/core/text.h"

namespace lagtape {

namespace {

/// Whether a number is one that loggers and programs use for missing values: nines, such as -999, 9999 and
/// 99.99, and eights; a negative hundred; limits of integer types; 85 and -127 from thermometers; huge numbers.
bool is_usual_code(double value) {
  std::string digits = text_of(std::abs(value));
  std::erase(digits, '.');
  const auto are_all = [&](char digit) { return digits.find_first_not_of(digit) == digits.npos; };
  if ((digits.size() >= 2 && are_all('9')) || (digits.size() >= 4 && are_all('8'))) return true;
  constexpr double kUsual[] = {-1,    -127,   -888,  85,          255,          32767,        -32767,
                               32768, -32768, 65535, 2147483647., -2147483647., -2147483648., 4294967295.};
  return std::ranges::find(kUsual, value) != std::end(kUsual) || std::abs(value) >= 1e18 ||
         (value <= -100 && std::fmod(value, 100) == 0 && value >= -900);
}

/// Whether a usual code may also be a measurement: its size alone does not tell.
bool is_small(double value) { return value == -1 || value == 85 || value == 255 || value == 99; }

constexpr double kLeastShare = 0.005;

std::pair<double, double> range_of(std::span<const double> numbers) {
  std::pair range(std::numeric_limits<double>::infinity(), -std::numeric_limits<double>::infinity());
  for (const double x : numbers) {  // no comparison is true for NaN
    range.first = x < range.first ? x : range.first;
    range.second = x > range.second ? x : range.second;
  }
  return range;
}

/// A sample of very many numbers, large enough that a code as frequent as required occurs in it many times.
std::vector<double> sample_of(std::span<const double> numbers) {
  constexpr std::size_t kSample = 20'000, kStep = 2'654'435'769;  // a prime, so the rows follow no period
  if (numbers.size() <= kSample) return {numbers.begin(), numbers.end()};
  std::vector<double> sample;
  for (std::size_t i = 0; i < kSample; ++i) sample.push_back(numbers[i * kStep % numbers.size()]);
  return sample;
}

/// The distance from a number to the nearest different one, and how far apart the others are; limited to the
/// numbers compared.
struct Neighbors {
  double nearest = 0, other = 0;
  std::int64_t cells = 0, others = 0;
  std::size_t different =
      0;  ///< different numbers, up to a limit: a switch has two values, and neither is a code
};

constexpr std::size_t kFewestOthers = 5;

/// The distances around a number that is the lowest or highest of all except `beside`; empty for other numbers.
std::optional<Neighbors> neighbors_of(double value, std::span<const double> numbers,
                                      double beside = std::numeric_limits<double>::quiet_NaN()) {
  const auto [low, high] = range_of(numbers);
  if ((value != low && value != high) || low >= high) return {};
  Neighbors around{.nearest = value == low ? high : low, .other = value == low ? high : low};
  std::set<double> others;
  for (const double x : numbers) {
    if (std::isnan(x) || x == beside) continue;
    ++(x == value ? around.cells : around.others);
    if (x == value) continue;
    if (std::abs(x - value) < std::abs(around.nearest - value)) around.nearest = x;
    if (others.size() < kFewestOthers) others.insert(x);
  }
  around.different = others.size();
  return around;
}

/// Whether a number is as far from all others as codes are.
bool is_far(double value, const Neighbors& around) {
  constexpr double kFar = 0.5, kFarForUsual = 0.1;
  const bool is_usual = is_usual_code(value) && !is_small(value);
  const bool is_only_negative = value < 0 && around.nearest >= 0;
  const double far = is_usual && is_only_negative
                         ? 0
                         : (is_usual ? kFarForUsual : kFar) * std::abs(around.other - around.nearest);
  return std::abs(around.nearest - value) >= far && around.different >= kFewestOthers;
}

/// The code among numbers whose lowest or highest is `extreme`, if that is a code.
std::optional<MissingCode> code_at(double extreme, std::span<const double> numbers, double share) {
  constexpr std::int64_t kFewest = 3;
  constexpr double kMostOfState = 0.25;  // machines that are off, closed days
  auto around = neighbors_of(extreme, numbers);
  // Two adjacent codes, such as -999 and -998.
  if (around && is_usual_code(extreme) && !is_small(extreme) && !is_far(extreme, *around))
    around = neighbors_of(extreme, numbers, around->nearest);
  if (!around || !is_far(extreme, *around)) return {};
  const auto cells = static_cast<double>(around->cells);
  if (cells < std::max<double>(kFewest, share * static_cast<double>(numbers.size()))) return {};
  const bool is_usual = is_usual_code(extreme) && !(extreme == -1 && around->nearest < 0);
  if ((!is_usual || is_small(extreme)) &&
      cells > kMostOfState * (cells + static_cast<double>(around->others)))
    return {};
  return MissingCode{.value = extreme, .cells = around->cells, .is_usual = is_usual};
}

}  // namespace

std::optional<MissingCode> find_missing_code(std::span<const double> numbers) {
  const std::vector<double> sample = sample_of(numbers);
  const auto [low, high] = range_of(sample);
  for (const double extreme : {low, high})
    if (code_at(extreme, sample, kLeastShare / 2))
      if (auto code = code_at(extreme, numbers, kLeastShare)) return code;
  return {};
}

namespace {

/// Adds a column's codes to those of earlier columns, and removes them from its numbers.
void add_missing_codes(const std::string& column, std::vector<double>& numbers,
                       std::vector<MissingCode>& codes) {
  for (auto found = find_missing_code(numbers); found; found = find_missing_code(numbers)) {
    auto known = std::ranges::find(codes, found->value, &MissingCode::value);
    if (known == codes.end())
      known = codes.insert(known, {.value = found->value, .is_usual = found->is_usual});
    known->cells += found->cells;
    known->columns.push_back(column);
    known->is_usual = known->is_usual && found->is_usual;
    std::ranges::replace(numbers, found->value, std::numeric_limits<double>::quiet_NaN());
  }
}

/// The numbers of a column except those of constant series.
std::vector<double> without_constant_series(std::span<const double> numbers,
                                            std::span<const std::int64_t> series) {
  std::unordered_map<std::int64_t, std::pair<double, double>> ranges;
  for (std::size_t row = 0; row < series.size(); ++row) {
    if (std::isnan(numbers[row])) continue;
    auto& [low, high] = ranges.try_emplace(series[row], numbers[row], numbers[row]).first->second;
    low = std::min(low, numbers[row]);
    high = std::max(high, numbers[row]);
  }
  std::vector<double> changing(numbers.begin(), numbers.end());
  for (std::size_t row = 0; row < series.size(); ++row)
    if (const auto range = ranges.find(series[row]);
        range != ranges.end() && range->second.first == range->second.second)
      changing[row] = std::numeric_limits<double>::quiet_NaN();
  return changing;
}

}  // namespace

std::vector<MissingCode> find_missing_codes(const std::vector<NamedNumbers>& columns,
                                            std::span<const std::int64_t> series) {
  std::vector<MissingCode> codes;
  for (const auto& [name, numbers] : columns) {
    if (!find_missing_code(numbers)) continue;
    std::vector<double> left = without_constant_series(numbers, series);
    add_missing_codes(name, left, codes);
  }
  for (MissingCode& code : codes)
    for (const auto& [name, numbers] : columns) {
      if (std::ranges::find(code.columns, name) != code.columns.end()) continue;
      const std::int64_t cells = std::ranges::count(numbers, code.value);
      if (cells == 0) continue;
      const auto around = neighbors_of(code.value, numbers);
      if (around && code.is_usual && is_far(code.value, *around)) {
        code.columns.push_back(name);  // a code that is rarer there
        code.cells += cells;
      } else {
        code.is_measured = true;
      }
    }
  return codes;
}

Json missing_codes_json(const std::vector<MissingCode>& codes) {
  const auto number_of = [](double value) {
    constexpr double kLargest = 1e15;
    return value == std::floor(value) && std::abs(value) < kLargest ? Json(static_cast<std::int64_t>(value))
                                                                    : Json(value);
  };
  const bool by_column = std::ranges::any_of(codes, &MissingCode::is_measured);
  Json json = by_column ? Json::object() : Json::array();
  for (const MissingCode& code : codes) {
    if (!by_column) json.push_back(number_of(code.value));
    for (const std::string& column : code.columns)
      if (by_column) json[column].push_back(number_of(code.value));
  }
  return json;
}

std::string text_of_codes(const Json& codes) {
  std::string text;
  if (codes.is_object()) {
    for (const auto& [column, list] : codes.items())
      text += text_of(text.empty() ? "" : ", ", Json(column).dump(), ": ", text_of_codes(list));
    return text_of("{", text, "}");
  }
  for (const Json& code : codes) text += text_of(text.empty() ? "" : ", ", code.get<double>());
  return text_of("[", text, "]");
}

std::string note_of_codes(const std::vector<MissingCode>& codes) {
  if (codes.empty()) return {};
  std::string note;
  for (const MissingCode& code : codes)
    note += text_of(note.empty() ? "" : "; ", code.value, " in ", code.cells, " cells of ",
                    listed(code.columns, 5), " is far from all other numbers");
  return text_of(note, ". If it marks missing numbers, write \"missing_codes\": ",
                 text_of_codes(missing_codes_json(codes)));
}

}  // namespace lagtape
