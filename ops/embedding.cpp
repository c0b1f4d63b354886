#include "lagtape/ops/embedding.h"

#include <algorithm>
#include <cmath>
#include <memory>
#include <vector>

#include "lagtape/core/error.h"
#include "lagtape/ops/checks.h"

namespace lagtape {

namespace {

/// Columns that one worker sums: a constant, so that no sum depends on the number of threads.
constexpr std::int64_t kColumns = 32;

template <class T>
void copy_rows(const T* e, std::int64_t width, const std::int32_t* numbers, std::int64_t count, T scale,
               T* y) {
  for (std::int64_t i = 0; i < count; ++i, y += width) {
    if (numbers[i] < 0) continue;
    const T* row = e + numbers[i] * width;
    for (std::int64_t j = 0; j < width; ++j) y[j] = scale * row[j];
  }
}

/// Adds columns first .. last - 1 of the gradient.
template <class T>
void add_columns(T* e, std::int64_t width, const TokenRows& rows, T scale, const T* d, std::int64_t first,
                 std::int64_t last) {
  for (const std::int32_t number : rows.numbers) {
    if (number >= 0) {
      T* to = e + number * width;
      for (std::int64_t j = first; j < last; ++j) to[j] += scale * d[j];
    }
    d += width;
  }
}

}  // namespace

Var embedding(const Var& e, std::span<const std::int32_t> indices) {
  Tape& tape = common_tape("embedding", {{"E", e}});
  if (e.value().rank() != 2) refuse("embedding", "E must be [V, d]", {{"E", e}});
  const std::int64_t vocabulary = e.value().size(0), width = e.value().size(1);
  for (std::size_t i = 0; i < indices.size(); ++i) {
    if (indices[i] >= 0 && indices[i] < vocabulary) continue;
    throw InputError({.op = "embedding"}, Rule::out_of_range, text_of("indices must be 0..", vocabulary - 1),
                     text_of(indices[i], " at position ", i));
  }
  Tensor y = tape.allocate({static_cast<std::int64_t>(indices.size()), width}, e.dtype());
  with_scalar(e.dtype(), [&]<class T>() {
    const auto from = e.value().values<T>();
    auto to = y.values<T>().begin();
    for (const std::int32_t index : indices) to = std::copy_n(from.begin() + index * width, width, to);
  });
  std::vector<std::int32_t> rows(indices.begin(), indices.end());
  return tape.record(y, {e}, [rows = std::move(rows), width](const Tensor& d, InputGradients& inputs) {
    with_scalar(d.dtype(), [&]<class T>() {
      const auto to = inputs.accumulator(0).values<T>();
      auto from = d.values<T>().begin();
      for (const std::int32_t row : rows) {
        for (std::int64_t j = 0; j < width; ++j) to[row * width + j] += *from++;
      }
    });
  });
}

TokenRows token_rows(const Tensor& x, std::span<const std::int64_t> lengths, std::int64_t vocabulary) {
  if (x.rank() != 3 || x.size(2) != 1)
    throw InputError({.op = "embedding"}, Rule::shape, "tokens are x [B, T, 1]", to_string(x.shape()));
  TokenRows result{x.size(0), x.size(1), {}};
  result.numbers.assign(static_cast<std::size_t>(x.numel()), -1);
  with_scalar(x.dtype(), [&]<class T>() {
    const auto values = x.values<T>();
    for (std::int64_t b = 0; b < result.rows; ++b) {
      const std::int64_t steps = lengths.empty() ? result.steps : lengths[static_cast<std::size_t>(b)];
      for (std::int64_t t = 0; t < steps; ++t) {
        const std::size_t place = static_cast<std::size_t>(b * result.steps + t);
        const T value = values[place];
        if (!(value >= 0 && value < static_cast<T>(vocabulary)) || value != std::floor(value))
          throw InputError({.op = "embedding"}, Rule::out_of_range,
                           text_of("tokens are the numbers 0..", vocabulary - 1),
                           text_of(value, " in row ", b, ", step ", t));
        result.numbers[place] = static_cast<std::int32_t>(value);
      }
    }
  });
  return result;
}

namespace {

Shape output_shape(const Tensor& e, const TokenRows& rows) { return {rows.rows, rows.steps, e.size(1)}; }

void look_up(const Tensor& e, const TokenRows& rows, double scale, ThreadPool& pool, Tensor& y) {
  const std::int64_t width = e.size(1);
  with_scalar(e.dtype(), [&]<class T>() {
    pool.run(static_cast<int>(rows.rows), [&](int b, int) {
      const std::int64_t first = b * rows.steps;
      copy_rows(e.values<T>().data(), width, rows.numbers.data() + first, rows.steps, static_cast<T>(scale),
                y.values<T>().data() + first * width);
    });
  });
}

}  // namespace

Tensor look_up(const Tensor& e, const TokenRows& rows, ThreadPool& pool) {
  Tensor y(output_shape(e, rows), e.dtype());
  look_up(e, rows, 1, pool, y);
  return y;
}

Var embedding(const Var& e, TokenRows rows, double scale, ThreadPool& pool) {
  Tensor y = e.tape().allocate(output_shape(e.value(), rows), e.dtype());
  look_up(e.value(), rows, scale, pool, y);
  const auto kept = std::make_shared<const TokenRows>(std::move(rows));
  return e.tape().record(y, {e}, [kept, scale, &pool](const Tensor& d, InputGradients& inputs) {
    const std::int64_t width = d.size(2);
    with_scalar(d.dtype(), [&]<class T>() {
      T* to = inputs.accumulator(0).values<T>().data();
      pool.run(static_cast<int>((width + kColumns - 1) / kColumns), [&](int block, int) {
        add_columns(to, width, *kept, static_cast<T>(scale), d.values<T>().data(), block * kColumns,
                    std::min<std::int64_t>((block + 1) * kColumns, width));
      });
    });
  });
}

}  // namespace lagtape
