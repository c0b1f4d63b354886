#include "lagtape/data/formats/array_sets.h"

#include <algorithm>
#include <cctype>
#include <map>
#include <span>
#include <tuple>
#include <utility>

#include "lagtape/core/error.h"
#include "lagtape/core/quote.h"
#include "lagtape/data/formats/npz_reader.h"

namespace lagtape {

namespace {

using Words = std::span<const std::string_view>;

constexpr std::string_view kInputs[] = {"x", "data", "inputs", "input", "features"},
                           kTargets[] = {"y", "labels", "label", "targets", "target"},
                           kLengths[] = {"lengths", "length", "xlengths"}, kTrain[] = {"training", "train"},
                           kValid[] = {"validation", "valid", "val"}, kTest[] = {"testing", "test"};

bool has(Words words, std::string_view word) { return std::ranges::find(words, word) != words.end(); }

/// "X_train" -> "xtrain"
std::string letters_of(const std::string& name) {
  std::string letters;
  for (const char c : name)
    if (std::isalnum(static_cast<unsigned char>(c)) != 0)
      letters += static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  return letters;
}

/// Removes the first of the words that a text starts or ends with.
bool remove_word(Words words, std::string& text) {
  for (const std::string_view word : words) {
    if (text.starts_with(word)) {
      text.erase(0, word.size());
      return true;
    }
    if (text.ends_with(word)) {
      text.resize(text.size() - word.size());
      return true;
    }
  }
  return false;
}

/// Stores an array in its place. Returns false for an unknown name.
bool put(const std::filesystem::path& path, const std::string& name, Tensor& values, ArraySets& sets) {
  std::string role = letters_of(name);
  ArraySet& set = remove_word(kTrain, role)   ? sets.train
                  : remove_word(kValid, role) ? sets.valid
                  : remove_word(kTest, role)  ? sets.test
                                              : sets.whole;
  const bool is_x = has(kInputs, role), is_y = has(kTargets, role);
  if (!is_x && !is_y && !has(kLengths, role)) return false;
  const auto [array, known] = is_x   ? std::tie(set.x, set.x_name)
                              : is_y ? std::tie(set.y, set.y_name)
                                     : std::tie(set.lengths, set.lengths_name);
  if (!array.empty())
    throw InputError({path.string()}, Rule::conflict,
                     text_of("has ", quote(known), " and ", quote(name), ", which mean the same."));
  array = std::move(values);
  known = name;
  return true;
}

/// The names expected in a set that lacks these arrays.
void name_missing(ArraySet& set, const std::string& split) {
  const bool is_whole = split.empty();
  if (set.x_name.empty()) set.x_name = is_whole ? "X" : split + "_x";
  if (set.y_name.empty()) set.y_name = is_whole ? "y" : split + "_y";
  if (set.lengths_name.empty()) set.lengths_name = is_whole ? "lengths" : split + "_lengths";
}

/// [N, input, T] as [N, T, input].
Tensor turned(const Tensor& from) {
  const std::int64_t count = from.size(0), rows = from.size(1), columns = from.size(2);
  Tensor to({count, columns, rows}, from.dtype());
  with_scalar(from.dtype(), [&]<class T>() {
    const T* source = from.values<T>().data();
    T* const values = to.values<T>().data();
    for (std::int64_t n = 0; n < count; ++n)
      for (std::int64_t i = 0; i < rows; ++i)
        for (std::int64_t t = 0; t < columns; ++t) values[(n * columns + t) * rows + i] = *source++;
  });
  return to;
}

/// The order of the axes of [N, a, b], and how it was determined.
std::pair<AxisOrder, std::string> order_of(const ArraySet& set, std::int64_t target_steps, std::int64_t lag) {
  const std::int64_t a = set.x.size(1), b = set.x.size(2);
  double longest = 0;
  for (std::int64_t i = 0; i < set.lengths.numel(); ++i) longest = std::max(longest, set.lengths.at(i));
  if (longest > static_cast<double>(a) && longest <= static_cast<double>(b))
    return {AxisOrder::channels_first, text_of("a sequence of ", longest, " steps")};
  if (longest > static_cast<double>(b) || a >= b) return {AxisOrder::time_first, ""};
  if (target_steps == a) return {AxisOrder::time_first, ""};
  if (target_steps == b) return {AxisOrder::channels_first, text_of("targets at ", b, " steps")};
  if (a <= lag && lag < b) return {AxisOrder::channels_first, text_of("a lag of ", lag, " steps")};
  if (2 * a <= b) return {AxisOrder::channels_first, "at least twice as many steps as inputs"};
  return {AxisOrder::time_first, ""};
}

}  // namespace

ArraySets read_array_sets(const std::filesystem::path& path) {
  ArraySets sets;
  std::map<std::string, Tensor> arrays = read_npz(path);
  for (auto& [name, values] : arrays)
    if (!put(path, name, values, sets)) sets.others.push_back(name);
  const bool has_sets = !sets.valid.is_empty() || !sets.test.is_empty();
  if (has_sets && sets.train.is_empty() && !sets.whole.x.empty() && !sets.whole.y.empty())
    sets.train = std::exchange(sets.whole, {});
  if (!sets.whole.x.empty() && !sets.train.x.empty())
    throw InputError({path.string()}, Rule::conflict,
                     text_of("has ", quote(sets.whole.x_name), " and ", quote(sets.train.x_name),
                             ", which both are inputs of the training."));
  sets.are_plain = sets.whole.is_empty();
  const std::pair<ArraySet*, const char*> all[] = {
      {&sets.whole, ""}, {&sets.train, "train"}, {&sets.valid, "valid"}, {&sets.test, "test"}};
  for (const auto& [set, split] : all) {
    const std::string wanted = split;
    for (const auto& [name, role] :
         {std::pair(&set->x_name, "_x"), {&set->y_name, "_y"}, {&set->lengths_name, "_lengths"}})
      sets.are_plain = sets.are_plain && (name->empty() || *name == wanted + role);
    name_missing(*set, split);
  }
  return sets;
}

void arrange_axes(ArraySet& set, std::int64_t target_steps, std::int64_t lag, AxisOrder& order,
                  std::vector<std::string>& notes) {
  const auto note = [&](const std::string& what) {
    if (std::ranges::find(notes, what) == notes.end()) notes.push_back(what);
  };
  if (set.x.rank() == 2) {
    note(text_of(set.x_name, " has two axes: each number is a step of one input"));
    set.x = set.x.reshaped({set.x.size(0), set.x.size(1), 1});
    order = AxisOrder::time_first;
  }
  if (set.x.rank() != 3) return;
  const bool is_given = order != AxisOrder::automatic;
  std::string why = R"("layout")";
  if (!is_given) std::tie(order, why) = order_of(set, target_steps, lag);
  if (order == AxisOrder::time_first) return;
  const std::string axes = to_string(set.x.shape());
  set.x = turned(set.x);
  note(text_of(set.x_name, " ", axes, " is read as ", set.x.size(1), " steps of ", set.x.size(2),
               set.x.size(2) == 1 ? " input" : " inputs", ": channels first (", why, ")",
               is_given ? "" : R"(; "layout": "time_first" reads it the other way)"));
}

}  // namespace lagtape
