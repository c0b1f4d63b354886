#include "lagtape/data/series/csv_recording.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <limits>
#include <numeric>
#include <optional>

#include "lagtape/core/error.h"
#include "lagtape/core/io/csv.h"
#include "lagtape/core/io/file.h"
#include "lagtape/data/formats/text_table.h"
#include "lagtape/data/series/calendar.h"
#include "lagtape/data/series/fill.h"
#include "lagtape/data/series/time_stamp.h"

namespace lagtape {

namespace {

using Column = std::vector<double>;

std::optional<double> number_in(std::string_view cell, char decimal) {
  std::string text(cell);
  if (text.starts_with('+') && !text.starts_with("+-")) text.erase(0, 1);
  if (decimal != '.') {
    if (text.find('.') != std::string::npos) return {};
    std::ranges::replace(text, decimal, '.');
  }
  double value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (text.empty() || error != std::errc() || end != text.data() + text.size()) return {};
  return value;
}

/// Reads a table's columns by the options, and keeps the places of cells for messages.
class CsvReader {
 public:
  CsvReader(const SeriesOptions& options, const std::filesystem::path& path)
      : options_(options),
        where_(path.string()),
        table_(parse_text_table(read_file(path), where_, options.separator)) {
    const auto row = std::span(table_.cells).first(static_cast<std::size_t>(table_.columns));
    const bool has_names = std::ranges::any_of(row, [](auto cell) { return !is_missing(cell); }) &&
                           std::ranges::none_of(row, [&](auto cell) {
                             return number_in(cell, options.decimal) || parse_time(cell);
                           });
    if (has_names) names_.assign(row.begin(), row.end());
    first_ = has_names ? 1 : 0;
    if (rows() == 0) throw InputError(text_of(where_, ": contains names and no numbers."));
  }

  std::int64_t rows() const { return table_.rows() - first_; }
  std::int64_t columns() const { return table_.columns; }
  const std::vector<std::string>& names() const { return names_; }
  const std::string& where() const { return where_; }
  std::int64_t line(std::int64_t row) const { return table_.lines[static_cast<std::size_t>(row + first_)]; }
  std::string_view cell(std::int64_t row, std::int64_t column) const {
    return table_.cell(row + first_, column);
  }

  std::int64_t column(const Json& entry) const {
    if (entry.is_string()) {
      if (names_.empty())
        throw InputError(text_of(where_, ": its columns have no names. Got ", entry.dump(), "."));
      return column_named(entry.get<std::string>(), names_, where_);
    }
    const auto number = entry.get<std::int64_t>();
    if (number >= columns())
      throw InputError(text_of(where_, ": columns are 0..", columns() - 1, ". Got ", number, "."));
    return number;
  }

  /// "own.csv: line 3, column 2 (load)".
  std::string place(std::int64_t row, std::int64_t column) const {
    const std::string name =
        names_.empty() ? "" : text_of(" (", names_[static_cast<std::size_t>(column)], ")");
    return text_of(where_, ": line ", line(row), ", column ", column + 1, name);
  }

  /// The numbers of a column, NaN where there is none.
  Column numbers(std::int64_t column) const {
    Column values;
    values.reserve(static_cast<std::size_t>(rows()));
    for (std::int64_t row = 0; row < rows(); ++row) {
      const std::string_view text = cell(row, column);
      const std::optional<double> value = number_in(text, options_.decimal);
      if (value && std::isfinite(*value)) {
        values.push_back(*value);
      } else if (is_missing(text)) {
        values.push_back(std::numeric_limits<double>::quiet_NaN());
      } else {
        refuse(row, column, text);
      }
    }
    return values;
  }

  Column times() const {
    const std::int64_t column = this->column(options_.time);
    Column values;
    for (std::int64_t row = 0; row < rows(); ++row) {
      const std::optional<double> time = parse_time(cell(row, column));
      if (!time || std::abs(*time) > kLatest) {
        throw InputError(text_of(place(row, column),
                                 ": expected a date such as 2024-01-31 13:00, or seconds since ",
                                 "1970. Got '", cell(row, column).substr(0, 40), "'."));
      }
      values.push_back(*time);
    }
    return values;
  }

