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

/// Checks the arrays of a file set by set.
class ArraysReader {
 public:
  ArraysReader(const std::filesystem::path& path, const ArraysOptions& options)
      : path_(path.string()), options_(options), sets_(read_array_sets(path)), layout_(options.layout) {
    if (sets_.are_plain && !sets_.others.empty())
      refuse(sets_.others.front(), Rule::conflict,
             "is unknown. Expected SPLIT_x, SPLIT_y, SPLIT_lengths, SPLIT one of train, valid, test, or X "
             "and y");
    if (!sets_.others.empty())
      notes_.push_back(text_of("arrays that are not read: ", listed(sets_.others, 5)));
    const bool is_found = options.classes.count == 0 && !options.normalize.real_loss;
    for (ArraySet* set : {&sets_.train, &sets_.valid, &sets_.test, &sets_.whole})
      if (!set->is_empty()) arrange(*set, is_found);
    if (is_found) find_classes();
    for (ArraySet* set : {&sets_.train, &sets_.valid, &sets_.test, &sets_.whole})
      if (!set->is_empty()) check(*set);
  }

  ArraysFile finish() && { return {std::move(sets_), std::move(shape_), layout_, std::move(notes_)}; }

 private:
  [[noreturn]] void refuse(const std::string& name, Rule rule, const std::string& what) const {
    throw InputError({.file = path_, .item = shortened(name)}, rule, what + ".");
  }

  /// Inputs with three axes, and classes as numbers.
  void arrange(ArraySet& set, bool finds_classes) {
    constexpr std::int64_t kFewSteps = 16;
    if (set.x.empty()) refuse(set.x_name, Rule::missing, "is missing");
    if (set.y.empty()) refuse(set.y_name, Rule::missing, "is missing");
    const bool wants_classes = finds_classes || options_.classes.count > 0;
    // With a class for each step, the last of two axes of the targets may be the steps: as many as the longer axis of the
    // inputs has, or the axis that the layout names.
    const bool is_automatic = layout_ == AxisOrder::automatic && !sets_.are_plain;
    const auto may_be_steps = [&](std::int64_t axis) {
      if (!options_.every_step || set.x.rank() <= axis || set.y.size(1) != set.x.size(axis)) return false;
      if (is_automatic) return set.x.rank() < 3 || set.x.size(axis) >= set.x.size(3 - axis);
      return (axis == 2) == (layout_ == AxisOrder::channels_first);
    };
    if (wants_classes && are_one_hot(set.y) && (set.y.rank() == 3 || !(may_be_steps(1) || may_be_steps(2)))) {
      const std::int64_t width = set.y.size(-1);
      if (options_.classes.count > 0 && options_.classes.count != width)
        refuse(set.y_name, Rule::shape,
               text_of("expected one-hot targets of ", options_.classes.count, " classes. Got ",
                       to_string(set.y.shape())));
      if (one_hot_ == 0)
        notes_.push_back(text_of(set.y_name, " ", to_string(set.y.shape()), " is read as one-hot classes"));
      one_hot_ = width;
      set.y = places_of_ones(set.y);
    }
    if (wants_classes && set.y.rank() == 3 && set.y.size(2) == 1)
      set.y = set.y.reshaped({set.y.size(0), set.y.size(1)});
    const std::int64_t rank = set.y.rank();
    const bool has_steps = wants_classes ? rank == 2 && set.y.size(1) > 1 : rank == 3;
    std::vector<std::string> notes;
    if (sets_.are_plain && layout_ == AxisOrder::automatic) {
      layout_ = AxisOrder::time_first;
      if (set.x.rank() == 3 && set.x.size(1) <= kFewSteps && 4 * set.x.size(1) <= set.x.size(2))
        notes.push_back(text_of(set.x_name, " ", to_string(set.x.shape()), " is read as ", set.x.size(1),
                                " steps of ", set.x.size(2),
                                R"( inputs; "layout": "channels_first" reads it the other way)"));
    }
    arrange_axes(set, has_steps ? set.y.size(1) : 0, layout_, notes);
    if (is_first_) notes_.insert(notes_.end(), notes.begin(), notes.end());
    is_first_ = false;
    if (set.x.rank() != 3)
      refuse(set.x_name, Rule::shape, text_of("expected [N, T, input]. Got ", to_string(set.x.shape())));
    if (set.x.size(0) > 0 && set.x.numel() == 0)
      refuse(set.x_name, Rule::shape,
             text_of("expected at least one step and one input. Got ", to_string(set.x.shape())));
  }

