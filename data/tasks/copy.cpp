#include "lagtape/data/tasks/registry.h"

#include <algorithm>

#include "lagtape/core/json/options.h"
#include "lagtape/data/generators/drawn_task.h"

namespace lagtape {

namespace {

constexpr std::int64_t kRecalled = 10;  // symbols to recall per sequence
constexpr std::int64_t kBlank = 0, kAlphabet = 8, kMarker = 9, kInputs = 10;

void draw_copy(std::int64_t length, RandomStream& stream, Batch& batch, std::int64_t row) {
  const std::int64_t first = row * batch.x.size(1), answer = length - kRecalled;
  std::int32_t* classes = batch.classes.data() + first;
  std::fill_n(classes, answer, static_cast<std::int32_t>(kBlank));
  std::generate_n(classes + answer, kRecalled,
                  [&] { return static_cast<std::int32_t>(1 + stream.next_below(kAlphabet)); });
  with_scalar(batch.x.dtype(), [&]<class T>() {
    T* x = batch.x.values<T>().data() + first * kInputs;
    for (std::int64_t n = 0; n < length; ++n) {
      const std::int64_t symbol = n < kRecalled ? classes[answer + n] : n == answer ? kMarker : kBlank;
      x[n * kInputs + symbol] = 1;
    }
  });
}

struct CopyOptions {
  std::int64_t blanks = 1000;
  DrawnSets sets{.fresh = true};
};

constexpr Option kCopyRows[] = {
    option<&CopyOptions::blanks>("blanks", between(1, 10'000'000),
                                 "blanks between the symbols and the marker"),
    rows_of<&CopyOptions::sets>(kFreshSets),
};

TaskLoader read_copy_task(JsonReader& reader, const TaskHints&) {
  CopyOptions options;
  read_options(reader, kCopyRows, options);
  const std::int64_t blanks = options.blanks;
  const std::int64_t length = blanks + 2 * kRecalled;
  const DataShape shape{.length = length, .input = kInputs, .classes = 1 + kAlphabet, .every_step = true};
  return drawn_task(shape, options.sets,
                    [length](std::int64_t, RandomStream stream, Batch& batch, std::int64_t row) {
                      draw_copy(length, stream, batch, row);
                    });
}

}  // namespace

/// Without memory the best cross-entropy is 10 ln 8 / (blanks + 20).
constinit const TaskEntry kCopyTask = {
    .name = "copy",
    .summary = "recall ten symbols after a long run of blanks",
    .source =
        "Hochreiter and Schmidhuber 1997; Arjovsky, Shah and Bengio 2016; figure 7 of the tau-GRU paper",
    .equations =
        "x: [blanks + 20, 10], one-hot: ten symbols out of 1..8, `blanks` times the blank 0, the marker 9, "
        "nine blanks\n"
        "y: a class at every step: the ten symbols at the last ten steps, 0 before them",
    .read = read_copy_task,
};

}  // namespace lagtape
