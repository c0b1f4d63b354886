#include "lagtape/cells/models/chain_definition.h"

#include <utility>

#include "lagtape/ops/recurrence/step/step_tape.h"

namespace lagtape {
namespace {

/// y = x: the step of a sequence op that consists only of a read-out.
StepProgram identity(std::int64_t width) {
  StepTape tape(width);
  tape.set_output(tape.input());
  return tape.finish();
}

bool runs_by_steps(const Layer& layer) {
  return layer.whole ? layer.whole->in_evaluation() != nullptr : layer.program.states.empty();
}

/// The layers, with the topmost whole-sequence layer replaced by its form for a read-out that reads once, at
/// the end of a sequence.
std::vector<Layer> read_at_end(std::span<const Layer> given, ReadAt at) {
  std::vector<Layer> layers(given.begin(), given.end());
  if (at != ReadAt::last_step && at != ReadAt::last_padded_step) return layers;
  for (auto layer = layers.rbegin(); layer != layers.rend(); ++layer) {
    if (runs_by_steps(*layer)) continue;
    if (layer->whole == nullptr) break;
    if (auto end = layer->whole->at_end()) layer->whole = std::move(end);
    break;
  }
  return layers;
}

}  // namespace

std::int64_t ChainPart::output_width() const { return layer ? layer->output_width() : stack.output_width(); }

std::int64_t ChainDefinition::input_width() const {
  const ChainPart& first = parts.front();
  return first.layer ? first.layer->input_width() : first.stack.input_width();
}
std::int64_t ChainDefinition::output_width() const { return parts.back().output_width(); }

std::int64_t ChainDefinition::tokens() const {
  return parts.front().layer ? parts.front().layer->tokens() : 0;
}

std::string ChainDefinition::obstacle() const {
  for (const ChainPart& part : parts)
    if (part.layer && !part.layer->obstacle().empty()) return part.layer->obstacle();
  return {};
}

std::vector<Layer> in_evaluation(std::span<const Layer> layers) {
  std::vector<Layer> result;
  for (const Layer& layer : layers) {
    const Layer* of_a_step = layer.whole ? layer.whole->in_evaluation() : nullptr;
    result.push_back(of_a_step != nullptr ? *of_a_step : layer);
  }
  return result;
}

ChainDefinition make_chain(std::span<const Layer> layers, const Layer& readout, ReadAt at, LossFunction loss,
                           ProductFormat products) {
  ChainDefinition chain;
  chain.products = products;
  ChainPart open;  // the sequence op to which layers are added
  const auto close = [&] {
    if (open.stack.layers.empty()) return;
    open.stack.products = products;
    chain.parts.push_back(std::move(open));
    open = {};
  };
  for (const Layer& layer : read_at_end(layers, at)) {
    if (layer.whole) {
      close();
      chain.parts.push_back({{}, layer.whole, layer.weight_count(), layer.parameters.size()});
      continue;
    }
    open.stack.layers.push_back(layer.program);
    open.weights += layer.weight_count();
    open.parameters += layer.parameters.size();
  }
  if (open.stack.layers.empty()) open.stack.layers.push_back(identity(readout.program.input.size));
  open.stack.readout = readout.program;
  open.stack.at = at;
  open.stack.loss = std::move(loss);
  open.weights += readout.weight_count();
  open.parameters += readout.parameters.size();
  close();
  return chain;
}

std::vector<std::pair<Shape, Dtype>> window_shapes(const ChainDefinition& chain, std::int64_t rows,
                                                   Dtype dtype) {
  std::vector<std::pair<Shape, Dtype>> shapes;
  for (const ChainPart& part : chain.parts)
    for (StepProgram layer : part.stack.layers)
      for (std::size_t s = 0; s < layer.states.size(); ++s) {
        layer.states[s].arithmetic = chain.states.value_or(layer.states[s].arithmetic);
        shapes.push_back(state_window(layer, static_cast<int>(s), rows, dtype));
      }
  return shapes;
}

Window start_window(const ChainDefinition& chain, std::int64_t rows, Dtype dtype) {
  Window window;
  if (chain.start.states.empty()) return window;
  const auto shapes = window_shapes(chain, rows, dtype);
  for (std::size_t s = 0; s < shapes.size(); ++s) {
    const auto& [shape, type] = shapes[s];
    const std::int64_t width = shape[2];
    Tensor state(shape, type);
    for (std::int64_t i = 0; i < state.numel(); ++i)
      state.set(i, chain.start.states[s].at(i / (rows * width) * width + i % width));
    window.states.push_back(std::move(state));
  }
  return window;
}

std::size_t state_count(const StackDefinition& stack) {
  std::size_t count = 0;
  for (const StepProgram& layer : stack.layers) count += layer.states.size();
  return count;
}

}  // namespace lagtape