 private:
  static constexpr double kLatest = 253402300799.0;  // the end of the year 9999; milliseconds lie beyond it

  [[noreturn]] void refuse(std::int64_t row, std::int64_t column, std::string_view text) const {
    std::string hint;
    if (options_.decimal == '.' && number_in(text, ',')) {
      hint = R"( With "decimal": "," commas are decimal points.)";
    } else if (options_.input.is_null()) {
      hint = R"( Name the columns to read in "input"; all others are ignored.)";
    } else if (!names_.empty()) {
      hint = R"( Columns of words are named in "categories".)";
    }
    throw InputError(
        text_of(place(row, column), ": expected a finite number, got '", text.substr(0, 40), "'.", hint));
  }

  const SeriesOptions& options_;
  std::string where_;
  TextTable table_;
  std::vector<std::string> names_;
  std::int64_t first_ = 0;  ///< the first row of numbers
};

/// Makes a recording of a file, step by step.
class CsvRecording {
 public:
  CsvRecording(const SeriesOptions& options, const std::filesystem::path& path, bool allow_future)
      : options_(options), csv_(options, path), allow_future_(allow_future) {}

  Recordings read() {
    order_.resize(static_cast<std::size_t>(csv_.rows()));
    std::iota(order_.begin(), order_.end(), 0);
    result_.recordings = {{0, csv_.rows()}};
    result_.stretches = result_.recordings;
    if (!options_.time.empty()) read_times();
    add_columns();
    if (allow_future_) find_future();
    result_.measured = result_.target;
    const std::vector<Column> unfilled = columns_;
    treat_missing();
    mark_filled(unfilled);
    result_.is_scaled.assign(columns_.size(), true);
    if (options_.missing == Missing::mask) keep_missing(unfilled);
    add_categories();
    add_calendar();
    assemble();
    return std::move(result_);
  }

 private:
  // ---- rows ----

  void read_times() {
    const Column unsorted = csv_.times();
    std::ranges::stable_sort(order_, {},
                             [&](std::int64_t row) { return unsorted[static_cast<std::size_t>(row)]; });
    for (const std::int64_t row : order_) result_.times.push_back(unsorted[static_cast<std::size_t>(row)]);
    const std::int64_t column = csv_.column(options_.time);
    result_.has_dates = !number_in(csv_.cell(0, column), '.');
    for (std::size_t i = 1; i < order_.size(); ++i) {
      if (result_.times[i] != result_.times[i - 1]) continue;
      throw InputError(text_of(csv_.where(), ": lines ", csv_.line(order_[i - 1]), " and ",
                               csv_.line(order_[i]), ": both are of ", csv_.cell(order_[i], column),
                               ", expected one row for each time."));
    }
    divide_at_gaps();
    if (!std::ranges::is_sorted(order_)) result_.notes.emplace_back("rows were sorted by time");
  }

  void divide_at_gaps() {
    const Column& times = result_.times;
    if (times.size() < 2) return;
    Column steps;
    for (std::size_t i = 1; i < times.size(); ++i) steps.push_back(times[i] - times[i - 1]);
    std::ranges::nth_element(steps, steps.begin() + std::ssize(steps) / 2);
    result_.interval = steps[steps.size() / 2];
    std::vector<Stretch> stretches = {{0, 1}};
    for (std::size_t i = 1; i < times.size(); ++i) {
      if (times[i] - times[i - 1] > 1.5 * result_.interval) {
        stretches.push_back({static_cast<std::int64_t>(i), 0});
      }
      stretches.back().rows += 1;
    }
    std::string note = text_of(times.size(), " rows, one every ", result_.interval, " s");
    if (stretches.size() > 1) {
      const std::int64_t after = stretches[1].first;
      note += text_of(
          ", with ", stretches.size() - 1,
          stretches.size() == 2 ? " gap, before " : " gaps, the first before ",
          csv_.cell(order_[static_cast<std::size_t>(after)], csv_.column(options_.time)),
          options_.across_gaps ? "; windows reach over them (across_gaps)" : "; no window reaches over one");
    }
    result_.notes.push_back(note);
    if (!options_.across_gaps) result_.stretches = std::move(stretches);
  }

