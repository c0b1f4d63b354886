#include "lagtape/cells/lmu.h"

#include <cmath>
#include <memory>
#include <mutex>
#include <utility>

#include "lagtape/cells/build/options.h"
#include "lagtape/cells/build/read_layer.h"
#include "lagtape/cells/build/recorder.h"
#include "lagtape/core/json/options.h"
#include "lagtape/ops/elementwise.h"
#include "lagtape/ops/matrices.h"
#include "lagtape/ops/matrix_exponential.h"
#include "lagtape/ops/shape.h"

namespace lagtape {

namespace {

/// theta dm/dt = A m + B u, extended by one row and column for du/dt = 0. [order + 1, order + 1].
Tensor with_input(std::int64_t order, double theta) {
  const std::int64_t n = order + 1;
  Tensor matrix({n, n}, Dtype::f64);
  for (std::int64_t i = 0; i < order; ++i) {
    const double row = static_cast<double>(2 * i + 1) / theta;
    for (std::int64_t j = 0; j < order; ++j) matrix.set(i * n + j, i < j || (i - j) % 2 == 0 ? -row : row);
    matrix.set(i * n + order, i % 2 == 0 ? row : -row);
  }
  return matrix;
}

/// A and B side by side, computed on first use: work cubic in the order is too much for a file whose tensors
/// may turn out to belong to another model.
class LegendreMemory {
 public:
  LegendreMemory(std::int64_t order, double theta, std::string discretization)
      : order_(order), theta_(theta), discretization_(std::move(discretization)) {}

  const Tensor& matrix() {
    std::call_once(computed_, [&] { matrix_ = legendre_memory(order_, theta_, discretization_); });
    return matrix_;
  }

 private:
  std::int64_t order_;
  double theta_;
  std::string discretization_;
  std::once_flag computed_;
  Tensor matrix_;
};

}  // namespace

Tensor legendre_memory(std::int64_t order, double theta, const std::string& discretization) {
  Tape tape;
  const Var rate = tape.constant(with_input(order, theta));
  const Var step = discretization == "euler" ? identity(rate, order + 1) + rate : matrix_exponential(rate);
  return slice(step, 0, 0, order).value().clone();
}

namespace {

constexpr Option kLmuOptions[] = {
    required<&Lmu::units>("units", between(1, kLargestUnits), "size of the nonlinear state"),
    required<&Lmu::order>("order", between(1, 4096), "size of the memory: the number of polynomials"),
    required<&Lmu::theta>("theta", at_least(1), "time that the memory holds").in("steps"),
    option<&Lmu::discretization>("discretization", {"zoh", "euler"},
                                 "exact for an input that is held, or a Euler step"),
    option<&Lmu::input_to_hidden>("input_to_hidden", "whether the nonlinear state sees the input"),
    option<&Lmu::hidden_to_memory>("hidden_to_memory", "whether the memory sees the nonlinear state"),
    option<&Lmu::memory_to_memory>("memory_to_memory", "whether what is written depends on the memory"),
};

void check_lmu(const Lmu& cell, JsonReader& reader) {
  if (cell.discretization == "euler" && cell.theta <= 4 * static_cast<double>(cell.order)) {
    reader.error("theta", text_of("a Euler step needs more than 4 * order = ", 4 * cell.order, ", got ",
                                  cell.theta, "."));
  }
}

}  // namespace

constinit const LayerEntry Lmu::kEntry = {
    .name = "lmu",
    .summary = "Legendre memory of the last theta steps, written and read by a nonlinear state",
    .source = "Legendre Memory Units: Continuous-Time Representation in Recurrent Neural Networks",
    .equations =
        "u = sum(e_x * x) + sum(e_h * h) + sum(e_m * m)\n"
        "m' = A @ m + B * u, A and B fixed: m holds the last theta values of u as weights of Legendre "
        "polynomials\n"
        "h' = tanh(W_x @ x + W_h @ h + W_m @ m')",
    .options = checked<check_lmu>(kLmuOptions),
    .read = read_cell<Lmu>,
};

Layer Lmu::build(std::int64_t input) const {
  require_valid(*this);
  LayerRecorder step(input, {Initializer::Kind::xavier_normal, 1});
  StepTape& tape = step.tape();
  const StepVar x = step.input();
  const StepVar h = step.state("h", units);
  const StepVar m = step.state("m", order);
  const auto encoded = [&](const std::string& name, StepVar v, bool zero) {
    const std::int64_t size = v.shape().size;
    const StepVar e = step.vector(name, size);
    const double bound = std::sqrt(3 / static_cast<double>(size));
    step.start(name, zero ? Initializer::constant(0) : Initializer::uniform(-bound, bound));
    return sum(e * v);
  };
  const auto memory = std::make_shared<LegendreMemory>(order, theta, discretization);
  const auto fixed = [&](std::int64_t begin, std::int64_t end) {
    return [memory, begin, end](std::span<const Var> like) {
      return slice(like[0].tape().constant(memory->matrix().to(like[0].dtype())), 1, begin, end);
    };
  };

  StepVar u = encoded("e_x", x, false);
  if (hidden_to_memory) u = u + encoded("e_h", h, false);
  if (memory_to_memory) u = u + encoded("e_m", m, true);
  const StepMatrix A = step.derived_matrix("A", order, order, {"e_x"}, fixed(0, order));
  const StepVar B = step.derived_vector(
      "B", order, {"e_x"},
      [B = fixed(order, order + 1), n = order](auto like) { return reshape(B(like), {n}); });
  const StepVar m_next = product(A, m) + B * u;
  const auto activation = [&] {
    if (!input_to_hidden) return step.linear("W_h", units, h);
    const StepVar W_x = step.linear("W_x", units, x);
    return W_x + step.linear("W_h", units, h);
  };
  const StepVar driven = activation();
  const StepVar h_next = tanh(driven + step.linear("W_m", units, m_next));

  tape.set_next(m, m_next);
  tape.set_next(h, h_next);
  return step.finish(h_next);
}

}  // namespace lagtape
