#include "lagtape/tools/new/table_codes.h"

#include <algorithm>
#include <unordered_map>

#include "lagtape/data/table/number.h"
#include "lagtape/data/time/time_format.h"

namespace lagtape {

namespace {

/// Numbers of keys in the order in which they first come.
template <class Key>
class Numbering {
 public:
  void add(std::int64_t row, const Key& key) {
    if (row > 0 && key == before_) {
      codes_.of.push_back(codes_.of.back());
      return;
    }
    const auto [known, is_new] = numbers_.try_emplace(key, static_cast<std::uint32_t>(codes_.firsts.size()));
    if (is_new) codes_.firsts.push_back(row);
    codes_.of.push_back(known->second);
    ++codes_.blocks;
    before_ = key;
  }
  std::int64_t count() const { return codes_.count(); }
  RowCodes finish() { return std::move(codes_); }

 private:
  RowCodes codes_ = {};
  Key before_ = {};
  std::unordered_map<Key, std::uint32_t> numbers_ = {};
};

std::uint64_t pair_of(const RowCodes& a, const RowCodes& b, std::int64_t row) {
  return static_cast<std::uint64_t>(a.at(row)) * static_cast<std::uint64_t>(b.count()) + b.at(row);
}

}  // namespace

std::int64_t repeated_pairs(const RowCodes& a, const RowCodes& b) {
  constexpr std::int64_t kMostBits = 64;  // a row
  const std::int64_t rows = std::ssize(a.of);
  if (a.count() * b.count() <= kMostBits * rows) {
    std::vector<bool> known(static_cast<std::size_t>(a.count() * b.count()));
    std::int64_t repeated = 0;
    for (std::int64_t row = 0; row < rows; ++row) {
      const auto pair = static_cast<std::size_t>(pair_of(a, b, row));
      repeated += known[pair] ? 1 : 0;
      known[pair] = true;
    }
    return repeated;
  }
  std::vector<std::uint64_t> pairs;
  for (std::int64_t row = 0; row < rows; ++row) pairs.push_back(pair_of(a, b, row));
  std::ranges::sort(pairs);
  return std::ssize(std::ranges::unique(pairs));
}

std::optional<RowCodes> TableCodes::read(std::int64_t column, std::int64_t most) const {
  Numbering<std::string_view> numbering;
  for (std::int64_t row = 0; row < table.rows(); ++row) {
    numbering.add(row, table.cell(row, column));
    if (numbering.count() > most) return {};
  }
  return numbering.finish();
}

const RowCodes& TableCodes::of(std::int64_t column) {
  auto known = codes_.find(column);
  if (known == codes_.end()) known = codes_.emplace(column, *read(column, table.rows())).first;
  return known->second;
}

const RowCodes* TableCodes::few_of(std::int64_t column) {
  if (const auto known = codes_.find(column); known != codes_.end())
    return 2 * known->second.count() > table.rows() ? nullptr : &known->second;
  if (are_many_[column]) return nullptr;
  auto codes = read(column, table.rows() / 2);
  are_many_[column] = !codes;
  return codes ? &codes_.emplace(column, *std::move(codes)).first->second : nullptr;
}

RowCodes TableCodes::of(const std::vector<std::int64_t>& columns) {
  RowCodes all = of(columns.front());
  for (std::size_t i = 1; i < columns.size(); ++i) {
    const RowCodes& more = of(columns[i]);
    Numbering<std::uint64_t> numbering;
    for (std::int64_t row = 0; row < table.rows(); ++row) numbering.add(row, pair_of(all, more, row));
    all = numbering.finish();
  }
  return all;
}

const ColumnValues& TableCodes::values(std::int64_t column) {
  const auto [known, is_new] = values_.try_emplace(column);
  ColumnValues& values = known->second;
  for (std::int64_t row = 0; is_new && row < table.rows(); ++row) {
    const std::string_view cell = table.cell(row, column);
    std::optional<double> value = number(cell);
    if (!value)
      if (const auto date = read_time(cell)) {
        value = seconds_of(date->time);
        values.are_dates = true;
      }
    if (!value) {
      values = {};
      break;
    }
    values.of.push_back(*value);
  }
  return values;
}

}  // namespace lagtape