  // ---- columns ----

  bool is_category(const Json& entry) const {
    return entry.is_string() && std::ranges::find(options_.categories, entry.get<std::string>(),
                                                  &Category::column) != options_.categories.end();
  }

  /// The measured column of that number of the file, which is read when it is asked for first.
  std::int64_t measured(std::int64_t column) {
    const auto found = std::ranges::find(sources_, column);
    if (found != sources_.end()) return found - sources_.begin();
    const Column unsorted = csv_.numbers(column);
    Column& sorted = columns_.emplace_back();
    for (const std::int64_t row : order_) sorted.push_back(unsorted[static_cast<std::size_t>(row)]);
    sources_.push_back(column);
    return std::ssize(columns_) - 1;
  }

  void add_columns() {
    if (options_.input.is_null()) {
      const std::int64_t time = options_.time.empty() ? -1 : csv_.column(options_.time);
      for (std::int64_t column = 0; column < csv_.columns(); ++column)
        if (column != time) result_.input.push_back(measured(column));
    } else {
      for (const Json& entry : options_.input)
        if (!is_category(entry)) result_.input.push_back(measured(csv_.column(entry)));
    }
    result_.target = result_.input;
    if (options_.target.is_null()) return;
    result_.target.clear();
    for (const Json& entry : options_.target) result_.target.push_back(measured(csv_.column(entry)));
  }

  void find_future() {
    std::int64_t& future = result_.future;
    const auto is_known = [&](std::int64_t column) {
      return !std::isnan(
          columns_[static_cast<std::size_t>(column)][static_cast<std::size_t>(csv_.rows() - 1 - future)]);
    };
    while (future < csv_.rows() && std::ranges::none_of(result_.target, is_known)) ++future;
  }

  void treat_missing() {
    std::int64_t filled = 0;
    for (std::size_t i = 0; i < columns_.size(); ++i) {
      const bool is_target =
          std::ranges::find(result_.target, static_cast<std::int64_t>(i)) != result_.target.end();
      const std::int64_t rows = csv_.rows() - (is_target ? result_.future : 0);
      const auto known = std::span(columns_[i]).first(static_cast<std::size_t>(rows));
      const auto missing = std::ranges::count_if(known, [](double value) { return std::isnan(value); });
      if (missing == 0) continue;
      if (options_.missing == Missing::error) refuse_missing(i, missing);
      filled += missing;
      std::erase_if(result_.stretches, [&](const Stretch& stretch) {
        const std::int64_t end = std::min(stretch.first + stretch.rows, rows);
        return end > stretch.first &&
               !fill_missing(known.subspan(static_cast<std::size_t>(stretch.first),
                                           static_cast<std::size_t>(end - stretch.first)),
                             options_.missing);
      });
    }
    if (filled > 0)
      result_.notes.push_back(text_of(filled, filled == 1 ? " cell" : " cells", " without a number ",
                                      options_.missing == Missing::mask ? "masked" : "filled"));
    if (result_.stretches.empty())
      throw InputError(
          text_of(csv_.where(), ": a column that \"input\" or \"target\" names has no numbers."));
  }

  void mark_filled(const std::vector<Column>& unfilled) {
    const std::size_t targets = result_.target.size();
    std::vector<bool> filled(order_.size() * targets, false);
    for (std::size_t i = 0; i < targets; ++i) {
      const Column& column = unfilled[static_cast<std::size_t>(result_.target[i])];
      for (std::size_t row = 0; row < column.size(); ++row)
        filled[row * targets + i] = std::isnan(column[row]);
    }
    if (std::ranges::find(filled, true) != filled.end()) result_.is_filled = std::move(filled);
  }

  [[noreturn]] void refuse_missing(std::size_t i, std::int64_t missing) const {
    const Column& column = columns_[i];
    const auto row =
        std::ranges::find_if(column, [](double value) { return std::isnan(value); }) - column.begin();
    throw InputError(
        text_of(csv_.place(order_[static_cast<std::size_t>(row)], sources_[i]), ": there is no number. ",
                missing, " of ", csv_.rows(),
                " rows have none in this column; \"missing\": ", "\"interpolate\" or \"hold\" fills them."));
  }

