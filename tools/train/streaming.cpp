#include "lagtape/tools/train/streaming.h"

#include <algorithm>
#include <cmath>

#include "lagtape/core/error.h"
#include "lagtape/ops/embedding.h"

namespace lagtape {

namespace {

void put_softmax(const Tensor& logits, Tensor& result, std::int64_t first, std::int64_t count) {
  double largest = logits.at(first), sum = 0;
  for (std::int64_t i = first; i < first + count; ++i) largest = std::max(largest, logits.at(i));
  for (std::int64_t i = first; i < first + count; ++i) sum += std::exp(logits.at(i) - largest);
  for (std::int64_t i = first; i < first + count; ++i) result.set(i, std::exp(logits.at(i) - largest) / sum);
}

template <class T>
Tensor stream_rows(const Model& model, const Tensor& x, const StreamOptions& options) {
  const Tensor numbers = x.to(model.dtype());
  Stream<T> stream = model.stream<T>(options);
  const std::int64_t width = stream.input_width(), q = stream.output_width();
  const std::int64_t rows = x.rank() == 2 ? 1 : x.size(0), steps = x.size(-2);
  Shape shape = x.shape();
  shape.back() = q;
  if (!reads_every_step(model.at())) shape.erase(shape.end() - 2);
  Tensor y(shape, model.dtype());
  const T* input = numbers.values<T>().data();
  T* output = y.values<T>().data();
  for (std::int64_t row = 0; row < rows; ++row) {
    stream.reset();
    for (std::int64_t n = 0; n < steps; ++n, input += width) {
      stream.step(input, output);
      if (reads_every_step(model.at()) || n == steps - 1) output += q;
    }
  }
  return y;
}

}  // namespace

Tensor predict_by_stream(const Model& model, const Tensor& x, const StreamOptions& options) {
  if (model.tokens() > 0)  // refuses bad tokens with their places, as Model::predict does
    token_rows(x.rank() == 2 ? x.reshaped({1, x.size(0), x.size(1)}) : x, {}, model.tokens());
  return with_scalar(model.dtype(), [&]<class T>() { return stream_rows<T>(model, x, options); });
}

double relative_difference(const Tensor& outputs, const Tensor& exact) {
  double difference = 0, total = 0;
  for (std::int64_t i = 0; i < exact.numel(); ++i) {
    difference += std::pow(outputs.at(i) - exact.at(i), 2);
    total += std::pow(exact.at(i), 2);
  }
  return difference == 0 ? 0 : std::sqrt(difference / total);
}

void check_has_probabilities(const Model& model) {
  const Loss loss = model.loss();
  if (loss != Loss::cross_entropy && loss != Loss::binary_cross_entropy) {
    throw InputError({.op = "predict"}, Rule::not_supported,
                     "probabilities are those of classes. This model gives real numbers.");
  }
}

Tensor probabilities_of(const Model& model, const Tensor& logits) {
  check_has_probabilities(model);
  Tensor result(logits.shape(), logits.dtype());
  const std::int64_t q = logits.size(-1);
  for (std::int64_t first = 0; first < logits.numel(); first += q) {
    if (model.loss() == Loss::cross_entropy) {
      put_softmax(logits, result, first, q);
    } else {
      result.set(first, 1 / (1 + std::exp(-logits.at(first))));
    }
  }
  return result;
}

}  // namespace lagtape
