#include "lagtape/data/tasks/arrays_file.h"

#include <cmath>
#include <map>
#include <optional>
#include <set>

#include "lagtape/core/error.h"
#include "lagtape/core/quote.h"
#include "lagtape/data/table/number.h"

namespace lagtape {

namespace {

[[noreturn]] void refuse(const std::string& name, Rule rule, const std::string& what) {
  throw InputError({.item = shortened(name)}, rule, what + ".");
}

/// Whether a step is past the end of its sequence.
bool is_padding(const ArraySet& set, std::int64_t sequence, std::int64_t step) {
  return !set.lengths.empty() && sequence < set.lengths.numel() &&
         static_cast<double>(step) >= set.lengths.at(sequence);
}

/// Whether a target, per sequence or per step, is for a step past the end of its sequence.
bool is_target_padding(const ArraySet& set, std::int64_t target) {
  const std::int64_t steps = set.y.rank() > 1 ? set.y.size(1) : 1;
  return steps > 1 && is_padding(set, target / steps, target % steps);
}

/// Whether the last of two axes of one-hot targets may be the steps, with one class each: if it is as long as
/// the longer axis of the inputs, or as the axis given by the layout.
bool may_be_steps(const ArraySet& set, const ArraysFile& file) {
  const bool is_automatic = file.layout == AxisOrder::automatic && !file.sets.are_plain;
  for (const std::int64_t axis : {1, 2}) {
    if (set.x.rank() <= axis || set.y.size(1) != set.x.size(axis)) continue;
    if (is_automatic ? set.x.rank() < 3 || set.x.size(axis) >= set.x.size(3 - axis)
                     : (axis == 2) == (file.layout == AxisOrder::channels_first))
      return true;
  }
  return false;
}

/// Converts one-hot targets to class numbers. Returns the number of classes, 0 if the targets are not one-hot.
std::int64_t take_one_hot(ArraySet& set, const ArraysOptions& options, const ArraysFile& file) {
  if (!are_one_hot(set.y) || (set.y.rank() != 3 && options.every_step && may_be_steps(set, file))) return 0;
  const std::int64_t width = set.y.size(-1), classes = options.classes.count;
  if (classes > 0 && classes != width)
    refuse(set.y_name, Rule::shape,
           text_of("expected one-hot targets of ", classes, " classes. Got ", to_string(set.y.shape())));
  set.y = places_of_ones(set.y);
  return width;
}

/// Inputs with three axes, and classes as numbers. Returns the number of classes of one-hot targets; `known` is
/// the number in earlier sets.
std::int64_t arrange(ArraySet& set, const ArraysOptions& options, bool wants_classes, bool is_first,
                     std::int64_t known, ArraysFile& file) {
  constexpr std::int64_t kFewSteps = 16;
  if (set.x.empty()) refuse(set.x_name, Rule::missing, "is missing");
  if (set.y.empty()) refuse(set.y_name, Rule::missing, "is missing");
  const std::string targets = text_of(set.y_name, " ", to_string(set.y.shape()));
  const std::int64_t one_hot = wants_classes ? take_one_hot(set, options, file) : 0;
  if (one_hot > 0 && known == 0) file.notes.push_back(targets + " is read as one-hot classes");
  if (wants_classes && set.y.rank() == 3 && set.y.size(2) == 1)
    set.y = set.y.reshaped({set.y.size(0), set.y.size(1)});
  const std::int64_t rank = set.y.rank();
  const bool has_steps = wants_classes ? rank == 2 && set.y.size(1) > 1 : rank == 3;
  std::vector<std::string> notes;
  if (file.sets.are_plain && file.layout == AxisOrder::automatic) {
    file.layout = AxisOrder::time_first;
    if (set.x.rank() == 3 && set.x.size(1) <= kFewSteps && 4 * set.x.size(1) <= set.x.size(2))
      notes.push_back(text_of(set.x_name, " ", to_string(set.x.shape()), " is read as ", set.x.size(1),
                              " steps of ", set.x.size(2),
                              R"( inputs; "layout": "channels_first" reads it the other way)"));
  }
  arrange_axes(set, has_steps ? set.y.size(1) : 0, options.lag, file.layout, notes);
  if (is_first) file.notes.insert(file.notes.end(), notes.begin(), notes.end());
  if (set.x.rank() != 3)
    refuse(set.x_name, Rule::shape, text_of("expected [N, T, input]. Got ", to_string(set.x.shape())));
  if (set.x.size(0) > 0 && set.x.numel() == 0)
    refuse(set.x_name, Rule::shape,
           text_of("expected at least one step and one input. Got ", to_string(set.x.shape())));
  return one_hot > 0 ? one_hot : known;
}

/// The classes in integer targets; empty for others.
std::optional<ArrayClasses> classes_in(const std::vector<ArraySet*>& sets) {
  constexpr std::size_t kMostClasses = 4096;
  std::set<double> values;
  for (const ArraySet* set : sets) {
    if (set->y.rank() > 2) return std::nullopt;
    for (std::int64_t i = 0; i < set->y.numel(); ++i)
      if (!is_target_padding(*set, i) && values.insert(set->y.at(i)).second && values.size() > kMostClasses)
        return std::nullopt;
  }
  return classes_of(values);
}

/// The positions of classes that are given by their numbers.
void number_classes(ArraySet& set, const std::vector<std::string>& names) {
  std::map<double, double> places;
  for (const std::string& name : names)
    places.emplace(*parse_number(name), static_cast<double>(places.size()));
  Tensor numbers = Tensor::full(set.y.shape(), Dtype::f64, -1);
  for (std::int64_t i = 0; i < set.y.numel(); ++i) {
    if (is_target_padding(set, i)) continue;
    const auto place = places.find(set.y.at(i));
    if (place == places.end())
      refuse(set.y_name, Rule::out_of_range,
             text_of("expected one of the classes ", listed(names, 20), ". Got ", set.y.at(i)));
    numbers.set(i, place->second);
  }
  set.y = std::move(numbers);
}

/// The shape of the data, from the arrays of the first split.
DataShape shape_of(const ArraySet& arrays, const ArraysOptions& options) {
  const std::int64_t classes = options.classes.count, rank = arrays.y.rank(), most = classes > 0 ? 2 : 3;
  if (rank < 1 || rank > most) {
    refuse(arrays.y_name, Rule::shape,
           text_of("expected ", classes > 0 ? "[N] or [N, T]" : "[N, output] or [N, T, output]", ". Got ",
                   to_string(arrays.y.shape())));
  }
  return {.length = arrays.x.size(1),
          .input = arrays.x.size(2),
          .output = classes > 0 ? 0
                    : rank == 1 ? 1
                                : arrays.y.size(-1),
          .classes = classes,
          .every_step = rank == most,
          .tokens = options.tokens,
          .class_names = options.classes.names};
}

void check_lengths(const ArraySet& arrays) {
  if (arrays.lengths.empty()) return;
  if (arrays.lengths.shape() != Shape{arrays.x.size(0)}) {
    refuse(arrays.lengths_name, Rule::shape,
           text_of("expected [", arrays.x.size(0), "]. Got ", to_string(arrays.lengths.shape())));
  }
  for (std::int64_t i = 0; i < arrays.lengths.numel(); ++i) {
    const double length = arrays.lengths.at(i);
    if (length >= 1 && length <= static_cast<double>(arrays.x.size(1)) && length == std::floor(length))
      continue;
    refuse(arrays.lengths_name, Rule::out_of_range,
           text_of("expected 1..", arrays.x.size(1), ". Got ", length, " for sequence ", i));
  }
}

/// Checks that the numbers in a sequence's own steps are finite. `values`: [N, T, width], or [N, width] with
/// one step.
void check_numbers(const ArraySet& arrays, const std::string& name, const Tensor& values,
                   std::int64_t steps) {
  const std::int64_t count = values.empty() ? 0 : values.size(0);
  const std::int64_t width = count == 0 ? 1 : values.numel() / (count * steps);
  for (std::int64_t i = 0; i < values.numel(); ++i) {
    const std::int64_t sequence = i / (steps * width), step = i / width % steps;
    if (std::isfinite(values.at(i)) || is_padding(arrays, sequence, step)) continue;
    refuse(name, Rule::not_finite,
           text_of("numbers must be finite. Got ", values.at(i), " in sequence ", sequence, ", step ", step,
                   ", number ", i % width));
  }
}

/// Checks that the numbers in a sequence's own steps are integers from 0 to below `count`. `kind`: what they
/// are, "tokens".
void check_whole(const ArraySet& arrays, const std::string& name, const Tensor& values, std::int64_t steps,
                 std::int64_t count, const char* kind, bool names_step) {
  for (std::int64_t i = 0; i < values.numel(); ++i) {
    const double value = values.at(i);
    if (value >= 0 && value < static_cast<double>(count) && value == std::floor(value)) continue;
    if (is_padding(arrays, i / steps, i % steps)) continue;
    refuse(name, Rule::out_of_range,
           text_of("expected ", kind, " 0..", count - 1, ". Got ", value, " in sequence ", i / steps,
                   names_step ? text_of(", step ", i % steps) : ""));
  }
}

/// Whether targets of shape [N, 1] are one class per sequence, rather than a class at the only step of each
/// sequence.
bool is_column_of_classes(const ArraySet& arrays, const ArraysOptions& options, const DataShape& shape) {
  if (options.classes.count == 0 || arrays.y.shape() != Shape{arrays.x.size(0), 1}) return false;
  return shape.length == 0 ? arrays.x.size(1) != 1 || !options.every_step : !shape.every_step;
}

/// Checks the arrays of a set; the first set decides the shape.
void check(ArraySet& found, const ArraysOptions& options, DataShape& shape) {
  const Shape given = found.y.shape();
  if (is_column_of_classes(found, options, shape)) found.y = found.y.reshaped({found.x.size(0)});
  if (!options.classes.names.empty()) number_classes(found, options.classes.names);
  if (shape.length == 0) shape = shape_of(found, options);
  if (found.x.size(2) != shape.input)
    refuse(found.x_name, Rule::shape,
           text_of("expected ", shape.input, " inputs as in training. Got ", found.x.size(2)));
  shape.length = std::max(shape.length, found.x.size(1));
  Shape expected = {found.x.size(0)};
  if (shape.every_step) expected.push_back(found.x.size(1));
  if (options.classes.count == 0) expected.push_back(shape.output);
  if (found.y.shape() == Shape{found.x.size(0)} && expected == Shape{found.x.size(0), 1})
    found.y = found.y.reshaped(expected);
  if (found.y.shape() != expected)
    refuse(found.y_name, Rule::shape, text_of("expected ", to_string(expected), ". Got ", to_string(given)));
  check_lengths(found);
  const std::int64_t steps = found.x.size(1), targets = shape.every_step ? steps : 1;
  check_numbers(found, found.x_name, found.x, steps);
  check_numbers(found, found.y_name, found.y, targets);
  if (options.tokens > 0 && found.x.size(2) != 1)
    refuse(found.x_name, Rule::shape,
           text_of("expected [N, T, 1], one token per step. Got ", to_string(found.x.shape())));
  if (options.tokens > 0) check_whole(found, found.x_name, found.x, steps, options.tokens, "tokens", true);
  if (options.classes.count > 0)
    check_whole(found, found.y_name, found.y, targets, options.classes.count, "classes", false);
}

/// Checks all sets; the first decides the shape. Throws InputError with the array.
ArraysFile checked_file(ArraySets read, const ArraysOptions& given) {
  ArraysFile file{.sets = std::move(read), .layout = given.layout};
  const std::vector<std::string>& others = file.sets.others;
  if (file.sets.are_plain && !others.empty())
    refuse(others.front(), Rule::conflict,
           "is unknown. Expected SPLIT_x, SPLIT_y, SPLIT_lengths, SPLIT one of train, valid, test, or X "
           "and y");
  if (!others.empty()) file.notes.push_back(text_of("arrays that are not read: ", listed(others, 5)));
  std::vector<ArraySet*> sets;
  for (ArraySet* set : {&file.sets.train, &file.sets.valid, &file.sets.test, &file.sets.whole})
    if (!set->is_empty()) sets.push_back(set);

  ArraysOptions options = given;
  const bool finds_classes = given.classes.count == 0 && !given.normalize.real_loss;
  const bool wants_classes = finds_classes || given.classes.count > 0;
  std::int64_t one_hot = 0;
  for (ArraySet* set : sets)
    one_hot = arrange(*set, given, wants_classes, set == sets.front(), one_hot, file);
  if (finds_classes && one_hot > 0)
    options.classes.count = one_hot;
  else if (finds_classes)
    options.classes = classes_in(sets).value_or(given.classes);
  for (ArraySet* set : sets) check(*set, options, file.shape);
  return file;
}

}  // namespace

ArraysFile read_arrays_file(const std::filesystem::path& path, const ArraysOptions& options) {
  ArraySets sets = read_array_sets(path);
  try {
    return checked_file(std::move(sets), options);
  } catch (const InputError& error) {
    throw error.within({.file = path.string()});
  }
}

}  // namespace lagtape
