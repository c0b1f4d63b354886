#include "lagtape/cells/build/common_options.h"

#include <algorithm>

#include "lagtape/core/error.h"
#include "lagtape/ops/recurrence/step/resets.h"
#include "lagtape/ops/recurrence/step/reversible.h"
#include "lagtape/ops/recurrence/step/step_tape.h"

namespace lagtape {
namespace {

std::int64_t output_width(const Layer& layer) {
  return layer.program.values[static_cast<std::size_t>(layer.program.output)].shape.width();
}

/// Makes all layers residual, except a lowest one whose input has a different width.
void add_residuals(std::vector<Layer>& layers) {
  const std::int64_t width = output_width(layers.back());
  for (const Layer& layer : layers)
    if (output_width(layer) != width)
      throw InputError({.op = "residual"}, Rule::shape, "layers inside a layer have one width",
                       text_of(output_width(layer), " and ", width));
  for (Layer& layer : layers) {
    const bool goes_without =
        layers.size() > 1 && &layer == &layers.front() && layer.program.input.size != width;
    if (!goes_without) layer.program = residual(std::move(layer.program));
  }
}

}  // namespace

BuildLayer CommonCellOptions::apply(BuildLayer build) const {
  return [build, options = *this](std::int64_t input) {
    LayerGroup all{{}, !options.dilations.empty()};
    const std::vector<std::int64_t> once = {1};
    for (const std::int64_t dilation : options.dilations.empty() ? once : options.dilations) {
      LayerGroup group = build(all.layers.empty() ? input : output_width(all.layers.back()));
      all.nested = all.nested || group.nested;
      for (Layer& layer : group.layers) {
        StepProgram& program = layer.program;
        for (StateDefinition& state : program.states)
          state.arithmetic = options.arithmetic.value_or(state.arithmetic);
        program = dilated(std::move(program), dilation);
        check_grid(program);
        all.layers.push_back(std::move(layer));
      }
    }
    if (options.residual) add_residuals(all.layers);
    options.init.apply(all);
    return all;
  };
}

StepProgram dilated(StepProgram program, std::int64_t dilation) {
  if (dilation == 1) return program;
  if (auto step = without_reset_column(program))  // a reset is among the states of all phases
    return with_reset_column(dilated(std::move(step->program), dilation), step->column);
  for (Instruction& v : program.values) {
    if (v.op == StepOp::real_lag)
      throw InputError({.op = "dilations"}, Rule::not_supported,
                       "a cell whose lags are trained cannot be dilated");
    if (v.op == StepOp::step_index) v.lag = std::max<std::int64_t>(v.lag, 1) * dilation;
    if (v.op != StepOp::state && v.op != StepOp::lag) continue;
    v.lag = (v.lag + 1) * dilation - 1;
    v.op = StepOp::lag;
    if (v.lag > StepTape::kLargestLag)
      throw InputError({.op = "dilations"}, Rule::out_of_range,
                       text_of("lags are at most ", StepTape::kLargestLag), text_of(v.lag));
  }
  find_reads(program);
  return program;
}

StepProgram residual(StepProgram program) {
  const RowShape& output = program.values[static_cast<std::size_t>(program.output)].shape;
  if (output != program.input)
    throw InputError({.op = "residual"}, Rule::shape, "input and output have one width",
                     text_of("input ", to_string(program.input), ", output ", to_string(output)));
  const auto found = std::ranges::find(program.values, StepOp::input, &Instruction::op);
  int input = static_cast<int>(found - program.values.begin());
  if (found == program.values.end()) program.values.push_back({.op = StepOp::input, .shape = program.input});
  program.values.push_back({.op = StepOp::element,
                            .element = ElementOp::add,
                            .shape = program.input,
                            .a = program.output,
                            .b = input});
  program.output = static_cast<int>(program.values.size()) - 1;
  return program;
}

}  // namespace lagtape
