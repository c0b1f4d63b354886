#include "lagtape/data/series/csv_series.h"

#include <algorithm>
#include <limits>
#include <numeric>
#include <unordered_map>

#include "lagtape/core/error.h"
#include "lagtape/data/series/like_names.h"

namespace lagtape {

namespace {

/// The cells that name the series of a row in the files, as one text.
void read_key(const CsvSource& csv, std::int64_t row, const std::vector<std::int64_t>& columns,
              std::string& key) {
  constexpr char kApart = '\x1f';
  key.clear();
  for (const std::int64_t column : columns) {
    const std::string_view cell = csv.cell_in_file(row, column);
    if (cell.empty())
      throw InputError(csv.place(row, column), Rule::missing,
                       R"(a cell of "series" is empty. Each row names its series.)");
    if (!key.empty()) key += kApart;
    key += cell;
  }
}

}  // namespace

std::string read_series(CsvSource& csv) {
  const std::vector<std::int64_t> columns = csv.series_columns();
  if (columns.empty()) return {};
  LikeNames like("series");
  std::unordered_map<std::string, std::int32_t> numbers;
  std::string key, before;
  csv.series.reserve(static_cast<std::size_t>(csv.all_rows()));
  std::vector<std::int64_t> of_others;
  for (std::int64_t row = 0; row < csv.all_rows(); ++row) {
    read_key(csv, row, columns, key);
    if (row > 0 && key == before) {
      csv.series.push_back(csv.series.back());
      if (row < csv.table.rows())
        like.add(csv.table, row, columns, static_cast<std::size_t>(csv.series.back()));
      continue;
    }
    if (row >= csv.table.rows() && !numbers.contains(key)) {
      of_others.push_back(row - csv.table.rows());
      continue;
    }
    const auto [known, is_new] = numbers.try_emplace(key, static_cast<std::int32_t>(csv.ids.size()));
    if (is_new) {
      std::vector<std::string>& id = csv.ids.emplace_back();
      for (const std::int64_t column : columns) id.emplace_back(csv.cell_in_file(row, column));
    }
    csv.series.push_back(known->second);
    if (row < csv.table.rows()) like.add(csv.table, row, columns, static_cast<std::size_t>(known->second));
    before.swap(key);
  }
  csv.leave_out_future(of_others);
  std::vector<std::string> names;
  for (const std::vector<std::string>& id : csv.ids) names.push_back(PanelSeries{{}, id}.name());
  return like.note(names);
}

void order_rows(CsvSource& csv, std::vector<Instant>& times) {
  const auto time_of = [&](std::int64_t row) {
    return times.empty() ? 0 : times[static_cast<std::size_t>(row)];
  };
  const auto place_of = [&](std::int64_t row) {
    return std::pair(csv.series.empty() ? 0 : csv.series[static_cast<std::size_t>(row)], time_of(row));
  };
  std::vector<std::int64_t> order(static_cast<std::size_t>(csv.all_rows()));
  std::iota(order.begin(), order.end(), 0);
  const std::int64_t own = csv.table.rows();
  if (csv.all_rows() == own && std::ranges::is_sorted(order, {}, place_of)) return;
  if (csv.all_rows() > own && !times.empty()) {
    std::vector<Instant> last(std::max<std::size_t>(csv.ids.size(), 1), std::numeric_limits<Instant>::min());
    for (std::int64_t row = 0; row < own; ++row) {
      Instant& of_series = last[static_cast<std::size_t>(place_of(row).first)];
      of_series = std::max(of_series, time_of(row));
    }
    std::erase_if(order, [&](std::int64_t row) {
      return row >= own && time_of(row) <= last[static_cast<std::size_t>(place_of(row).first)];
    });
  }
  std::ranges::stable_sort(order, {}, place_of);
  if (!times.empty()) {
    std::vector<Instant> sorted;
    sorted.reserve(order.size());
    for (const std::int64_t row : order) sorted.push_back(time_of(row));
    times = std::move(sorted);
  }
  csv.order = std::move(order);
}

std::vector<PanelSeries> series_in(const CsvSource& csv) {
  if (csv.ids.empty()) return {{{0, csv.rows()}, {std::filesystem::path(csv.table.where()).stem().string()}}};
  std::vector<PanelSeries> series;
  for (const std::vector<std::string>& id : csv.ids) series.push_back({{0, 0}, id});
  for (std::int64_t row = 0; row < csv.rows(); ++row)
    ++series[static_cast<std::size_t>(csv.series_of(row))].rows;
  std::int64_t first = 0;
  for (PanelSeries& one : series) {
    one.first = first;
    first = one.end();
  }
  return series;
}

std::vector<std::vector<std::int64_t>> rows_by_series(const CsvSource& csv, std::int64_t begin,
                                                      std::int64_t end) {
  std::vector<std::vector<std::int64_t>> rows(std::max<std::size_t>(csv.ids.size(), 1));
  for (std::int64_t row = begin; row < end; ++row)
    rows[csv.series.empty() ? 0 : static_cast<std::size_t>(csv.series[static_cast<std::size_t>(row)])]
        .push_back(row);
  return rows;
}

}  // namespace lagtape
