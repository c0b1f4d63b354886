#include <algorithm>
#include <cmath>
#include <optional>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

#include "lagtape/cells/models/model_implementation.h"
#include "lagtape/cells/models/model_rate.h"
#include "lagtape/core/error.h"
#include "lagtape/core/plain_arithmetic.h"
#include "lagtape/ops/embedding.h"

namespace lagtape {

namespace {

constexpr std::pair<std::string_view, std::optional<ProductFormat>> kWeights[] = {
    {"own", {}},
    {"f32", ProductFormat::scalar},
    {"bf16", ProductFormat::bf16},
    {"int8", ProductFormat::int8}};

std::string_view name_of_weights(std::optional<ProductFormat> format) {
  return std::ranges::find_if(kWeights, [&](const auto& known) { return known.second == format; })->first;
}

/// Throws InputError for a weight format with which a model of that precision cannot stream.
void check_weights(const StreamOptions& options, Dtype dtype) {
  if (options.weights && dtype != Dtype::f32)
    throw InputError({.op = "stream"}, Rule::not_supported,
                     text_of("weights in ", name_of_weights(options.weights),
                             " are for models of f32; this one is ", name_of(dtype)));
  if (options.weights != ProductFormat::int8 && !options.calibration.empty())
    throw InputError({.op = "stream"}, Rule::conflict, "calibration is for weights in int8",
                     text_of("weights in ", name_of_weights(options.weights)));
}

void check_sequences(const Model& model, const Tensor& x) {
  const std::int64_t width = model.input_width();
  if ((x.rank() != 2 && x.rank() != 3) || x.size(-1) != width || x.numel() == 0)
    throw InputError({.op = "stream"}, x.empty() ? Rule::missing : Rule::shape,
                     text_of("weights in int8 need calibration: sequences [T, ", width, "] or [B, T, ", width,
                             "] like those to come"),
                     x.empty() ? "none" : to_string(x.shape()));
  if (model.tokens() > 0)
    token_rows(x.rank() == 2 ? x.reshaped({1, x.size(0), x.size(1)}) : x, {}, model.tokens());
  for (std::int64_t i = 0; i < x.numel(); ++i)
    if (!std::isfinite(x.at(i)))
      throw InputError({.op = "stream"}, Rule::not_finite,
                       text_of("calibration: number ", i, " is not finite"), text_of(x.at(i)));
}

/// Widens `ranges` to cover one more sequence.
void include(OperandRanges& ranges, const OperandRanges& more) {
  if (ranges.empty()) ranges = more;
  for (std::size_t l = 0; l < ranges.size(); ++l)
    for (std::size_t s = 0; s < ranges[l].size(); ++s)
      if (!(more[l][s] <= ranges[l][s])) ranges[l][s] = more[l][s];
}

/// The ranges of a model's product operands on sequences x [T, input] or [B, T, input]: each is streamed, in
/// the model's own precision, from its start. The range of an operand that is always zero is one.
template <class T>
OperandRanges calibrated_ranges(Stream<T> stream, const Model& model, const Tensor& x) {
  check_sequences(model, x);
  const Tensor numbers = x.to(dtype_of<T>);
  const std::int64_t rows = x.rank() == 3 ? x.size(0) : 1, steps = x.size(-2);
  OperandRanges ranges;
  for (std::int64_t row = 0; row < rows; ++row) {
    stream.reset();
    include(ranges,
            stream.operand_ranges(numbers.values<T>().data() + row * steps * model.input_width(), steps));
    for (const std::vector<float>& layer : ranges)
      if (!std::ranges::all_of(layer, [](float range) { return std::isfinite(range); }))
        throw InputError({.op = "stream"}, Rule::not_finite,
                         text_of("calibration: sequence ", row, " makes states that are not finite"));
  }
  bool any = false;
  for (std::vector<float>& layer : ranges)
    for (float& range : layer) {
      any = any || range >= 0;
      if (range == 0) range = 1;
    }
  if (!any)
    throw InputError({.op = "stream"}, Rule::not_supported,
                     "weights in int8 are for layers of 64 units and more: no product of this model's layers "
                     "takes 64 numbers to 64 others",
                     {}, "Stream it with its own weights");
  return ranges;
}

}  // namespace

std::optional<ProductFormat> stream_weights_named(const std::string& name) {
  for (const auto& [known, format] : kWeights)
    if (name == known) return format;
  throw InputError(unknown_name("format of weights", name, {"own", "f32", "bf16", "int8"}));
}

template <class T>
Stream<T> Model::stream(const StreamOptions& options) const {
  const PlainArithmetic plain;
  if (dtype_of<T> != dtype())
    throw InputError({.op = "stream"}, Rule::wrong_type,
                     text_of("the model is ", name_of(dtype()), ". Asked for ", name_of(dtype_of<T>)));
  const ChainDefinition& chain = evaluation_chain();
  if (!chain.obstacle().empty()) throw InputError({.op = "stream"}, Rule::not_supported, chain.obstacle());
  check_weights(options, dtype());
  const Normalization& normalization =
      options.normalization != nullptr ? *options.normalization : only_normalization("stream");
  StackDefinition stack = stack_at_rate(chain.parts.back().stack, options);
  if (options.weights) stack.products = *options.weights;
  const auto start_of = [&](std::int64_t rows) {
    return at_rate(start_window(chain, rows, dtype()), stack, options.rate, dtype());
  };
  std::vector<Tensor> own = weights();
  const bool has_table = tokens() > 0;
  const std::span<const Tensor> weights = std::span<const Tensor>(own).subspan(has_table ? 1 : 0);
  const auto made = [&](std::int64_t rows, const OperandRanges& ranges) {
    return Stream<T>(stack, weights, rows, best_level(), has_table ? own.front() : Tensor(), normalization,
                     start_of(rows), ranges);
  };
  if (options.rate != std::floor(options.rate) && !has_table) check_stability(*this, stack, options);
  if (options.weights != ProductFormat::int8) return made(options.rows, {});
  stack.products = ProductFormat::scalar;
  const OperandRanges ranges = calibrated_ranges(made(1, {}), *this, options.calibration);
  stack.products = ProductFormat::int8;
  return made(options.rows, ranges);
}

template <class T>
Stream<T> Model::stream(std::int64_t rows) const {
  return stream<T>(StreamOptions{.rows = rows});
}

template Stream<float> Model::stream(const StreamOptions&) const;
template Stream<double> Model::stream(const StreamOptions&) const;
template Stream<float> Model::stream(std::int64_t) const;
template Stream<double> Model::stream(std::int64_t) const;

}  // namespace lagtape
