#include "lagtape/data/formats/ts_file.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <fstream>
#include <limits>
#include <optional>
#include <unordered_map>

#include "lagtape/core/error.h"
#include "lagtape/core/quote.h"
#include "lagtape/core/text.h"
#include "lagtape/data/table/number.h"

namespace lagtape {

namespace {

constexpr float kMissing = std::numeric_limits<float>::quiet_NaN();

std::string lower(std::string_view text) {
  std::string result(text);
  for (char& c : result) c = c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
  return result;
}

/// Takes the part before the next separator off the text, and the separator with it.
std::string_view take_part(std::string_view& text, char separator) {
  const std::size_t end = std::min(text.find(separator), text.size());
  const std::string_view part = text.substr(0, end);
  text.remove_prefix(std::min(end + 1, text.size()));
  return part;
}

/// Published files comment with '#', with '%' or with both.
bool is_comment(std::string_view line) { return line.front() == '#' || line.front() == '%'; }

/// The tags of a file's header.
struct Tags {
  std::optional<bool> timestamps, univariate, equal_length, class_label, target_label;
  std::optional<std::int64_t> dimensions, length;
  std::vector<std::string> classes;
};

class TsReader {
 public:
  TsReader(const std::filesystem::path& path, MissingValues missing, TsData& data)
      : path_(path.string()), missing_(missing), data_(data), first_(data.sequences.size() == 0) {}

  void read(std::istream& file) {
    const std::int64_t before = data_.sequences.size();
    bool in_data = false;
    for (std::string text; std::getline(file, text);) {
      line_ += 1;
      const std::string_view line = trimmed(text);
      if (line.empty() || is_comment(line)) continue;
      if (in_data) {
        read_sequence(line);
      } else if (line.front() != '@') {
        refuse_value(Rule::syntax, "a tag (@...) or a comment (# or %) before @data", quote(line));
      } else if (lower(line) == "@data") {
        check_tags();
        in_data = true;
      } else {
        read_tag(line);
      }
    }
    if (file.bad()) throw InputError({path_}, Rule::cannot_read, "cannot be read to its end.");
    if (!in_data) throw InputError({path_}, Rule::missing, "not a .ts file: it has no line @data.");
    if (data_.sequences.size() == before) throw InputError({path_}, Rule::missing, "contains no sequences.");
  }

 private:
  [[noreturn]] void refuse(const Problem& problem) const {
    throw InputError(problem.within({.file = path_, .line = line_}));
  }
  [[noreturn]] void refuse_value(Rule rule, const std::string& expected, const std::string& found) const {
    refuse({.rule = rule, .found = found, .expected = expected});
  }
  [[noreturn]] void refuse(Rule rule, const std::string& statement, const std::string& found = {}) const {
    refuse({.rule = rule, .statement = found.empty() ? statement + "." : statement, .found = found});
  }

  void read_tag(std::string_view line) {
    const std::string tag = lower(take_part(line, ' '));
    std::string_view rest = trimmed(line);
    const std::string_view value = take_part(rest, ' ');
    if (tag == "@problemname" || tag == "@missing") return;
    if (tag == "@timestamps") {
      tags_.timestamps = truth(tag, value);
    } else if (tag == "@univariate") {
      tags_.univariate = truth(tag, value);
    } else if (tag == "@equallength") {
      tags_.equal_length = truth(tag, value);
    } else if (tag == "@dimensions" || tag == "@dimension") {
      tags_.dimensions = count(tag, value);
    } else if (tag == "@serieslength") {
      tags_.length = count(tag, value);
    } else if (tag == "@targetlabel") {
      tags_.target_label = truth(tag, value);
    } else if (tag == "@classlabel") {
      tags_.class_label = truth(tag, value);
      while (!rest.empty()) {
        const std::string_view name = take_part(rest, ' ');
        if (!name.empty()) tags_.classes.emplace_back(name);
      }
    } else {
      refuse(unknown_name("tag", tag,
                          {"@problemname", "@timestamps", "@missing", "@univariate", "@dimensions",
                           "@equallength", "@serieslength", "@classlabel", "@targetlabel", "@data"}));
    }
  }

  bool truth(const std::string& tag, std::string_view value) const {
    const std::string word = lower(value);
    if (word != "true" && word != "false")
      refuse_value(Rule::wrong_type, text_of("true or false after ", tag), quote(value));
    return word == "true";
  }

  std::int64_t count(const std::string& tag, std::string_view value) const {
    std::int64_t number = 0;
    const auto [end, error] = std::from_chars(value.data(), value.data() + value.size(), number);
    if (error != std::errc{} || end != value.data() + value.size() || number < 1 || number > 1'000'000'000) {
      refuse_value(Rule::wrong_type, text_of("a number from 1 after ", tag), quote(value));
    }
    return number;
  }

  void check_tags() {
    if (tags_.timestamps.value_or(false))
      refuse(Rule::not_supported, "sequences with time stamps are not read: @timeStamps true");
    const bool classes = tags_.class_label.value_or(false), real = tags_.target_label.value_or(false);
    if (classes == real) {
      refuse_value(Rule::conflict, "@classLabel true or @targetLabel true, and not both",
                   classes ? "both" : "none");
    }
    if (classes && tags_.classes.size() < 2)
      refuse_value(Rule::missing, "at least 2 classes after @classLabel true", "");
    for (std::size_t i = 0; i < tags_.classes.size(); ++i)
      class_of_.emplace(tags_.classes[i], static_cast<std::int32_t>(i));
    if (tags_.univariate.value_or(false) && tags_.dimensions.value_or(1) != 1) {
      refuse(Rule::conflict, text_of("@univariate true contradicts @dimensions ", *tags_.dimensions));
    }
    if (tags_.univariate.value_or(false)) tags_.dimensions = 1;
    if (first_) {
      data_.classes = tags_.classes;
    } else if (data_.classes != tags_.classes) {
      refuse(Rule::conflict, "its classes are not those of the first file");
    }
    if (!first_) {
      const std::int64_t before = data_.sequences.input;
      if (tags_.dimensions.value_or(before) != before) {
        refuse_value(Rule::shape, text_of("@dimensions ", before, " as in the first file"),
                     text_of(*tags_.dimensions));
      }
      tags_.dimensions = before;
    }
  }

