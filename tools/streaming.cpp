#include "lagtape/tools/streaming.h"

#include <algorithm>
#include <cmath>

#include "lagtape/core/error.h"
#include "lagtape/ops/embedding.h"

namespace lagtape {

namespace {

double at_or(const std::vector<double>& numbers, std::size_t i, double fallback) {
  return numbers.empty() ? fallback : numbers[i];
}

void put_softmax(const Tensor& logits, Tensor& result, std::int64_t first, std::int64_t count) {
  double largest = logits.at(first), sum = 0;
  for (std::int64_t i = first; i < first + count; ++i) largest = std::max(largest, logits.at(i));
  for (std::int64_t i = first; i < first + count; ++i) sum += std::exp(logits.at(i) - largest);
  for (std::int64_t i = first; i < first + count; ++i) result.set(i, std::exp(logits.at(i) - largest) / sum);
}

/// A stream would answer with NaN.
void check_token(const Model& model, double value) {
  const std::int64_t tokens = model.tokens();
  if (tokens == 0 || (value >= 0 && value < static_cast<double>(tokens) && value == std::floor(value)))
    return;
  throw InputError(concat("[predict] tokens are the numbers 0..", tokens - 1, ". Got ", value));
}

template <class T>
Tensor stream_row(const Model& model, std::span<const T> x) {
  const std::int64_t width = model.input_width(), q = model.output_width();
  const std::int64_t steps = static_cast<std::int64_t>(x.size()) / width;
  const bool every_step = reads_every_step(model.at());
  RowStream<T> stream(model);
  Tensor y(every_step ? Shape{steps, q} : Shape{q}, model.dtype());
  std::vector<double> step(width);
  for (std::int64_t n = 0; n < steps; ++n) {
    std::copy_n(x.begin() + n * width, width, step.begin());
    const Tensor answer = stream.step(step);
    const auto values = answer.template values<T>();
    if (every_step || n == steps - 1)
      std::copy(values.begin(), values.end(), y.values<T>().begin() + (every_step ? n * q : 0));
  }
  return y;
}

template <class T>
Tensor stream_rows(const Model& model, const Tensor& x) {
  const Tensor numbers = x.to(model.dtype());
  if (x.rank() == 2) return stream_row<T>(model, numbers.values<T>());
  const std::int64_t rows = x.size(0), row_size = numbers.numel() / rows;
  Tensor all;
  for (std::int64_t row = 0; row < rows; ++row) {
    const Tensor y = stream_row<T>(model, numbers.values<T>().subspan(row * row_size, row_size));
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

template <class T>
RowStream<T>::RowStream(const Model& model)
    : model_(model), stream_(model.stream<T>()), input_(static_cast<std::size_t>(model.input_width())) {}

template <class T>
Tensor RowStream<T>::step(std::span<const double> x) {
  const Normalization& scaling = model_.normalization();
  for (std::size_t i = 0; i < input_.size(); ++i) {
    const double value = static_cast<T>(x[i]);  // a number is the model's before it is scaled
    check_token(model_, value);
    input_[i] = static_cast<T>((value - at_or(scaling.input_mean, i, 0)) / at_or(scaling.input_scale, i, 1));
  }
  Tensor y({model_.output_width()}, dtype_of<T>);
  const auto output = y.values<T>();
  stream_.step(input_.data(), output.data());
  for (std::size_t i = 0; i < output.size(); ++i) {
    output[i] =
        static_cast<T>(output[i] * at_or(scaling.output_scale, i, 1) + at_or(scaling.output_mean, i, 0));
  }
  return y;
}

template class RowStream<float>;
template class RowStream<double>;

Tensor predict_by_stream(const Model& model, const Tensor& x) {
  if (model.tokens() > 0)  // refused with their places, as Model::predict does
    token_rows(x.rank() == 2 ? x.reshaped({1, x.size(0), x.size(1)}) : x, {}, model.tokens());
  return with_scalar(model.dtype(), [&]<class T>() { return stream_rows<T>(model, x); });
}

void check_has_probabilities(const Model& model) {
  const Loss loss = model.loss();
  if (loss != Loss::cross_entropy && loss != Loss::binary_cross_entropy) {
    throw InputError("[predict] probabilities are those of classes. This model gives real numbers.");
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
