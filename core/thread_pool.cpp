#include "lagtape/core/thread_pool.h"

#include <algorithm>
#include <atomic>
#include <condition_variable>
#include <exception>
#include <mutex>
#include <system_error>
#include <thread>
#include <utility>
#include <vector>

#if defined(__linux__)
#include <sched.h>
#endif

#if defined(__unix__) || defined(__APPLE__)
#include <unistd.h>
#endif

#if defined(__SSE2__)
#include <xmmintrin.h>
#endif

#include "lagtape/core/error.h"

namespace lagtape {

// ---- FlushSubnormals --------------------------------------------------------------------------------------

namespace {

#if defined(__SSE2__)
constexpr unsigned kFlushBits = 0x8040;     // MXCSR: results (FTZ, bit 15) and operands (DAZ, bit 6)
constexpr unsigned kRoundingBits = 0x6000;  // 0: to nearest
unsigned read_mode() { return _mm_getcsr(); }
void write_mode(unsigned mode) { _mm_setcsr(mode); }

/// Whether the thread flushes and rounds to nearest, determined by computing: reading the mode register would
/// wait for all preceding arithmetic.
bool has_mode() {
  __m128 least = _mm_set_ss(0x1p-126f), subnormal = _mm_set_ss(0x1p-149f), small = _mm_set_ss(0x1p-30f);
  asm volatile("" : "+x"(least), "+x"(subnormal), "+x"(small));
  const __m128 one = _mm_set_ss(1);
  const __m128 result = _mm_mul_ss(least, _mm_set_ss(0.5f));
  const __m128 from_operand = _mm_mul_ss(subnormal, _mm_set_ss(0x1p100f));
  const __m128 above = _mm_xor_ps(_mm_add_ss(one, small), one),
               below = _mm_xor_ps(_mm_sub_ss(one, small), one);
  const __m128 all = _mm_or_ps(_mm_or_ps(result, from_operand), _mm_or_ps(above, below));
  return _mm_cvtsi128_si32(_mm_castps_si128(all)) == 0;
}
#elif defined(__aarch64__)
constexpr unsigned kFlushBits = 1u << 24;     // FPCR: FZ
constexpr unsigned kRoundingBits = 3u << 22;  // FPCR: RMode; 0: to nearest
unsigned read_mode() {
  unsigned long mode;
  asm volatile("mrs %0, fpcr" : "=r"(mode));
  return static_cast<unsigned>(mode);
}
void write_mode(unsigned mode) { asm volatile("msr fpcr, %0" : : "r"(static_cast<unsigned long>(mode))); }
bool has_mode() { return (read_mode() & (kFlushBits | kRoundingBits)) == kFlushBits; }
#else
constexpr unsigned kFlushBits = 0, kRoundingBits = 0;
unsigned read_mode() { return 0; }
void write_mode(unsigned) {}
bool has_mode() { return true; }
#endif
constexpr unsigned kModeBits = kFlushBits | kRoundingBits;

}  // namespace

// Writing the mode takes longer than a small stream step, so a thread that already has it is left alone.
FlushSubnormals::FlushSubnormals() : saved_(has_mode() ? kFlushBits : read_mode()) {
  if ((saved_ & kModeBits) != kFlushBits) write_mode((saved_ & ~kRoundingBits) | kFlushBits);
}

// Only these bits are restored: exception flags raised in the meantime stay.
FlushSubnormals::~FlushSubnormals() {
  if ((saved_ & kModeBits) != kFlushBits) write_mode((read_mode() & ~kModeBits) | (saved_ & kModeBits));
}

// ---- places of threads ------------------------------------------------------------------------------------

namespace {

#if defined(__linux__)
int place_of_this_thread() { return sched_getcpu(); }

/// A woken thread often finds itself on its waker's processor, and waits there for milliseconds until the
/// system moves it. This one moves at once; after that it may run on the same processors as before.
void leave(int place) {
  if (place < 0 || sched_getcpu() != place) return;
  cpu_set_t allowed;
  if (sched_getaffinity(0, sizeof allowed, &allowed) != 0) return;
  cpu_set_t others = allowed;
  CPU_CLR(place, &others);
  if (CPU_COUNT(&others) == 0 || sched_setaffinity(0, sizeof others, &others) != 0) return;
  sched_setaffinity(0, sizeof allowed, &allowed);
}
#else
int place_of_this_thread() { return -1; }
void leave(int) {}
#endif

}  // namespace

// ---- ThreadPool -------------------------------------------------------------------------------------------

namespace {

#if defined(__unix__) || defined(__APPLE__)
std::int64_t this_process() { return getpid(); }
#else
std::int64_t this_process() { return 0; }
#endif

}  // namespace

struct ThreadPool::State {
  static std::unique_ptr<State> started_with(int threads);
  ~State() {
    {
      const std::lock_guard lock(mutex);
      stopping = true;
    }
    started.notify_all();
    for (std::thread& helper : helpers) helper.join();
  }

