#include "lagtape/data/tasks/registry.h"

#include "lagtape/core/json/options.h"
#include "lagtape/data/generators/drawn_task.h"

namespace lagtape {

namespace {

void draw_sum(std::int64_t length, RandomStream& stream, Batch& batch, std::int64_t row) {
  const std::int64_t half = length / 2;
  const auto first = static_cast<std::int64_t>(stream.next_below(static_cast<std::uint64_t>(half)));
  const auto second =
      half + static_cast<std::int64_t>(stream.next_below(static_cast<std::uint64_t>(length - half)));
  const std::int64_t at = row * batch.x.size(1) * 2;
  with_scalar(batch.x.dtype(), [&]<class T>() {
    T* x = batch.x.values<T>().data() + at;
    for (std::int64_t n = 0; n < length; ++n) x[2 * n] = static_cast<T>(stream.next_uniform());
    x[2 * first + 1] = x[2 * second + 1] = 1;
    batch.y.values<T>()[static_cast<std::size_t>(row)] = x[2 * first] + x[2 * second];
  });
}

struct AddingOptions {
  std::int64_t length = 2000;
  DrawnSets sets{.fresh = true};
};

constexpr Option kAddingRows[] = {
    option<&AddingOptions::length>("length", between(2, 10'000'000), "steps of a sequence"),
    rows_of<&AddingOptions::sets>(kFreshSets),
};

TaskLoader read_adding_task(JsonReader& reader, const TaskHints&) {
  AddingOptions options;
  read_options(reader, kAddingRows, options);
  const std::int64_t length = options.length;
  const DataShape shape{.length = length, .input = 2, .output = 1};
  return drawn_task(shape, options.sets,
                    [length](std::int64_t, RandomStream stream, Batch& batch, std::int64_t row) {
                      draw_sum(length, stream, batch, row);
                    });
}

}  // namespace

/// The first half is floor(length / 2) steps long. A model that always predicts 1 has an MSE of 1/6.
constinit const TaskEntry kAddingTask = {
    .name = "adding",
    .summary = "add the two marked values of a long sequence of random numbers",
    .source = "Hochreiter and Schmidhuber 1997; protocol of Long Expressive Memory (LEM)",
    .equations =
        "x: [length, 2], a value ~ U(0, 1) and a mark at every step: 1 at one step of each half, 0 "
        "elsewhere\n"
        "y: the sum of the two marked values",
    .read = read_adding_task,
};

}  // namespace lagtape
