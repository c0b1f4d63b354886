#include <algorithm>
#include <memory>
#include <span>
#include <utility>
#include <vector>

#include "lagtape/cells/models/model_implementation.h"
#include "lagtape/core/error.h"
#include "lagtape/core/plain_arithmetic.h"

namespace lagtape {

namespace {

void check_lengths(const std::vector<std::int64_t>& lengths, const Tensor& x) {
  if (lengths.empty()) return;
  if (x.rank() != 3 || std::ssize(lengths) != x.size(0))
    throw InputError({.op = "predict"}, Rule::shape, "there is one length for each row of x [B, T, ..]",
                     text_of(lengths.size(), " for ", to_string(x.shape())));
  for (const std::int64_t length : lengths)
    if (length < 1 || length > x.size(1))
      throw InputError({.op = "predict"}, Rule::out_of_range, text_of("lengths are in 1 .. ", x.size(1)),
                       text_of(length));
}

/// Sets the outputs y [B, T, q] of steps beyond the lengths to zero.
void clear_padding(Tensor& y, const std::vector<std::int64_t>& lengths) {
  const std::int64_t steps = y.size(1), width = y.size(2);
  with_scalar(y.dtype(), [&]<class T>() {
    T* row = y.values<T>().data();
    for (const std::int64_t length : lengths) {
      std::fill(row + length * width, row + steps * width, T(0));
      row += steps * width;
    }
  });
}

}  // namespace

Tensor Model::predict(const Tensor& x, int threads) const {
  return predict(x, std::span<const std::int64_t>(), threads);
}

Tensor Model::predict(const Tensor& x, std::span<const std::int64_t> lengths, int threads) const {
  return predicted(x, lengths, only_normalization("predict"), threads);
}

Tensor Model::predict(const Tensor& x, const Normalization& normalization, int threads) const {
  return predicted(x, {}, normalization, threads);
}

Tensor Model::predicted(const Tensor& x, std::span<const std::int64_t> lengths, const Normalization& n,
                        int threads) const {
  const PlainArithmetic plain;
  Implementation& m = *implementation_;
  if ((x.rank() != 2 && x.rank() != 3) || x.size(-1) != input_width())
    throw InputError({.op = "predict"}, Rule::shape,
                     text_of("x is [T, ", input_width(), "] or [B, T, ", input_width(), "]"),
                     to_string(x.shape()));
  SequenceBatch batch;
  const bool single = x.rank() == 2;
  batch.lengths.assign(lengths.begin(), lengths.end());
  check_lengths(batch.lengths, x);
  n.check(input_width(), output_width());
  const bool changes_x = !n.input.empty();
  batch.x = changes_x ? x.to(m.dtype()).clone() : x.to(m.dtype());
  if (single) batch.x = batch.x.reshaped({1, x.size(0), x.size(1)});
  return with_scalar(m.dtype(), [&]<class T>() {
    if (changes_x) n.input.normalize(batch.x.values<T>());
    std::unique_ptr<Predictor> predictor = m.predictors.take(threads);
    if (predictor == nullptr) predictor = std::make_unique<Predictor>(m.evaluation_chain, m.dtype(), threads);
    Tensor y = predictor->chain.evaluate(weights(), batch, predictor->pool);
    m.predictors.put_back(std::move(predictor));
    n.output.restore(y.values<T>());
    if (reads_every_step(at()) && !lengths.empty()) clear_padding(y, batch.lengths);
    if (!single) return y;
    return y.reshaped(Shape(y.shape().begin() + 1, y.shape().end()));
  });
}

}  // namespace lagtape
