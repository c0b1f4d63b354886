#include "lagtape/ops/recurrence/stream/compiled_row.h"

#include <doctest/doctest.h>
#include <sys/mman.h>

#include "lagtape/tests/ops/recurrence/support/cells.h"
#include "lagtape/tests/ops/recurrence/support/random_case.h"
#include "lagtape/tests/ops/recurrence/support/streamed.h"

// Steps of a single row as one function of machine code. The tests of streams, which run single steps in this
// way, compare them with the sequence op, too; the tests here use sizes that streams of random stacks do not
// reach.

namespace lagtape {
namespace {

using namespace recurrence;
using namespace test;

/// Addresses for that many elements. Nothing may be read or written there, so they take no memory.
template <class T>
class Addresses {
 public:
  explicit Addresses(std::int64_t elements)
      : bytes_(static_cast<std::size_t>(elements) * sizeof(T)),
        begin_(mmap(nullptr, bytes_, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0)) {
    REQUIRE(begin_ != MAP_FAILED);
  }
  Addresses(const Addresses&) = delete;
  ~Addresses() { munmap(begin_, bytes_); }
  T* begin() const { return static_cast<T*>(begin_); }

 private:
  std::size_t bytes_;
  void* begin_;
};

/// Whether single steps of a stack are compiled, its states and arrays being laid out one after another.
template <class T>
bool is_compiled(const SequenceCase& c, SimdLevel level) {
  const CompiledStack<T> stack(c.stack, false, kernels<T>(level), true);
  std::deque<LayerRunner<T>> layers;
  for (std::size_t l = 0; l < stack.layers(); ++l)
    layers.emplace_back(stack.program(l), stack.schedule(l), stack.weights(l), stack.kernels(l));
  const auto lay_out = [&](BumpAllocator<T> memory) {
    for (std::size_t l = 0; l < layers.size(); ++l)
      layers[l].lay_out(memory, {0, 100}, 1, l > 0 ? &layers[l - 1] : nullptr, nullptr);
    return memory.used();
  };
  const Addresses<T> memory(lay_out(BumpAllocator<T>()));
  lay_out(BumpAllocator<T>(memory.begin()));
  return CompiledRow<T>::compile(stack, layers, memory.begin(), memory.begin(), c.weights) != nullptr;
}

/// Whether this build and machine compile at all.
bool has_compiler() {
  StackDefinition stack;
  stack.layers = {equations(3, 2, {"W [units, units]", "U [units, input]"}, {"h' = W @ h + U @ x"})};
  const SequenceCase c = converted(filled(stack, 1, 1, 1), Dtype::f32);
  return best_level() == SimdLevel::avx512 && is_compiled<float>(c, best_level());
}

template <class T>
SequenceCase one_row(StackDefinition stack, std::int64_t outputs, std::int64_t steps = 75) {
  if (outputs > 0) stack.readout = linear_readout(stack.output_width(), outputs);
  SequenceCase c = filled(std::move(stack), 1, steps, 3);
  c.batch.training = false;
  return converted(c, dtype_of<T>);
}

template <class T>
std::string stream_difference(const SequenceCase& c) {
  const Tensor expected = steps_first(named(run_evaluate(c), "outputs"));
  std::string text;
  for (const std::vector<std::int64_t>& blocks :
       {std::vector<std::int64_t>{1}, {1, 1, 1, 2}, {3, 1}, {1, 1, 17, 1, 40}}) {
    Stream<T> stream = stream_of<T>(c);
    text += bit_difference(streamed(stream, c.batch.x, blocks), expected);
  }
  return text;
}

TEST_CASE_TEMPLATE("compiled steps give the bits of evaluate, whatever their sizes", T, float, double) {
  // The sizes are less than a vector and several vectors, sums that are unrolled and that are not, wide
  // inputs and outputs.
  struct Size {
    std::int64_t units, input, outputs;
  };
  for (const Size& size : {Size{1, 1, 1},
                           {5, 3, 2},
                           {8, 2, 4},
                           {32, 1, 8},
                           {16, 1, 1},
                           {17, 16, 9},
                           {33, 20, 40},
                           {50, 3, 5},
                           {64, 1, 1},
                           {100, 1, 16},
                           {150, 2, 1}}) {
    CAPTURE(size.units);
    for (const StepProgram& layer :
         {lstm(size.units, size.input), tau_gru(size.units, size.input, 3),
          two_states(size.units, size.input, 2, 19), oscillators(size.units, size.input)}) {
      StackDefinition stack;
      stack.layers = {layer};
      CHECK(stream_difference<T>(one_row<T>(stack, size.outputs)) == "");
      CHECK(stream_difference<T>(one_row<T>(stack, 0)) == "");
    }
  }
}

TEST_CASE_TEMPLATE("products of other widths, and of products, are there before they are read" *
                       doctest::test_suite("slow"),
                   T, float, double) {
  struct Case {
    std::vector<std::string> weights, step;
  };
  // P and Q make rows of other widths than the state's, beside a product of the same operand.
  const auto cases_of = [](const std::string& p, const std::string& q) -> std::vector<Case> {
    const std::string P = "P [" + p + ", units]", Q = "Q [" + q + ", units]", R = "R [units, " + p + "]",
                      S = "S [units, " + q + "]", A = "A [units, units]", B = "B [units, units]",
                      U = "U [units, input]";
    return {{{A, P, R, U}, {"v = P @ h", "h' = 0.5 * h + tanh(R @ v + A @ h + U @ x)"}},
            {{A, P, R, U}, {"v = P @ h", "h' = 0.5 * h + tanh(A @ h + R @ v + U @ x)"}},
            {{P, Q, R, S, U}, {"v = P @ h", "w = Q @ h", "h' = tanh(U @ x + S @ w + R @ v)"}},
            {{P, Q, R, S, U}, {"v = P @ h", "w = Q @ h", "h' = tanh(U @ x + R @ v) * tanh(S @ w)"}},
            {{A, B, U}, {"v = A @ h", "h' = tanh(v + B @ v + U @ x)"}},
            {{A, P, R, U}, {"v = A @ h", "w = P @ v", "h' = tanh(v + R @ w + U @ x)"}},
            {{A, P, R, U}, {"v = P @ tanh(A @ h)", "h' = tanh(A @ h + R @ v + U @ x)"}}};
  };
  for (const auto& widths : std::vector<std::pair<std::string, std::string>>{
           {"1", "1"}, {"4", "1"}, {"4", "17"}, {"17", "4"}, {"33", "16"}, {"16", "33"}, {"100", "64"}})
    for (const std::int64_t units : {1, 16, 17, 64, 97}) {
      CAPTURE(widths.first);
      CAPTURE(widths.second);
      CAPTURE(units);
      for (const Case& c : cases_of(widths.first, widths.second)) {
        CAPTURE(c.step.back());
        StackDefinition stack;
        stack.layers = {equations(units, 2, c.weights, c.step)};
        CHECK(stream_difference<T>(one_row<T>(stack, 2, 30)) == "");
      }
    }
}

TEST_CASE("steps of states that take 2 GiB are not compiled: an instruction has 32 bits for an offset") {
  if (!has_compiler()) return;
  const auto is_compiled_with = [](std::int64_t tau, bool above) {
    StackDefinition stack;
    stack.layers = {delay_gru(16, 2, tau)};  // a vector of 64 bytes a step
    if (above) stack.layers.push_back(lstm(16, 16));
    return is_compiled<float>(one_row<float>(stack, 1, 2), SimdLevel::avx512);
  };
  constexpr std::int64_t kLimit = std::int64_t{1} << 25;  // steps in 2 GiB
  CHECK(is_compiled_with(1000, true));
  CHECK(is_compiled_with(kLimit / 2 - 1000, true));
  CHECK(!is_compiled_with(kLimit, true));
  CHECK(!is_compiled_with(2 * kLimit, false));
}

TEST_CASE("compiled steps go on from saved windows and in copies, at odd and even steps") {
  StackDefinition stack;
  stack.layers = {lstm(20, 2), oscillators(9, 20), delay_gru(7, 9, 4)};
  const SequenceCase c = one_row<float>(stack, 3);
  const Tensor expected = steps_first(named(run_evaluate(c), "outputs"));
  for (const std::int64_t n : {1, 8, 33}) {
    CAPTURE(n);
    const SequenceCase first = only_steps(c, 0, n), rest = only_steps(c, n, 75);
    const Tensor tail = part(expected, 0, n, 75);
    Stream<float> stream = stream_of<float>(c), restored = stream_of<float>(c);
    streamed(stream, first.batch.x, {1});
    Stream<float> copy = stream;
    restored.step(c.batch.x.values<float>().data(), std::vector<float>(3).data());
    restored.restore(stream.window(), n);
    CHECK(bit_difference(streamed(stream, rest.batch.x, {1}), tail) == "");
    CHECK(bit_difference(streamed(copy, rest.batch.x, {1, 2}), tail) == "");
    CHECK(bit_difference(streamed(restored, rest.batch.x, {1}), tail) == "");
  }
}

TEST_CASE("plain products and element-wise work of one row are compiled for avx512 only") {
  if (!has_compiler()) return;
  StackDefinition stack;
  stack.layers = {lstm(20, 2), oscillators(9, 20), delay_gru(7, 9, 4)};
  for (const SimdLevel level : supported_levels())
    CHECK(is_compiled<float>(one_row<float>(stack, 3), level) == (level == SimdLevel::avx512));
  stack.layers = {equations(5, 2, {"W [units, units]", "U [units, input]"},
                            {"h' = tanh(W @ h + U @ x + 0.1 * sin(0.3 * n))"})};
  CHECK(!is_compiled<float>(one_row<float>(stack, 0), best_level()));
}

}  // namespace
}  // namespace lagtape
