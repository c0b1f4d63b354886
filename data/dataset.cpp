#include "lagtape/data/dataset.h"

#include <algorithm>
#include <cmath>

#include "lagtape/core/error.h"

namespace lagtape {

std::int64_t Dataset::length(std::int64_t) const { return shape_.length; }

namespace {

Batch padded_batch(const Dataset& dataset, std::span<const std::int64_t> indices, Dtype dtype) {
  const DataShape& shape = dataset.shape();
  Batch batch;
  for (std::int64_t index : indices) {
    if (index < 0 || index >= dataset.size()) {
      throw InputError({.op = "data"}, Rule::out_of_range,
                       text_of("sequence indices are 0..", dataset.size() - 1), text_of(index));
    }
    batch.ids.push_back(index);
    batch.lengths.push_back(dataset.length(index));
  }
  const std::int64_t rows = batch.size();
  const std::int64_t steps = rows == 0 ? 0 : *std::max_element(batch.lengths.begin(), batch.lengths.end());
  batch.x = Tensor({rows, steps, shape.input}, dtype);
  if (shape.classes > 0) {
    batch.classes.assign(static_cast<std::size_t>(shape.every_step ? rows * steps : rows), -1);
  } else {
    batch.y = Tensor(shape.every_step ? Shape{rows, steps, shape.output} : Shape{rows, shape.output}, dtype);
  }
  return batch;
}

/// Sets the sequences' own normalizations, if they have any.
void set_own(const Dataset& dataset, Batch& batch) {
  for (std::size_t row = 0; row < batch.ids.size(); ++row) {
    const Normalization* own = dataset.normalization(batch.ids[row]);
    if (own == nullptr) continue;
    own->check(dataset.shape().input, dataset.shape().output);
    batch.own.resize(batch.ids.size());
    batch.own[row] = own;
  }
}

template <class T>
std::span<T> row_of(Tensor& tensor, std::int64_t row) {
  const auto width = static_cast<std::size_t>(tensor.numel() / tensor.size(0));
  return tensor.values<T>().subspan(static_cast<std::size_t>(row) * width, width);
}

template <class T>
void refuse_non_finite(std::span<const T> values, std::int64_t width, const char* what, std::int64_t index,
                       bool may_be_missing = false) {
  T sum = 0;  // 0 * v is NaN for NaN and infinity: one test for the whole row
  for (T v : values) sum += T{0} * v;
  if (sum == 0) return;
  auto bad = std::find_if(values.begin(), values.end(),
                          [&](T v) { return !std::isfinite(v) && !(may_be_missing && std::isnan(v)); });
  if (bad == values.end()) return;
  const std::int64_t at = bad - values.begin();
  throw InputError({.op = "data"}, Rule::not_finite, "numbers must be finite",
                   text_of(*bad, " in sequence ", index, ", step ", at / width, ", ", what, " ", at % width));
}

}  // namespace

void leave_out_first(Batch& batch, std::int64_t steps) {
  const std::int64_t padded = batch.x.size(1);
  for (std::int64_t row = 0; row < batch.size(); ++row) {
    for (std::int64_t n = 0; n < std::min(steps, padded); ++n) {
      const std::int64_t place = row * padded + n;
      if (!batch.classes.empty()) batch.classes[static_cast<std::size_t>(place)] = -1;
      const std::int64_t width = batch.y.empty() ? 0 : batch.y.size(-1);
      for (std::int64_t i = 0; i < width; ++i) batch.y.set(place * width + i, std::nan(""));
    }
  }
}

Batch gather(const Dataset& dataset, std::span<const std::int64_t> indices, Dtype dtype, ThreadPool& pool,
             const Normalization& normalization, std::int64_t epoch) {
  const DataShape& shape = dataset.shape();
  normalization.check(shape.input, shape.output);
  Batch batch = padded_batch(dataset, indices, dtype);
  if (!normalization.input.empty() || !normalization.output.empty()) set_own(dataset, batch);
  batch.epoch = epoch;
  pool.run(static_cast<int>(batch.size()), [&](int row, int) {
    const std::int64_t index = batch.ids[static_cast<std::size_t>(row)];
    const Normalization& of_row = batch.normalization(row, normalization);
    dataset.read(index, batch, row);
    with_scalar(dtype, [&]<class T>() {
      const auto steps = static_cast<std::size_t>(batch.lengths[static_cast<std::size_t>(row)]);
      const std::span<T> x = row_of<T>(batch.x, row);
      of_row.input.normalize(x.first(steps * static_cast<std::size_t>(shape.input)));
      refuse_non_finite<T>(x, shape.input, "input", index);
      if (shape.classes > 0) return;
      const std::span<T> y = row_of<T>(batch.y, row);
      of_row.output.normalize(shape.every_step ? y.first(steps * static_cast<std::size_t>(shape.output)) : y);
      refuse_non_finite<T>(y, shape.output, "output", index, shape.missing_targets);
    });
  });
  return batch;
}

}  // namespace lagtape
