#include "lagtape/data/formats/archive_sequences.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "lagtape/core/error.h"
#include "lagtape/core/quote.h"
#include "lagtape/core/text.h"
#include "lagtape/data/table/number.h"

namespace lagtape {

namespace {

constexpr double kMissing = std::numeric_limits<double>::quiet_NaN();

bool is_known(double value) { return !std::isnan(value); }

bool is_even(const std::vector<double>& times) {
  for (std::size_t n = 2; n < times.size(); ++n) {
    const double first = times[1] - times[0], step = times[n] - times[n - 1];
    if (std::abs(step - first) > 1e-6 * std::abs(first)) return false;
  }
  return true;
}

}  // namespace

std::string_view take_part(std::string_view& text, char separator) {
  const std::size_t end = std::min(text.find(separator), text.size());
  const std::string_view part = text.substr(0, end);
  text.remove_prefix(std::min(end + 1, text.size()));
  return part;
}

std::vector<std::string_view> parts_of(std::string_view text, char separator) {
  std::vector<std::string_view> parts;
  std::size_t begin = 0;
  bool inside = false;
  for (std::size_t i = 0; i < text.size(); ++i) {
    inside = text[i] == '(' || (inside && text[i] != ')');
    if (inside || text[i] != separator) continue;
    parts.push_back(text.substr(begin, i - begin));
    begin = i + 1;
  }
  parts.push_back(text.substr(begin));
  return parts;
}

std::string in_lower_case(std::string_view text) {
  std::string result(text);
  for (char& c : result) c = c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
  return result;
}

ArchiveBuilder::ArchiveBuilder(const std::filesystem::path& path, const ArchiveOptions& options,
                               ArchiveData& data)
    : path_(path.string()), options_(options), data_(data), before_(data.sequences.size()) {
  if (before_ > 0) dimensions_ = data.sequences.input - (options.steps_of_time ? 1 : 0);
}

void ArchiveBuilder::set_classes(std::vector<std::string> classes) {
  if (before_ == 0)
    data_.classes = std::move(classes);
  else if (data_.classes != classes)
    refuse(Rule::conflict, "its classes are not those of the first file");
  for (const std::string& name : data_.classes)
    class_of_.emplace(name, static_cast<std::int32_t>(class_of_.size()));
}

void ArchiveBuilder::set_dimensions(std::int64_t dimensions) {
  if (dimensions_.value_or(dimensions) != dimensions)
    refuse_value(Rule::shape, text_of("@dimensions ", *dimensions_, " as in the first file"),
                 text_of(dimensions));
  dimensions_ = dimensions;
}

void ArchiveBuilder::add_value(std::string_view text) {
  const bool single = options_.dtype == Dtype::f32;  // a text is rounded once
  const std::optional<double> value =
      single ? std::optional<double>(parse_number<float>(text)) : parse_number<double>(text);
  if (value && std::isfinite(*value)) {
    dimension_.push_back(*value);
  } else if (text == "?" || text == "NaN" || text == "nan" || text == "NAN") {
    dimension_.push_back(kMissing);
  } else {
    refuse_value(Rule::wrong_type,
                 text_of("a number in dimension ", values_.size(), ", step ", dimension_.size()),
                 quote(text));
  }
}

void ArchiveBuilder::end_dimension() {
  const std::size_t steps = values_.empty() ? dimension_.size() : values_.front().size();
  if (dimension_.size() != steps)
    refuse(Rule::shape, text_of("dimension ", values_.size(), " has ", dimension_.size(),
                                " steps, and dimension 0 has ", steps));
  if (values_.empty()) first_times_ = times_;
  if (times_ != first_times_)
    refuse(Rule::not_supported,
           text_of("dimension ", values_.size(), " has other time stamps than dimension 0"));
  times_.clear();
  values_.push_back(std::exchange(dimension_, {}));
}

std::int64_t ArchiveBuilder::steps_without_padding() const {
  std::size_t steps = 0;
  for (const std::vector<double>& values : values_) {
    const auto last = std::find_if(values.rbegin(), values.rend(), is_known);
    steps = std::max(steps, static_cast<std::size_t>(values.rend() - last));
  }
  if (steps == 0) refuse(Rule::missing, "the sequence has missing values only");
  return static_cast<std::int64_t>(steps);
}

void ArchiveBuilder::end_sequence(std::string_view target, bool padded) {
  if (!dimensions_) dimensions_ = std::ssize(values_);
  if (std::ssize(values_) != *dimensions_)
    refuse_value(Rule::shape, text_of(*dimensions_, " dimensions"), text_of(values_.size()));
  check_length();
  if (padded)
    for (const std::int64_t steps = steps_without_padding(); std::vector<double> & values : values_)
      values.resize(static_cast<std::size_t>(steps));
  for (std::size_t d = 0; d < values_.size(); ++d) fill_missing(values_[d], d);
  if (!is_even(first_times_)) data_.uneven += 1;
  if (options_.steps_of_time) add_steps_of_time();
  store();
  read_target(target);
  values_.clear();
}

void ArchiveBuilder::check_length() {
  const std::int64_t steps = std::ssize(values_.front());
  if (length_ == 0) length_ = steps;
  if (length_.value_or(steps) != steps)
    refuse_value(Rule::shape, text_of(*length_, " steps (@equalLength true)"), text_of(steps));
}

/// The last input is the time since the previous step; the first step uses the second's.
void ArchiveBuilder::add_steps_of_time() {
  if (first_times_.size() != values_.front().size() || first_times_.size() < 2)
    refuse(Rule::missing, R"("time": "dt" needs time stamps and at least 2 steps)");
  std::vector<double> steps(first_times_.size(), first_times_[1] - first_times_[0]);
  for (std::size_t n = 1; n < steps.size(); ++n) steps[n] = first_times_[n] - first_times_[n - 1];
  values_.push_back(std::move(steps));
}

void ArchiveBuilder::store() {
  StoredSequences& to = data_.sequences;
  to.input = std::ssize(values_);
  const auto append = [&]<class T>(std::vector<T>& inputs) {
    for (std::size_t n = 0; n < values_.front().size(); ++n)
      for (const std::vector<double>& values : values_) inputs.push_back(static_cast<T>(values[n]));
  };
  if (options_.dtype == Dtype::f32)
    append(to.x);
  else
    append(to.x64);
  to.end_sequence();
}

void ArchiveBuilder::fill_missing(std::vector<double>& values, std::size_t dimension) const {
  const auto gap = std::find_if_not(values.begin(), values.end(), is_known);
  if (gap == values.end()) return;
  if (options_.missing == MissingValues::error)
    refuse(Rule::missing, text_of("dimension ", dimension, ", step ", gap - values.begin(),
                                  ": the value is missing. Choose with data.missing what takes its place"));
  if (options_.missing == MissingValues::zero) {
    std::ranges::replace_if(
        values, [](double v) { return !is_known(v); }, 0.0);
    return;
  }
  auto left = std::find_if(values.begin(), values.end(), is_known);
  if (left == values.end())
    refuse(Rule::missing, text_of("dimension ", dimension, " has missing values only"));
  std::fill(values.begin(), left, *left);
  while (left != values.end()) {
    const auto right = std::find_if(left + 1, values.end(), is_known);
    for (auto at = left + 1; at != right; ++at) {
      const double part = static_cast<double>(at - left) / static_cast<double>(right - left);
      *at = right == values.end() ? *left : *left + part * (*right - *left);
    }
    left = right;
  }
}

void ArchiveBuilder::read_target(std::string_view text) {
  if (!data_.classes.empty()) {
    const auto found = class_of_.find(std::string(text));
    if (found == class_of_.end()) refuse(unknown_name("class", text, data_.classes));
    data_.sequences.classes.push_back(found->second);
    return;
  }
  const std::optional<double> target = parse_number(text);
  if (!target || !std::isfinite(*target))
    refuse_value(Rule::wrong_type, "a finite number as target", quote(text));
  data_.sequences.y.push_back(*target);
}

void ArchiveBuilder::end_file() const {
  if (data_.sequences.size() == before_) throw InputError({path_}, Rule::missing, "contains no sequences.");
}

void ArchiveBuilder::refuse(const Problem& problem) const {
  throw InputError(problem.within({.file = path_, .line = line_}));
}

void ArchiveBuilder::refuse_value(Rule rule, const std::string& expected, const std::string& found) const {
  refuse({.rule = rule, .found = found, .expected = expected});
}

void ArchiveBuilder::refuse(Rule rule, const std::string& statement, const std::string& found) const {
  refuse({.rule = rule, .statement = found.empty() ? statement + "." : statement, .found = found});
}

}  // namespace lagtape
