#include "lagtape/ops/recurrence/run/slice_gradients.h"

#include <doctest/doctest.h>

#include <atomic>
#include <thread>

#include "lagtape/core/aligned_memory.h"
#include "lagtape/core/error.h"
#include "lagtape/core/thread_pool.h"

namespace lagtape {
namespace {

using recurrence::SliceGradients;

constexpr std::int64_t kSlices = 9;

/// The number that a slice adds; sums of such numbers depend on their order.
float part(std::int64_t slice) { return 1.0f / static_cast<float>(3 * slice + 7); }

struct Sums {
  std::vector<Tensor> tensors;
  AlignedMemory memory;
  SliceGradients<float> gradients;

  explicit Sums(std::int64_t copies)
      : tensors{Tensor({3, 5}, Dtype::f32), Tensor(), Tensor({7}, Dtype::f32)},
        memory(allocate_aligned(static_cast<std::size_t>(copies * SliceGradients<float>::elements(tensors)) *
                                sizeof(float))),
        gradients(tensors, reinterpret_cast<float*>(memory.get()), copies, nullptr) {}

  void work(std::int64_t slice) {
    const std::vector<float*> own = gradients.claim(slice);
    REQUIRE(own.size() == 3);
    CHECK(own[1] == nullptr);
    for (int i = 0; i < 15; ++i) own[0][i] += part(slice);
    for (int i = 0; i < 7; ++i) own[2][i] -= part(slice);
  }

  void check() const {
    float expected = 0;
    for (std::int64_t slice = 0; slice < kSlices; ++slice) expected += part(slice);
    for (int i = 0; i < 15; ++i) CHECK(tensors[0].values<float>()[i] == expected);
    for (int i = 0; i < 7; ++i) CHECK(tensors[2].values<float>()[i] == -expected);
  }
};

TEST_CASE("slices are added in their order, in whatever order they are done") {
  Sums sums(3);
  for (std::int64_t slice = 0; slice < kSlices; slice += 3) {
    for (std::int64_t i = 0; i < 3; ++i) sums.work(slice + i);
    for (std::int64_t i : {2, 0, 1}) sums.gradients.finish(slice + i);
  }
  sums.check();
}

TEST_CASE("a slow slice holds others up, and none forever") {
  for (const std::int64_t slow : {0, 1, 4, 8}) {
    for (const int threads : {1, 2, 4}) {
      Sums sums(SliceGradients<float>::copies(kSlices, threads, nullptr));
      ThreadPool pool(threads);
      pool.run(kSlices, [&](int i, int) {
        sums.work(i);
        if (i == slow) std::this_thread::sleep_for(std::chrono::milliseconds(5));
        sums.gradients.finish(i);
      });
      sums.check();
    }
  }
}

TEST_CASE("a slice that fails does not hold up the others") {
  Sums sums(2);
  ThreadPool pool(2);
  std::atomic<int> finished = 0;
  CHECK_THROWS(pool.run(kSlices, [&](int i, int) {
    const std::vector<float*> own = sums.gradients.claim(i);
    if (i == 1) {
      sums.gradients.give_up();
      throw Error("failed");
    }
    sums.gradients.finish(i);
    ++finished;
  }));
  CHECK(finished == kSlices - 1);
}

}  // namespace
}  // namespace lagtape
