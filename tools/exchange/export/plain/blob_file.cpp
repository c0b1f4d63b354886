#include "lagtape/tools/exchange/export/plain/blob_file.h"

#include <algorithm>
#include <array>
#include <bit>
#include <limits>
#include <string_view>

#include "lagtape/core/error.h"
#include "lagtape/tools/exchange/export/exported_model.h"
#include "lagtape/tools/exchange/export/fixed_values.h"

namespace lagtape {
namespace {

// Numbers of operations and functions are those of tools/stream/blob_stream.c, and never change.
enum class BlobOp : std::int32_t {
  fixed,
  input,
  past,
  lagged,
  product,
  element,
  sum,
  repeat,
  alias,
  concatenate,
  slice,
  view,
  step_index
};
constexpr std::array<std::string_view, 23> kFunctions = {
    "negate", "tanh",    "sigmoid", "softplus",       "relu",  "exp",  "log",      "sqrt",
    "abs",    "sin",     "cos",     "sign",           "floor", "add",  "subtract", "multiply",
    "divide", "minimum", "maximum", "where_positive", "erf",   "atan", "surrogate"};

/// Words of 32 bits, which places in them name by their number.
class Words {
 public:
  std::int64_t add(std::int64_t word) {
    if (word > std::numeric_limits<std::int32_t>::max() || word < std::numeric_limits<std::int32_t>::min())
      throw InputError({.op = "export"}, Rule::out_of_range,
                       "the model has more numbers than a blob can count");
    words_.push_back(static_cast<std::uint32_t>(static_cast<std::int32_t>(word)));
    return std::ssize(words_) - 1;
  }
  std::int64_t add_number(double number) {
    words_.push_back(std::bit_cast<std::uint32_t>(static_cast<float>(number)));
    return std::ssize(words_) - 1;
  }
  /// The place of the first; 0 for none.
  template <class Numbers>
  std::int64_t add_numbers(const Numbers& numbers) {
    std::int64_t first = 0;
    for (const double number : numbers) {
      const std::int64_t at = add_number(number);
      if (first == 0) first = at;
    }
    return first;
  }
  void set(std::int64_t at, std::int64_t word) { words_[at] = static_cast<std::uint32_t>(word); }
  std::int64_t size() const { return std::ssize(words_); }

  std::string bytes() const {
    std::string bytes;
    for (const std::uint32_t word : words_)
      for (int shift = 0; shift < 32; shift += 8) bytes += static_cast<char>(word >> shift & 0xff);
    return bytes;
  }

