#include "lagtape/data/formats/tsf_file.h"

#include <algorithm>

#include "lagtape/core/error.h"
#include "lagtape/core/quote.h"
#include "lagtape/core/text.h"
#include "lagtape/data/table/csv.h"
#include "lagtape/data/table/number.h"
#include "lagtape/data/time/time_format.h"
#include "lagtape/data/time/time_grid.h"

namespace lagtape {

namespace {

/// Removes the text before the next separator, and the separator.
std::string_view take_part(std::string_view& text, std::string_view separators) {
  const std::size_t end = std::min(text.find_first_of(separators), text.size());
  const std::string_view part = text.substr(0, end);
  text.remove_prefix(std::min(end + 1, text.size()));
  return trimmed(part);
}

struct NamedFrequency {
  std::string_view name;
  Frequency frequency;
};

constexpr Frequency seconds(std::int64_t count) { return {.count = count * kOneSecond}; }
constexpr Frequency months(std::int64_t count) { return {.unit = Frequency::Unit::month, .count = count}; }

constexpr NamedFrequency kFrequencies[] = {
    {"secondly", seconds(1)},       {"4_seconds", seconds(4)},    {"minutely", seconds(60)},
    {"5_minutes", seconds(300)},    {"10_minutes", seconds(600)}, {"15_minutes", seconds(900)},
    {"half_hourly", seconds(1800)}, {"hourly", seconds(3600)},    {"daily", seconds(86400)},
    {"weekly", seconds(7 * 86400)}, {"monthly", months(1)},       {"quarterly", months(3)},
    {"yearly", months(12)}};

class TsfReader {
 public:
  TsfReader(std::string_view text, const std::string& where) : text_(text), where_(where) {}

  std::string read(std::vector<std::string>& notes) {
    try {
      read_lines();
    } catch (const InputError& error) {
      throw error.within({.file = where_, .line = line_});
    }
    if (series_ == 0) throw InputError({where_}, Rule::missing, "contains no series behind @data.");
    notes.push_back(text_of(series_, " series", step_ != nullptr ? ", " : "",
                            step_ != nullptr ? step_->name : "", horizon_.empty() ? "" : ", forecast over ",
                            horizon_, horizon_.empty() ? "" : " steps"));
    return std::move(table_);
  }

 private:
  void read_lines() {
    bool in_data = false;
    while (!text_.empty()) {
      std::string_view line = take_part(text_, "\n");
      ++line_;
      if (line.empty() || line.front() == '#') continue;
      if (in_data) {
        read_series(line);
      } else if (line.front() != '@') {
        fail(Rule::syntax, "a tag that begins with @, or @data above the series", line);
      } else {
        in_data = read_tag(line);
      }
    }
  }

  [[noreturn]] static void fail(Rule rule, const std::string& expected, std::string_view found) {
    throw unexpected({}, rule, expected, found.empty() ? "nothing" : quote(found, 40));
  }

  /// Returns whether the series follow.
  bool read_tag(std::string_view line) {
    const std::string_view tag = take_part(line, " \t");
    if (tag == "@attribute") {
      const std::string_view name = take_part(line, " \t"), type = trimmed(line);
      if (type != "string" && type != "numeric" && type != "date")
        fail(Rule::wrong_type, "an attribute of type string, numeric or date", type);
      if (type == "date") time_ = static_cast<std::int64_t>(attributes_);
      if (attributes_ == 0) has_names_ = type == "string";
      table_ += text_of(csv_cell(type == "date" ? "time" : name), ",");
      ++attributes_;
    } else if (tag == "@frequency") {
      const auto found = std::ranges::find(kFrequencies, trimmed(line), &NamedFrequency::name);
      if (found == std::end(kFrequencies)) fail(Rule::syntax, "a frequency such as hourly or monthly", line);
      step_ = &*found;
    } else if (tag == "@horizon") {
      horizon_ = trimmed(line);
    } else if (tag == "@data") {
      if (time_ >= 0 && step_ == nullptr) fail(Rule::missing, "@frequency, as series have start times", {});
      table_ = (has_names_ ? "" : "series,") + table_ + "value\n";
      return true;
    }
    return false;
  }

  Instant read_start(std::string_view text) const {
    std::string date(text);
    if (date.size() == 19) date[13] = date[16] = ':';  // 1979-01-01 00-00-00
    const auto start = read_time(date);
    if (!start) fail(Rule::syntax, "a start time such as 1979-01-01 00-00-00", text);
    return start->time;
  }

  void read_series(std::string_view line) {
    // The cells before and after the time.
    std::string before = has_names_ ? "" : text_of(series_ + 1, ","), behind;
    Instant start = 0;
    for (std::size_t i = 0; i < attributes_; ++i) {
      if (line.find(':') == line.npos)
        fail(Rule::shape, text_of(attributes_, " attributes and the values"), line);
      const std::string_view part = take_part(line, ":");
      if (static_cast<std::int64_t>(i) == time_)
        start = read_start(part);
      else
        (static_cast<std::int64_t>(i) < time_ || time_ < 0 ? before : behind) += text_of(csv_cell(part), ",");
    }
    const TimeGrid grid = time_ >= 0 ? TimeGrid(step_->frequency, start) : TimeGrid();
    const bool has_clock = start % kOneDay != 0 || (time_ >= 0 && grid.time(1) % kOneDay != 0);
    const TimeFormat format(has_clock ? "%Y-%m-%d %H:%M:%S" : "%Y-%m-%d");
    for (std::int64_t row = 0; !line.empty(); ++row) {
      const std::string_view value = take_part(line, ",");
      if (!is_missing(value) && !parse_number(value)) fail(Rule::wrong_type, "a number", value);
      table_ += before;
      if (time_ >= 0) table_ += format.write(grid.time(row)) + ",";
      table_ += behind;
      table_ += value;
      table_ += '\n';
    }
    ++series_;
  }

  std::string_view text_;
  const std::string& where_;
  std::string table_ = {}, horizon_ = {};
  std::size_t attributes_ = 0;
  bool has_names_ =
      false;  ///< the first attribute is a text; otherwise series are numbered in a column before the others
  std::int64_t time_ = -1;  ///< the attribute that is the start time
  const NamedFrequency* step_ = nullptr;
  std::int64_t line_ = 0, series_ = 0;
};

}  // namespace

std::string long_table_of_tsf(std::string_view text, const std::string& where,
                              std::vector<std::string>& notes) {
  return TsfReader(text, where).read(notes);
}

}  // namespace lagtape