  /// Whether a target, of a sequence or of a step, is one of a step behind the end of its sequence.
  static bool is_padding(const ArraySet& set, std::int64_t target) {
    const std::int64_t steps = set.y.rank() > 1 ? set.y.size(1) : 1;
    return steps > 1 && !set.lengths.empty() && target / steps < set.lengths.numel() &&
           static_cast<double>(target % steps) >= set.lengths.at(target / steps);
  }

  /// Finds the classes in the targets, where these are whole numbers.
  void find_classes() {
    constexpr std::size_t kMostClasses = 4096;
    if (one_hot_ > 0) {
      options_.classes.count = one_hot_;
      return;
    }
    std::set<double> values;
    for (const ArraySet* set : {&sets_.train, &sets_.valid, &sets_.test, &sets_.whole}) {
      if (set->y.rank() > 2) return;
      for (std::int64_t i = 0; i < set->y.numel(); ++i)
        if (!is_padding(*set, i) && values.insert(set->y.at(i)).second && values.size() > kMostClasses)
          return;
    }
    if (std::optional<ArrayClasses> found = classes_of(values)) options_.classes = *std::move(found);
  }

  /// The places of classes that are named by their numbers.
  void number_classes(ArraySet& set) const {
    std::map<double, double> places;
    for (const std::string& name : options_.classes.names)
      places.emplace(*parse_number(name), static_cast<double>(places.size()));
    Tensor numbers = Tensor::full(set.y.shape(), Dtype::f64, -1);
    for (std::int64_t i = 0; i < set.y.numel(); ++i) {
      if (is_padding(set, i)) continue;
      const auto place = places.find(set.y.at(i));
      if (place == places.end())
        refuse(set.y_name, Rule::out_of_range,
               text_of("expected one of the classes ", listed(options_.classes.names, 20), ". Got ",
                       set.y.at(i)));
      numbers.set(i, place->second);
    }
    set.y = std::move(numbers);
  }

  /// Checks the arrays of a set, the first of which decides the shape.
  void check(ArraySet& found) {
    const bool first = shape_.length == 0;
    const Shape given = found.y.shape();
    if (is_column_of_classes(found, first)) found.y = found.y.reshaped({found.x.size(0)});
    if (!options_.classes.names.empty()) number_classes(found);
    if (first) shape_ = shape_of(found);
    if (found.x.size(2) != shape_.input)
      refuse(found.x_name, Rule::shape,
             text_of("expected ", shape_.input, " inputs as in training. Got ", found.x.size(2)));
    shape_.length = std::max(shape_.length, found.x.size(1));
    Shape expected = {found.x.size(0)};
    if (shape_.every_step) expected.push_back(found.x.size(1));
    if (options_.classes.count == 0) expected.push_back(shape_.output);
    if (found.y.shape() == Shape{found.x.size(0)} && expected == Shape{found.x.size(0), 1})
      found.y = found.y.reshaped(expected);
    if (found.y.shape() != expected)
      refuse(found.y_name, Rule::shape,
             text_of("expected ", to_string(expected), ". Got ", to_string(given)));
    check_lengths(found);
    check_numbers(found.x_name, found.x, found.x.size(1), found.lengths);
    check_numbers(found.y_name, found.y, shape_.every_step ? found.x.size(1) : 1, found.lengths);
    if (options_.tokens > 0) check_tokens(found);
    if (options_.classes.count > 0) check_classes(found);
  }

