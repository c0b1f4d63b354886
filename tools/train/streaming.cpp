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
Tensor stream_row(const Model& model, Stream<T>& stream, std::span<const T> x) {
  const std::int64_t width = stream.input_width(), q = stream.output_width();
  const std::int64_t steps = static_cast<std::int64_t>(x.size()) / width;
  const bool every_step = reads_every_step(model.at());
  Tensor y(every_step ? Shape{steps, q} : Shape{q}, model.dtype());
  T* output = y.values<T>().data();
  stream.reset();
  for (std::int64_t n = 0; n < steps; ++n)
    stream.step(x.data() + n * width, output + (every_step ? n * q : 0));
  return y;
}

template <class T>
Tensor stream_rows(const Model& model, const Tensor& x, const StreamOptions& options) {
  const Tensor numbers = x.to(model.dtype());
  Stream<T> stream = model.stream<T>(options);
  if (x.rank() == 2) return stream_row<T>(model, stream, numbers.values<T>());
  const std::int64_t rows = x.size(0), row_size = numbers.numel() / rows;
  Tensor all;
  for (std::int64_t row = 0; row < rows; ++row) {
    const Tensor y = stream_row<T>(model, stream, numbers.values<T>().subspan(row * row_size, row_size));
    if (row == 0) {
      Shape shape = y.shape();
      shape.insert(shape.begin(), rows);
      all = Tensor(shape, y.dtype());
    }
    const auto values = y.values<T>();
    std::copy(values.begin(), values.end(), all.values<T>().begin() + row * y.numel());
  }
  return all;
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
