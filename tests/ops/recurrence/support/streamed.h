#pragma once

#include <algorithm>

#include "lagtape/ops/recurrence/stream/stream.h"
#include "lagtape/tests/ops/recurrence/support/sequence_case.h"

namespace lagtape::test {

/// [B, T, w] as [T, B, w], which is how a stream is fed.
inline Tensor steps_first(const Tensor& x) {
  const std::int64_t rows = x.size(0), steps = x.size(1), width = x.size(2);
  Tensor y({steps, rows, width}, x.dtype());
  for (std::int64_t i = 0; i < x.numel(); ++i) {
    const std::int64_t row = i / width / steps, n = i / width % steps;
    y.set((n * rows + row) * width + i % width, x.at(i));
  }
  return y;
}

/// The outputs [T, B, q] of the stream for all of x, fed in blocks of these sizes in turn.
template <class T>
Tensor streamed(Stream<T>& stream, const Tensor& x, const std::vector<std::int64_t>& blocks) {
  const Tensor input = steps_first(x);
  Tensor output({x.size(1), x.size(0), stream.output_width()}, x.dtype());
  const T* from = input.values<T>().data();
  T* to = output.values<T>().data();
  std::int64_t left = x.size(1);
  for (std::size_t i = 0; left > 0; ++i) {
    const std::int64_t count = std::min(left, blocks[i % blocks.size()]);
    if (count == 1) {
      stream.step(from, to);
    } else {
      stream.block(from, to, count);
    }
    from += count * stream.rows() * stream.input_width();
    to += count * stream.rows() * stream.output_width();
    left -= count;
  }
  return output;
}

template <class T>
Stream<T> stream_of(const SequenceCase& c, SimdLevel level = best_level()) {
  return Stream<T>(c.stack, c.weights, c.rows(), level);
}

}  // namespace lagtape::test