 private:
  std::vector<std::uint32_t> words_;
};

std::vector<double> numbers_in(const Tensor& tensor) {
  std::vector<double> numbers(tensor.numel());
  for (std::int64_t i = 0; i < tensor.numel(); ++i) numbers[i] = tensor.at(i);
  return numbers;
}

/// The values that the step needs, those that are fixed without their operands.
std::vector<bool> needed_values(const StepProgram& program, const std::vector<std::vector<double>>& fixed) {
  std::vector<bool> needed(program.values.size());
  needed[program.output] = true;
  for (const StateDefinition& state : program.states) needed[state.next] = true;
  for (int id = static_cast<int>(needed.size()) - 1; id >= 0; --id)
    if (needed[id] && fixed[id].empty())
      for (const int operand : {program.values[id].a, program.values[id].b})
        if (operand >= 0) needed[operand] = true;
  return needed;
}

BlobOp blob_op(StepOp op) {
  switch (op) {
    case StepOp::input: return BlobOp::input;
    case StepOp::state:
    case StepOp::lag: return BlobOp::past;
    case StepOp::real_lag: return BlobOp::lagged;
    case StepOp::product: return BlobOp::product;
    case StepOp::element: return BlobOp::element;
    case StepOp::sum: return BlobOp::sum;
    case StepOp::broadcast: return BlobOp::repeat;
    case StepOp::reshape: return BlobOp::alias;
    case StepOp::concatenate: return BlobOp::concatenate;
    case StepOp::slice: return BlobOp::slice;
    case StepOp::view: return BlobOp::view;
    case StepOp::step_index: return BlobOp::step_index;
    default: throw Error("[export] no rule for an operation.");
  }
}

std::int64_t function_number(const Instruction& v) {
  if (v.op != StepOp::element) return 0;
  const std::string_view name = function_of(v.element).name;
  if (name == "stop") return -1;
  const auto* found = std::ranges::find(kFunctions, name);
  if (found == kFunctions.end()) throw Error(text_of("[export] no number for the function ", name, "."));
  return found - kFunctions.begin();
}

/// A value: operation, function, width, operands, index, lag, place of its numbers, axes and strides of a view.
void add_value(Words& words, const Instruction& v, const std::vector<int>& numbers, std::int64_t data) {
  const bool is_fixed = data > 0, is_copy = !is_fixed && v.op == StepOp::element && function_number(v) < 0;
  words.add(static_cast<std::int64_t>(is_fixed ? BlobOp::fixed : is_copy ? BlobOp::alias : blob_op(v.op)));
  words.add(is_copy ? 0 : function_number(v));
  words.add(v.shape.width());
  for (const int operand : {v.a, v.b}) words.add(is_fixed || operand < 0 ? -1 : numbers[operand]);
  words.add(v.index);
  words.add(v.lag);
  words.add(data);
  for (const std::int64_t axis : v.shape.four_axes()) words.add(axis);
  for (const std::int64_t stride : v.strides) words.add(stride);
}

/// Returns the place of the layer's block: its counts, then values, states and matrices.
std::int64_t add_layer(Words& words, const ExportedLayer& layer) {
  const StepProgram& program = layer.program;
  const std::vector<std::vector<double>> fixed = fixed_values(layer);
  const std::vector<bool> needed = needed_values(program, fixed);
  std::vector<int> numbers(needed.size(), -1);
  std::vector<std::int64_t> data(needed.size()), matrices, starts;
  int count = 0;
  for (std::size_t id = 0; id < needed.size(); ++id) {
    if (!needed[id]) continue;
    numbers[id] = count++;
    if (fixed[id].empty()) continue;
    std::vector<double> all = fixed[id];
    all.resize(program.values[id].shape.width(), all.front());
    data[id] = words.add_numbers(all);
  }
  for (const Tensor& weight : layer.weights)
    matrices.push_back(weight.rank() == 2 ? words.add_numbers(numbers_in(weight)) : 0);
  for (const Tensor& start : layer.start) starts.push_back(words.add_numbers(numbers_in(start)));
  const std::int64_t at = words.size();
  words.add(count);
  words.add(std::ssize(program.states));
  words.add(std::ssize(layer.weights));
  words.add(numbers[program.output]);
  words.add(program.input.width());
  for (std::size_t id = 0; id < needed.size(); ++id)
    if (needed[id]) add_value(words, program.values[id], numbers, data[id]);
  for (std::size_t s = 0; s < program.states.size(); ++s) {
    const StateDefinition& state = program.states[s];
    if (state.arithmetic == Arithmetic::grid)
      throw InputError(
          {.op = "export"}, Rule::not_supported,
          text_of(layer.name, ": state '", state.name, "' has the arithmetic \"grid\", which c99 takes"));
    words.add(state.shape.width());
    words.add(state.history);
    words.add(numbers[state.next]);
    words.add(starts.empty() ? 0 : starts[s]);
  }
  for (std::size_t w = 0; w < layer.weights.size(); ++w) {
    const bool is_matrix = layer.weights[w].rank() == 2;
    words.add(is_matrix ? layer.weights[w].size(0) : 0);
    words.add(is_matrix ? layer.weights[w].size(1) : 0);
    words.add(matrices[w]);
  }
  return at;
}

/// The mean, what rounding left of it, and the scale.
std::int64_t add_scaling(Words& words, const Scaling& scaling) {
  if (scaling.empty()) return 0;
  const std::int64_t at = words.add_numbers(scaling.mean);
  for (const double mean : scaling.mean)
    words.add_number(mean - static_cast<double>(static_cast<float>(mean)));
  words.add_numbers(scaling.scale);
  return at;
}

}  // namespace

std::string blob_file(const Model& model) {
  constexpr std::int64_t kMagic = 0x3153544c;  // "LTS1"
  const ExportedModel content = exported(model);
  Words words;
  for (const std::int64_t word :
       {kMagic, std::int64_t{0}, content.input, content.output_width(), std::ssize(content.layers),
        std::int64_t{content.readout.has_value()}, std::int64_t{content.at == ReadAt::mean},
        content.table.empty() ? 0 : content.table.size(0)})
    words.add(word);
  const std::int64_t places = words.add(0);  // of the table, the scalings, the layers
  for (std::size_t i = 0; i < 2 + content.layers.size() + (content.readout ? 1 : 0); ++i) words.add(0);
  if (!content.table.empty()) words.set(places, words.add_numbers(numbers_in(content.table)));
  words.set(places + 1, add_scaling(words, content.normalization.input));
  words.set(places + 2, add_scaling(words, content.normalization.output));
  std::int64_t place = places + 3;
  for (const ExportedLayer& layer : content.layers) words.set(place++, add_layer(words, layer));
  if (content.readout) words.set(place, add_layer(words, *content.readout));
  words.set(1, words.size());
  return words.bytes();
}

}  // namespace lagtape