  void read_sequence(std::string_view line) {
    const std::int64_t dimensions = std::count(line.begin(), line.end(), ':');
    if (dimensions == 0) refuse_value(Rule::syntax, "values, a colon and a target", quote(line));
    if (!tags_.dimensions) tags_.dimensions = dimensions;
    if (dimensions != *tags_.dimensions) {
      refuse_value(Rule::shape, text_of(*tags_.dimensions, " dimensions"), std::to_string(dimensions));
    }
    StoredSequences& stored = data_.sequences;
    stored.input = dimensions;
    const std::size_t start = stored.x.size();
    std::size_t steps = 0;
    for (std::int64_t d = 0; d < dimensions; ++d) {
      read_values(take_part(line, ':'), d);
      if (d == 0) {
        steps = values_.size();
        stored.x.resize(start + steps * static_cast<std::size_t>(dimensions));
      } else if (values_.size() != steps) {
        refuse(Rule::shape,
               text_of("dimension ", d, " has ", values_.size(), " steps, and dimension 0 has ", steps));
      }
      for (std::size_t n = 0; n < steps; ++n) {
        stored.x[start + n * static_cast<std::size_t>(dimensions) + static_cast<std::size_t>(d)] = values_[n];
      }
    }
    check_length(static_cast<std::int64_t>(steps));
    stored.end_sequence();
    read_target(trimmed(line));
  }

  /// Reads the values of one dimension into values_.
  void read_values(std::string_view text, std::int64_t dimension) {
    values_.clear();
    bool some_missing = false;
    for (bool more = true; more;) {
      more = text.find(',') != std::string_view::npos;
      const std::string_view field = trimmed(take_part(text, ','));
      const std::optional<float> value = parse_number<float>(field);
      if (value && std::isfinite(*value)) {
        values_.push_back(*value);
      } else if (field == "?" || lower(field) == "nan") {
        values_.push_back(kMissing);
        some_missing = true;
      } else {
        refuse_value(Rule::wrong_type,
                     text_of("a number in dimension ", dimension, ", step ", values_.size()), quote(field));
      }
    }
    if (some_missing) fill_missing(dimension);
  }

  void fill_missing(std::int64_t dimension) {
    const auto known = [](float v) { return !std::isnan(v); };
    const auto gap = std::find_if_not(values_.begin(), values_.end(), known);
    if (missing_ == MissingValues::error) {
      refuse(Rule::missing, text_of("dimension ", dimension, ", step ", gap - values_.begin(),
                                    ": the value is missing. Choose with data.missing what takes its place"));
    }
    if (missing_ == MissingValues::zero) {
      std::replace_if(
          values_.begin(), values_.end(), [](float v) { return std::isnan(v); }, 0.0f);
      return;
    }
    auto left = std::find_if(values_.begin(), values_.end(), known);
    if (left == values_.end())
      refuse(Rule::missing, text_of("dimension ", dimension, " has missing values only"));
    std::fill(values_.begin(), left, *left);
    while (left != values_.end()) {
      const auto right = std::find_if(left + 1, values_.end(), known);
      for (auto at = left + 1; at != right; ++at) {
        const double part = static_cast<double>(at - left) / static_cast<double>(right - left);
        *at = right == values_.end() ? *left
                                     : static_cast<float>(*left + part * (double{*right} - double{*left}));
      }
      left = right;
    }
  }

  void check_length(std::int64_t steps) {
    if (!tags_.equal_length.value_or(false)) return;
    if (!tags_.length) tags_.length = steps;
    if (steps != *tags_.length)
      refuse_value(Rule::shape, text_of(*tags_.length, " steps (@equalLength true)"), std::to_string(steps));
  }

  void read_target(std::string_view text) {
    if (!tags_.classes.empty()) {
      const auto found = class_of_.find(std::string(text));
      if (found == class_of_.end()) refuse(unknown_name("class", text, tags_.classes));
      data_.sequences.classes.push_back(found->second);
      return;
    }
    const std::optional<double> target = parse_number(text);
    if (!target || !std::isfinite(*target))
      refuse_value(Rule::wrong_type, "a finite number as target", quote(text));
    data_.sequences.y.push_back(*target);
  }

  std::string path_;
  MissingValues missing_;
  TsData& data_;
  bool first_;
  std::int64_t line_ = 0;
  Tags tags_;
  std::unordered_map<std::string, std::int32_t> class_of_;  ///< the number of each class
  std::vector<float> values_;
};

}  // namespace

void read_ts_file(const std::filesystem::path& path, MissingValues missing, TsData& data) {
  std::error_code error;
  std::ifstream file;
  if (std::filesystem::is_regular_file(path, error)) file.open(path, std::ios::binary);
  if (!file.is_open()) {
    throw InputError({path.string()}, Rule::cannot_read,
                     "cannot be read. The task ts reads NAME_TRAIN.ts and NAME_TEST.ts from the folder "
                     "data.path; `lagtape list tasks ts` says where they come from.");
  }
  TsReader(path, missing, data).read(file);
}

}  // namespace lagtape