  /// Whether targets of shape [N, 1] are a class a sequence, and not a class at the only step of each
  /// sequence.
  bool is_column_of_classes(const ArraySet& arrays, bool first) const {
    if (options_.classes.count == 0 || arrays.y.shape() != Shape{arrays.x.size(0), 1}) return false;
    return first ? arrays.x.size(1) != 1 || !options_.every_step : !shape_.every_step;
  }

  /// The shape of the data, from the arrays of the first split.
  DataShape shape_of(const ArraySet& arrays) const {
    const std::int64_t classes = options_.classes.count, rank = arrays.y.rank(), most = classes > 0 ? 2 : 3;
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
            .tokens = options_.tokens,
            .class_names = options_.classes.names};
  }

  void check_lengths(const ArraySet& arrays) const {
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

  /// The numbers of a sequence's own steps are finite. `values`: [N, T, width], or [N, width] with one step.
  void check_numbers(const std::string& name, const Tensor& values, std::int64_t steps,
                     const Tensor& lengths) const {
    const std::int64_t count = values.empty() ? 0 : values.size(0);
    const std::int64_t width = count == 0 ? 1 : values.numel() / (count * steps);
    for (std::int64_t i = 0; i < values.numel(); ++i) {
      const std::int64_t sequence = i / (steps * width), step = i / width % steps;
      const bool padding = steps > 1 && !lengths.empty() && static_cast<double>(step) >= lengths.at(sequence);
      if (padding || std::isfinite(values.at(i))) continue;
      refuse(name, Rule::not_finite,
             text_of("numbers must be finite. Got ", values.at(i), " in sequence ", sequence, ", step ", step,
                     ", number ", i % width));
    }
  }

  void check_tokens(const ArraySet& arrays) const {
    const std::int64_t steps = arrays.x.size(1);
    if (arrays.x.size(2) != 1)
      refuse(arrays.x_name, Rule::shape,
             text_of("expected [N, T, 1], one token per step. Got ", to_string(arrays.x.shape())));
    for (std::int64_t i = 0; i < arrays.x.numel(); ++i) {
      const double value = arrays.x.at(i);
      const bool padding =
          !arrays.lengths.empty() && static_cast<double>(i % steps) >= arrays.lengths.at(i / steps);
      if (padding ||
          (value >= 0 && value < static_cast<double>(options_.tokens) && value == std::floor(value))) {
        continue;
      }
      refuse(arrays.x_name, Rule::out_of_range,
             text_of("expected tokens 0..", options_.tokens - 1, ". Got ", value, " in sequence ", i / steps,
                     ", step ", i % steps));
    }
  }

  void check_classes(const ArraySet& arrays) const {
    const std::int64_t steps = shape_.every_step ? arrays.x.size(1) : 1;
    for (std::int64_t i = 0; i < arrays.y.numel(); ++i) {
      const bool padding = shape_.every_step && !arrays.lengths.empty() &&
                           static_cast<double>(i % steps) >= arrays.lengths.at(i / steps);
      const double value = arrays.y.at(i);
      if (padding ||
          (value >= 0 && value < static_cast<double>(options_.classes.count) && value == std::floor(value))) {
        continue;
      }
      refuse(arrays.y_name, Rule::out_of_range,
             text_of("expected classes 0..", options_.classes.count - 1, ". Got ", value, " in sequence ",
                     i / steps));
    }
  }

  std::string path_;
  ArraysOptions options_;
  ArraySets sets_;
  AxisOrder layout_;
  DataShape shape_ = {};
  bool is_first_ = true;      ///< no set has been arranged
  std::int64_t one_hot_ = 0;  ///< classes of one-hot targets; 0: there are none
  std::vector<std::string> notes_ = {};
};

}  // namespace

ArraysFile read_arrays_file(const std::filesystem::path& path, const ArraysOptions& options) {
  return ArraysReader(path, options).finish();
}

}  // namespace lagtape