  void help(int worker);
  void work_on_items(int worker);

  const std::int64_t process = this_process();
  std::vector<std::thread> helpers;  // workers 1 and up; the caller of `run` is worker 0
  std::atomic<bool> running = false;

  std::mutex mutex;  // guards everything below but next_item
  std::condition_variable started, finished;
  std::uint64_t round = 0;
  int busy_helpers = 0;
  bool stopping = false;
  const std::function<void(int, int)>* work = nullptr;
  int items = 0;
  int callers_place = -1;
  std::atomic<int> next_item = 0;
  int failed_item = 0;
  std::exception_ptr failure;
};

void ThreadPool::State::help(int worker) {
  std::uint64_t seen = 0;
  for (;;) {
    int place = -1;
    {
      std::unique_lock lock(mutex);
      started.wait(lock, [&] { return stopping || round != seen; });
      if (stopping) return;
      seen = round;
      place = callers_place;
    }
    leave(place);
    work_on_items(worker);
    {
      const std::lock_guard lock(mutex);
      if (--busy_helpers == 0) finished.notify_one();
    }
  }
}

void ThreadPool::State::work_on_items(int worker) {
  const FlushSubnormals flush;
  for (int item; (item = next_item.fetch_add(1)) < items;) {
    try {
      (*work)(item, worker);
    } catch (...) {
      const std::lock_guard lock(mutex);
      if (!failure || item < failed_item) {
        failure = std::current_exception();
        failed_item = item;
      }
    }
  }
}

std::unique_ptr<ThreadPool::State> ThreadPool::State::started_with(int threads) {
  auto state = std::make_unique<State>();
  state->helpers.reserve(threads - 1);
  try {
    for (int worker = 1; worker < threads; ++worker)
      state->helpers.emplace_back([state = state.get(), worker] { state->help(worker); });
  } catch (const std::system_error& error) {
    throw Error(text_of("[thread pool] cannot start ", threads, " threads: ", error.what()));
  }
  return state;
}

ThreadPool::ThreadPool(int threads) {
  if (threads < 1)
    throw InputError({.op = "thread pool"}, Rule::out_of_range, "threads is at least 1", text_of(threads));
  state_ = State::started_with(threads);
}

// Threads do not exist in a process forked from theirs: waiting for them would never end, and their lock may be
// held forever. The forked process leaves them alone, and starts its own when it needs some.
ThreadPool::~ThreadPool() {
  if (state_->process != this_process()) static_cast<void>(state_.release());
}

int ThreadPool::threads() const { return static_cast<int>(state_->helpers.size()) + 1; }

void ThreadPool::run(int items, const std::function<void(int item, int worker)>& work) {
  if (state_->process != this_process()) {
    std::unique_ptr<State> own = State::started_with(threads());
    static_cast<void>(state_.release());
    state_ = std::move(own);
  }
  State& state = *state_;
  if (state.running.exchange(true)) throw Error("[thread pool] run was called while it is running.");
  {
    const std::lock_guard lock(state.mutex);
    state.work = &work;
    state.items = items;
    state.next_item = 0;
    state.callers_place = place_of_this_thread();
    state.busy_helpers = threads() - 1;
    ++state.round;
  }
  state.started.notify_all();
  state.work_on_items(0);

  std::exception_ptr failure;
  {
    std::unique_lock lock(state.mutex);
    state.finished.wait(lock, [&] { return state.busy_helpers == 0; });
    failure = std::exchange(state.failure, nullptr);
  }
  state.running = false;
  if (failure) std::rethrow_exception(failure);
}

int ThreadPool::hardware_threads() {
  return std::max(1, static_cast<int>(std::thread::hardware_concurrency()));
}

}  // namespace lagtape
