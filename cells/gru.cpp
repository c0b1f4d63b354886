#include "lagtape/cells/gru.h"

#include "lagtape/cells/build/options.h"
#include "lagtape/cells/build/read_layer.h"
#include "lagtape/cells/build/recorder.h"

namespace lagtape {

constexpr Option kGruOptions[] = {
    required<&Gru::units>("units", between(1, kLargestUnits), "size of the state"),
};

constinit const LayerEntry Gru::kEntry = {
    .name = "gru",
    .summary = "gated recurrent unit, with the reset gate after the product",
    .source = "Cho et al. 2014, in the form of PyTorch and cuDNN",
    .equations =
        "r = sigmoid(W_r @ h + U_r @ x)\n"
        "z = sigmoid(W_z @ h + U_z @ x)\n"
        "c = tanh(U_n @ x + r * (W_n @ h))\n"
        "h' = (1 - z) * c + z * h\n"
        "each product W @ h and U @ x has its own bias: W_r.bias, U_r.bias, ...; r multiplies W_n.bias "
        "too",
    .options = kGruOptions,
    .read = read_cell<Gru>,
};

Layer Gru::build(std::int64_t input) const {
  require_valid(*this);
  LayerRecorder step(input, Initializer::uniform_of(units));
  const StepVar x = step.input();
  const StepVar h = step.state("h", units);
  const auto gate = [&](const std::string& name) {
    const StepVar Wh = step.affine("W_" + name, units, h);
    const StepVar Ux = step.affine("U_" + name, units, x);
    return sigmoid(Wh + Ux);
  };

  const StepVar r = gate("r");
  const StepVar z = step.named("z", gate("z"));
  const StepVar Wh = step.affine("W_n", units, h);
  const StepVar Ux = step.affine("U_n", units, x);
  const StepVar c = tanh(Ux + r * Wh);
  const StepVar next = (1 - z) * c + z * h;

  step.tape().set_next(h, next);
  return step.finish(next);
}

}  // namespace lagtape
