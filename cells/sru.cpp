#include "lagtape/cells/sru.h"

#include <cmath>

#include "lagtape/cells/build/options.h"
#include "lagtape/cells/build/read_layer.h"
#include "lagtape/cells/build/recorder.h"

namespace lagtape {

constexpr Option kSruOptions[] = {
    required<&Sru::units>("units", between(1, kLargestUnits), "size of the state"),
    option<&Sru::highway_bias>("highway_bias", between(-20, 20),
                               "first bias of the gate that lets the state through"),
};

constinit const LayerEntry Sru::kEntry = {
    .name = "sru",
    .summary = "simple recurrent unit: gates with peepholes, a highway, and no recurrent matrix",
    .source = "Simple Recurrent Units for Highly Parallelizable Recurrence",
    .equations =
        "f = sigmoid(W_f @ x + W_f.bias + v_f * c)\n"
        "r = sigmoid(W_r @ x + W_r.bias + v_r * c)\n"
        "c' = f * c + (1 - f) * (W @ x)\n"
        "y = r * c' + (1 - r) * skip\n"
        "skip = sqrt(1 + 2 * exp(highway_bias)) * x, or W_s @ x where input and units differ",
    .options = kSruOptions,
    .read = read_cell<Sru>,
};

Layer Sru::build(std::int64_t input) const {
  require_valid(*this);
  const double kappa = std::sqrt(1 + 2 * std::exp(highway_bias));
  const Initializer start{Initializer::Kind::kaiming_uniform, 1};
  const Initializer start_of_gates{Initializer::Kind::kaiming_uniform, std::sqrt(0.5)};
  const double peephole = std::sqrt(1.5);

  LayerRecorder step(input, start);
  const StepVar x = step.input();
  const StepVar c = step.state("c", units);
  const auto gate = [&](const std::string& name, double bias) {
    const StepVar Wx = step.affine("W_" + name, units, x);
    const StepVar v = step.vector("v_" + name, units);
    step.start("W_" + name, start_of_gates);
    step.start("W_" + name + ".bias", Initializer::constant(bias));
    step.start("v_" + name, Initializer::uniform(-peephole, peephole));
    return sigmoid(Wx + v * c);
  };
  const auto projected = [&] {
    const StepVar Wx = step.linear("W_s", units, x);
    step.start("W_s", {Initializer::Kind::kaiming_uniform, kappa});
    return Wx;
  };

  const StepVar Wx = step.linear("W", units, x);
  const StepVar f = step.named("f", gate("f", 0));
  const StepVar r = gate("r", highway_bias);
  const StepVar next = f * c + (1 - f) * Wx;
  const StepVar skipped = input == units ? kappa * x : projected();

  step.tape().set_next(c, next);
  return step.finish(r * next + (1 - r) * skipped);
}

}  // namespace lagtape
