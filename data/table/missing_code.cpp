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

/// Whether a number is one by which loggers say that they have none: nines, such as -999, 9999 and 99.99, or a negative
/// hundred.
bool is_usual_code(double value) {
  std::string digits = text_of(std::abs(value));
  std::erase(digits, '.');
  if (digits.size() >= 2 && digits.find_first_not_of('9') == digits.npos) return true;
  return value <= -100 && std::fmod(value, 100) == 0 && value >= -900;
}

constexpr double kLeastShare = 0.005;

std::pair<double, double> range_of(std::span<const double> numbers) {
  std::pair range(std::numeric_limits<double>::infinity(), -std::numeric_limits<double>::infinity());
  for (const double x : numbers) {  // no comparison holds for NaN
    range.first = x < range.first ? x : range.first;
    range.second = x > range.second ? x : range.second;
  }
  return range;
}

/// Some of very many numbers, in which a code as frequent as they may be is there many times.
std::vector<double> sample_of(std::span<const double> numbers) {
  constexpr std::size_t kSample = 20'000, kStep = 2'654'435'769;  // a prime: rows of no period
  if (numbers.size() <= kSample) return {numbers.begin(), numbers.end()};
  std::vector<double> sample;
  for (std::size_t i = 0; i < kSample; ++i) sample.push_back(numbers[i * kStep % numbers.size()]);
  return sample;
}

/// The code among numbers whose lowest or highest is `extreme`, if it is one.
std::optional<MissingCode> code_at(double extreme, std::span<const double> numbers, double share) {
  constexpr double kFar = 0.5, kFarForUsual = 0.1;
  constexpr std::int64_t kFewest = 3;
  constexpr std::size_t kFewestOthers = 5;
  const std::int64_t cells = std::ranges::count(numbers, extreme);
  if (cells < std::max<double>(kFewest, share * static_cast<double>(numbers.size()))) return {};
  const auto [low, high] = range_of(numbers);
  const double other = extreme == low ? high : low;
  double nearest = other;
  std::set<double> others;  // a switch has two numbers, and none of them is a code
  for (const double x : numbers) {
    if (std::isnan(x) || x == extreme) continue;
    if (std::abs(x - extreme) < std::abs(nearest - extreme)) nearest = x;
    if (others.size() < kFewestOthers) others.insert(x);
  }
  const bool is_usual = is_usual_code(extreme), is_only_negative = extreme < 0 && nearest >= 0;
  const double far =
      is_usual && is_only_negative ? 0 : (is_usual ? kFarForUsual : kFar) * std::abs(other - nearest);
  if (low >= high || std::abs(nearest - extreme) < far || others.size() < kFewestOthers) return {};
  return MissingCode{.value = extreme, .cells = cells};
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

void add_missing_codes(std::span<const double> numbers, const std::string& column,
                       std::vector<MissingCode>& codes) {
  std::vector<double> left;
  for (auto found = find_missing_code(numbers); found; found = find_missing_code(left)) {
    auto known = std::ranges::find(codes, found->value, &MissingCode::value);
    if (known == codes.end()) known = codes.insert(known, {.value = found->value});
    known->cells += found->cells;
    known->columns.push_back(column);
    if (left.empty()) left.assign(numbers.begin(), numbers.end());
    std::ranges::replace(left, found->value, std::numeric_limits<double>::quiet_NaN());
  }
}

std::vector<double> without_constant_series(std::span<const double> numbers,
                                            std::span<const std::int64_t> series) {
  std::unordered_map<std::int64_t, std::pair<double, double>> ranges;
  for (std::size_t row = 0; row < numbers.size(); ++row) {
    if (std::isnan(numbers[row])) continue;
    auto& [low, high] = ranges.try_emplace(series[row], numbers[row], numbers[row]).first->second;
    low = std::min(low, numbers[row]);
    high = std::max(high, numbers[row]);
  }
  std::vector<double> changing(numbers.begin(), numbers.end());
  for (std::size_t row = 0; row < numbers.size(); ++row)
    if (const auto range = ranges.find(series[row]);
        range != ranges.end() && range->second.first == range->second.second)
      changing[row] = std::numeric_limits<double>::quiet_NaN();
  return changing;
}

std::string note_of_codes(const std::vector<MissingCode>& codes) {
  if (codes.empty()) return {};
  std::string note, list;
  for (const MissingCode& code : codes) {
    note += text_of(note.empty() ? "" : "; ", code.value, " in ", code.cells, " cells of ",
                    listed(code.columns, 5), " is far from all other numbers");
    list += text_of(list.empty() ? "" : ", ", code.value);
  }
  return text_of(note, ". If it marks missing numbers, write \"missing_codes\": [", list, "]");
}

}  // namespace lagtape
