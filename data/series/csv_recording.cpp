#include "lagtape/data/series/csv_recording.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <unordered_map>
#include <unordered_set>

#include "lagtape/core/byte_size.h"
#include "lagtape/core/error.h"
#include "lagtape/core/quote.h"
#include "lagtape/core/system_memory.h"
#include "lagtape/data/series/calendar.h"
#include "lagtape/data/series/csv_reader.h"
#include "lagtape/data/series/fill.h"
#include "lagtape/data/series/time_stamp.h"

namespace lagtape {

namespace {

using Column = CsvReader::Column;

/// Makes a recording of a file, step by step.
class CsvRecording {
 public:
  CsvRecording(const SeriesOptions& options, const std::filesystem::path& path, bool allow_future)
      : options_(options), csv_(options, path), allow_future_(allow_future) {
    for (const Category& category : options.categories) categorical_.insert(category.column);
  }

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
    if (!result_.is_filled.empty()) keep_missing_targets(unfilled);
    if (options_.missing == Missing::mask) add_masks(unfilled);
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
    result_.has_dates = csv_.is_date(0, column);
    if (result_.has_dates) find_offset(column);
    for (std::size_t i = 1; i < order_.size(); ++i) {
      if (result_.times[i] != result_.times[i - 1]) continue;
      throw InputError(
          text_of(csv_.where(), ": lines ", csv_.line(order_[i - 1]), " and ", csv_.line(order_[i]),
                  ": both are of ", csv_.cell(order_[i], column),
                  ", expected one row for each time. Where clocks are set back, an offset tells such ",
                  "hours apart, as in 2024-10-27T02:00+01:00."));
    }
    divide_at_gaps();
    if (!std::ranges::is_sorted(order_)) result_.notes.emplace_back("rows were sorted by time");
  }

  /// Finds the offset from UTC that all dates have, or that they have several.
  void find_offset(std::int64_t column) {
    const auto offset_in = [&](std::int64_t row) {
      const std::optional<TimeStamp> stamp = parse_time_stamp(csv_.cell(row, column));
      return stamp ? stamp->offset : std::nullopt;
    };
    result_.offset = offset_in(0);
    result_.has_offsets = result_.offset.has_value();
    for (std::int64_t row = 1; row < csv_.rows(); ++row) {
      const std::optional<double> offset = offset_in(row);
      result_.has_offsets = result_.has_offsets || offset.has_value();
      if (offset != result_.offset) result_.offset = {};
    }
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
    return entry.is_string() && categorical_.contains(entry.get<std::string>());
  }

  /// The measured column of that number of the file, which is read when it is asked for first.
  std::int64_t measured(std::int64_t column) {
    const auto [place, is_new] = places_.emplace(column, std::ssize(columns_));
    if (!is_new) return place->second;
    const Column unsorted = csv_.numbers(column);
    Column& sorted = columns_.emplace_back();
    for (const std::int64_t row : order_) sorted.push_back(unsorted[static_cast<std::size_t>(row)]);
    sources_.push_back(column);
    return place->second;
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
    std::vector<bool> is_target(columns_.size(), false);
    for (const std::int64_t target : result_.target) is_target[static_cast<std::size_t>(target)] = true;
    for (std::size_t i = 0; i < columns_.size(); ++i) {
      const std::int64_t rows = csv_.rows() - (is_target[i] ? result_.future : 0);
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
    constexpr const char* kByLines =
        "filled by lines to later numbers, which a forecast does not know (\"hold\" and \"mask\" do without)";
    if (filled > 0)
      result_.notes.push_back(text_of(filled, filled == 1 ? " cell" : " cells", " without a number ",
                                      options_.missing == Missing::mask          ? "masked"
                                      : options_.missing == Missing::interpolate ? kByLines
                                                                                 : "filled"));
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

  /// Gives targets columns in which numbers are still missing: what is made up of others is neither learnt nor scored.
  void keep_missing_targets(const std::vector<Column>& unfilled) {
    for (std::int64_t& target : result_.target) {
      columns_.push_back(unfilled[static_cast<std::size_t>(target)]);
      result_.is_scaled.push_back(true);
      made_names_.push_back(name_of(target));
      target = std::ssize(columns_) - 1;
    }
  }

  /// Gives each input a mask.
  void add_masks(const std::vector<Column>& unfilled) {
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
    std::int64_t words = 0;
    for (const Category& category : options_.categories) {
      refuse_many(category);
      words += std::ssize(category.values);
    }
    refuse_large(words);
    for (const Category& category : options_.categories) add_category(category);
  }

  void add_category(const Category& category) {
    const std::int64_t source = csv_.column(category.column);
    std::unordered_map<std::string_view, std::int64_t> places;
    for (const std::string& value : category.values) places.emplace(value, std::ssize(places));
    std::vector<std::int64_t> place_of_row;
    for (const std::int64_t row : order_) {
      const std::string_view word = csv_.cell(row, source);
      const auto found = places.find(word);
      if (found != places.end()) {
        place_of_row.push_back(found->second);
      } else if (!is_missing(word)) {
        throw InputError(text_of(csv_.place(row, source), ": ", unknown_name("word", word, category.values)));
      } else if (options_.missing == Missing::error) {
        throw InputError(text_of(csv_.place(row, source),
                                 ": there is no word. With \"missing\", such as \"hold\", ",
                                 "a cell without one is none of the words."));
      } else {
        place_of_row.push_back(-1);
      }
    }
    const std::int64_t first = std::ssize(columns_);
    for (const std::string& value : category.values) add_column(text_of(category.column, "=", value));
    for (std::size_t i = 0; i < place_of_row.size(); ++i)
      if (place_of_row[i] >= 0) columns_[static_cast<std::size_t>(first + place_of_row[i])][i] = 1;
  }

  /// Refuses words that take more than half of the memory as inputs of every row, which are held twice in between.
  void refuse_large(std::int64_t words) const {
    const double bytes = 2.0 * sizeof(double) * static_cast<double>(csv_.rows()) *
                         static_cast<double>(std::ssize(columns_) + words);
    if (words == 0 || bytes <= static_cast<double>(system_memory()) / 2) return;
    throw InputError(
        text_of(csv_.where(), ": ", words, " words of \"categories\" in ", csv_.rows(), " rows take ",
                bytes_of(static_cast<std::int64_t>(std::min(bytes, 9e18))),
                ", more than half of the memory. Write rare words as one, or leave a column out."));
  }

  /// Every word becomes a number in every row, which a list of names or codes by mistake makes too many.
  void refuse_many(const Category& category) const {
    constexpr std::size_t kMostWords = 4096;
    if (category.values.size() <= kMostWords) return;
    throw InputError(text_of(csv_.where(), ": column ", quote(category.column), ": ", category.values.size(),
                             " words make as many inputs in each of ", csv_.rows(), " rows, at most ",
                             kMostWords,
                             " are supported. Write rare words as one, or leave the column out."));
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
  std::vector<std::int64_t> order_;                        ///< rows of the file by time
  std::vector<Column> columns_;                            ///< by time: the measured ones first
  std::unordered_set<std::string> categorical_;            ///< the columns of words
  std::unordered_map<std::int64_t, std::int64_t> places_;  ///< by column of the file: the measured one
  std::vector<std::int64_t> sources_;                      ///< the file's columns that were measured
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
