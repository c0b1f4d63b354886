#include "lagtape/data/tasks/copy.h"

#include <algorithm>

#include "lagtape/data/generators/drawn_task.h"

namespace lagtape {

namespace {

constexpr std::int64_t kLetters = 10;  // of a sequence
constexpr std::int64_t kBlank = 0, kAlphabet = 8, kMarker = 9, kSymbols = 10;

void draw_copy(std::int64_t length, RandomStream& stream, Batch& batch, std::int64_t row) {
  const std::int64_t first = row * batch.x.size(1), answer = length - kLetters;
  std::int32_t* classes = batch.classes.data() + first;
  std::fill_n(classes, answer, static_cast<std::int32_t>(kBlank));
  std::generate_n(classes + answer, kLetters,
                  [&] { return static_cast<std::int32_t>(1 + stream.next_below(kAlphabet)); });
  with_scalar(batch.x.dtype(), [&]<class T>() {
    T* x = batch.x.values<T>().data() + first * kSymbols;
    for (std::int64_t n = 0; n < length; ++n) {
      const std::int64_t symbol = n < kLetters ? classes[answer + n] : n == answer ? kMarker : kBlank;
      x[n * kSymbols + symbol] = 1;
    }
  });
}

}  // namespace

TaskLoader read_copy(JsonReader& reader, const TaskHints&) {
  std::int64_t blanks = 1000;
  DrawnSets sets{.fresh = true};
  reader.optional("blanks", blanks, between(1, 10'000'000), "blanks between the letters and the marker");
  read_fresh_sets(reader, sets);
  const std::int64_t length = blanks + 2 * kLetters;
  const DataShape shape{
      .length = length, .input = kSymbols, .output = 0, .classes = 1 + kAlphabet, .every_step = true};
  return drawn_plan(shape, sets, [length](std::int64_t, RandomStream stream, Batch& batch, std::int64_t row) {
    draw_copy(length, stream, batch, row);
  });
}

}  // namespace lagtape
