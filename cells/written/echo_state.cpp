#include "lagtape/cells/written/echo_state.h"

#include "lagtape/cells/build/options.h"
#include "lagtape/cells/build/read_layer.h"
#include "lagtape/cells/build/recorder.h"
#include "lagtape/cells/build/written_cell.h"

namespace lagtape {

constexpr Option kEchoStateOptions[] = {
    required<&EchoState::units>("units", between(1, kLargestUnits), "size of the state"),
    option<&EchoState::leak>("leak", {.min = 0, .max = 1, .above_min = true},
                             "share of the state that a step replaces"),
    option<&EchoState::spectral_radius>("spectral_radius", at_least(0), "modulus of the eigenvalues of W"),
    option<&EchoState::input_scaling>("input_scaling", at_least(0), "largest weight of an input"),
};

constinit const LayerEntry EchoState::kEntry = {
    .name = "echo_state",
    .summary = "leaky echo-state layer: fixed random weights, for a read-out that is trained",
    .source =
        "Optimization and applications of echo state networks with leaky-integrator neurons, the leaky "
        "update",
    .equations = "h' = (1 - leak) * h + leak * tanh(W @ h + U @ x + U.bias)",
    .options = kEchoStateOptions,
    .read = read_cell<EchoState>,
    .yields = true,
};

Layer EchoState::build(std::int64_t input) const {
  require_valid(*this);
  const Initializer of_input = Initializer::uniform(-input_scaling, input_scaling);
  Layer layer = WrittenCell{.weights = "W [units, units]; " + affine_shapes("U", "units", "input"),
                            .states = "h [units]",
                            .step = std::string(kEntry.equations),
                            .output = "h'",
                            .numbers = {{"leak", leak}},
                            .start = of_input,
                            .bias = of_input,
                            .init = {{"W", Initializer::orthogonal(spectral_radius)}}}
                    .build(units, input);
  for (ParameterDefinition& parameter : layer.parameters) parameter.trainable = false;
  return layer;
}

}  // namespace lagtape
