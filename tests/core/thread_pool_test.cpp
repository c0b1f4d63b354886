#include "lagtape/core/thread_pool.h"

#include <doctest/doctest.h>

#include <atomic>
#include <cfenv>
#include <functional>
#include <limits>
#include <memory>
#include <stdexcept>
#include <vector>

#include "lagtape/core/error.h"

#if defined(__linux__)
#include <sched.h>
#include <sys/wait.h>
#include <unistd.h>
#endif

using namespace lagtape;

namespace {

// Half of the smallest normal number, computed at run time: zero where subnormals are flushed.
float half_of_smallest() {
  volatile float smallest = std::numeric_limits<float>::min();
  volatile float half = smallest * 0.5f;
  return half;
}

}  // namespace

TEST_CASE("Every item is worked on once, by a worker of the pool") {
  for (int threads : {1, 2, 4}) {
    ThreadPool pool(threads);
    CHECK(pool.threads() == threads);
    for (int items : {0, 1, 3, 1000}) {
      std::vector<int> times(items);
      std::atomic<bool> valid = true;
      pool.run(items, [&](int item, int worker) {
        ++times[item];
        if (worker < 0 || worker >= threads) valid = false;
      });
      CHECK(times == std::vector<int>(items, 1));
      CHECK(valid);
    }
  }
}

TEST_CASE("A worker has one item at a time, so that it can own its memory") {
  ThreadPool pool(4);
  std::vector<long> sums(4);
  for (int round = 0; round < 200; ++round) {
    pool.run(50, [&](int item, int worker) { sums[worker] += item; });
  }
  CHECK(sums[0] + sums[1] + sums[2] + sums[3] == 200 * 49 * 25);
}

TEST_CASE("Results by item are the same for any number of threads") {
  const auto results = [](int threads) {
    std::vector<double> out(500);
    ThreadPool(threads).run(500, [&](int item, int) {
      for (int k = 1; k < 100; ++k) out[item] += 1.0 / (item + k);
    });
    return out;
  };
  CHECK(results(1) == results(2));
  CHECK(results(1) == results(5));
}

TEST_CASE("The exception of the lowest item is rethrown after all items are done, and the pool goes on") {
  for (int threads : {1, 3}) {
    ThreadPool pool(threads);
    for (int round = 0; round < 20; ++round) {
      std::atomic<int> done = 0;
      const auto work = [&](int item, int) {
        ++done;
        if (item % 10 == 7) throw std::runtime_error(std::to_string(item));
      };
      CHECK_THROWS_WITH_AS(pool.run(100, work), "7", std::runtime_error);
      CHECK(done == 100);
    }
    std::atomic<int> done = 0;
    CHECK_NOTHROW(pool.run(10, [&](int, int) { ++done; }));
    CHECK(done == 10);
  }
}

TEST_CASE("A pool that is running refuses to run again, instead of waiting for ever") {
  ThreadPool pool(2);
  CHECK_THROWS_AS(pool.run(1, [&](int, int) { pool.run(1, [](int, int) {}); }), Error);
  CHECK_THROWS_AS(ThreadPool(0), InputError);
}

#if defined(__linux__)
TEST_CASE("Wherever a thread has moved to, it may run where it might before") {
  cpu_set_t before;
  REQUIRE(sched_getaffinity(0, sizeof before, &before) == 0);
  ThreadPool pool(3);
  std::atomic<int> changed = 0;
  for (int round = 0; round < 300; ++round) {
    pool.run(6, [&](int, int) {
      cpu_set_t now;
      if (sched_getaffinity(0, sizeof now, &now) != 0 || !CPU_EQUAL(&now, &before)) ++changed;
    });
  }
  CHECK(changed == 0);
}
#endif

TEST_CASE("Subnormal numbers are flushed for the time of the work, and the caller's mode comes back") {
  REQUIRE(half_of_smallest() > 0);
  ThreadPool pool(3);
  std::vector<float> seen(100, -1);
  pool.run(100, [&](int item, int) { seen[item] = half_of_smallest(); });
#if defined(__SSE2__) || defined(__aarch64__)
  CHECK(seen == std::vector<float>(100, 0));
#endif
  CHECK(half_of_smallest() > 0);
  CHECK_THROWS(pool.run(1, [](int, int) { throw std::runtime_error("x"); }));
  CHECK(half_of_smallest() > 0);
  {
    const FlushSubnormals outer;
    pool.run(3, [](int, int) {});
#if defined(__SSE2__) || defined(__aarch64__)
    CHECK(half_of_smallest() == 0);
#endif
  }
  CHECK(half_of_smallest() > 0);
}

TEST_CASE("Work is rounded to nearest in every thread, and the caller's way of rounding comes back") {
  const auto rounded = [](float term) {
    volatile float one = 1, small = term;
    volatile float sum = one + small;
    return sum;
  };
  for (const int mode : {FE_UPWARD, FE_DOWNWARD, FE_TOWARDZERO}) {
    REQUIRE(std::fesetround(mode) == 0);
    ThreadPool pool(3);  // its threads begin with the mode of this one
    std::vector<float> seen(200, -1);
    pool.run(200, [&](int item, int) { seen[item] = rounded(item % 2 == 0 ? 0x1p-30f : -0x1p-30f); });
    const int after = std::fegetround();
    const bool is_nearest_here = rounded(0x1p-30f) == 1 && rounded(-0x1p-30f) == 1;
    std::fesetround(FE_TONEAREST);
#if defined(__SSE2__) || defined(__aarch64__)
    CHECK(seen == std::vector<float>(200, 1));
#endif
    CHECK(after == mode);
    CHECK_FALSE(is_nearest_here);
  }
}

#if defined(__linux__)
namespace {

/// Runs `work` in a forked process and returns its exit code; -1 when it did not end within ten seconds.
int exit_code_of_fork(const std::function<int()>& work) {
  const pid_t child = fork();
  if (child == 0) {
    alarm(10);
    _exit(work());
  }
  int status = 0;
  waitpid(child, &status, 0);
  return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

}  // namespace

TEST_CASE("A forked process works with threads of its own") {
  ThreadPool pool(3);
  pool.run(10, [](int, int) {});
  const int sum = exit_code_of_fork([&] {
    std::atomic<int> sum = 0;
    for (int round = 0; round < 2; ++round) pool.run(10, [&](int item, int) { sum += item; });
    return sum.load();
  });
  CHECK(sum == 2 * 45);
  std::atomic<int> here = 0;
  pool.run(10, [&](int item, int) { here += item; });
  CHECK(here == 45);
}

TEST_CASE("A forked process destroys a pool without waiting for threads that it does not have") {
  auto pool = std::make_unique<ThreadPool>(3);
  pool->run(10, [](int, int) {});
  CHECK(exit_code_of_fork([&] {
          pool.reset();
          return 7;
        }) == 7);
}
#endif