  /// Gives each input a mask, and targets the columns in which numbers are still missing.
  void keep_missing(const std::vector<Column>& unfilled) {
    for (std::int64_t& target : result_.target) {
      columns_.push_back(unfilled[static_cast<std::size_t>(target)]);
      result_.is_scaled.push_back(true);
      made_names_.push_back(name_of(target));
      target = std::ssize(columns_) - 1;
    }
    for (const std::int64_t input : std::vector(result_.input)) {
      add_column(text_of(name_of(input), " is there"));
      std::ranges::transform(unfilled[static_cast<std::size_t>(input)], columns_.back().begin(),
                             [](double value) { return std::isnan(value) ? 0.0 : 1.0; });
      masks_ += 1;
    }
  }

  std::string name_of(std::int64_t measured) const {
    const std::int64_t source = sources_[static_cast<std::size_t>(measured)];
    return csv_.names().empty() ? text_of("column ", source) : csv_.names()[static_cast<std::size_t>(source)];
  }

  void add_categories() {
    for (const Category& category : options_.categories) {
      const std::int64_t source = csv_.column(category.column);
      const std::int64_t first = std::ssize(columns_);
      for (const std::string& value : category.values) add_column(text_of(category.column, "=", value));
      for (std::size_t i = 0; i < order_.size(); ++i) {
        const std::string_view word = csv_.cell(order_[i], source);
        const auto found = std::ranges::find(category.values, word);
        if (found == category.values.end())
          throw InputError(
              text_of(csv_.place(order_[i], source), ": ", unknown_name("word", word, category.values)));
        columns_[static_cast<std::size_t>(first + (found - category.values.begin()))][i] = 1;
      }
    }
  }

  void add_calendar() {
    for (const std::string& name : options_.calendar) {
      const std::size_t first = columns_.size();
      add_column(text_of("sine of ", name));
      add_column(text_of("cosine of ", name));
      for (std::size_t i = 0; i < result_.times.size(); ++i) {
        double angle[2];
        write_calendar(calendar_input(name), result_.times[i], angle);
        columns_[first][i] = angle[0];
        columns_[first + 1][i] = angle[1];
      }
    }
  }

  /// Adds an input of zeros that is not scaled.
  void add_column(std::string name) {
    result_.input.push_back(std::ssize(columns_));
    result_.is_scaled.push_back(false);
    columns_.emplace_back(static_cast<std::size_t>(csv_.rows()), 0.0);
    made_names_.push_back(std::move(name));
  }

  void assemble() {
    for (std::int64_t i = 0; i < std::ssize(sources_); ++i) result_.names.push_back(name_of(i));
    result_.names.insert(result_.names.end(), made_names_.begin(), made_names_.end());
    result_.is_mask.assign(result_.input.size(), false);
    for (std::int64_t i = masks_; i < 2 * masks_; ++i) result_.is_mask[static_cast<std::size_t>(i)] = true;
    const std::int64_t width = std::ssize(columns_);
    result_.values = Tensor({csv_.rows(), width}, Dtype::f64);
    double* to = result_.values.values<double>().data();
    for (std::int64_t row = 0; row < csv_.rows(); ++row)
      for (const Column& column : columns_) *to++ = column[static_cast<std::size_t>(row)];
  }

  const SeriesOptions& options_;
  CsvReader csv_;
  bool allow_future_;
  std::vector<std::int64_t> order_;    ///< rows of the file by time
  std::vector<Column> columns_;        ///< by time: the measured ones first
  std::vector<std::int64_t> sources_;  ///< the file's columns that were measured
  std::vector<std::string> made_names_;
  std::int64_t masks_ = 0;  ///< inputs that are masks, which follow those that are measured
  Recordings result_;
};

}  // namespace

Recordings read_csv_recording(const SeriesOptions& options, const std::filesystem::path& path,
                              bool allow_future) {
  return CsvRecording(options, path, allow_future).read();
}

}  // namespace lagtape
