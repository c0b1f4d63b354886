#include "lagtape/tools/train/initial_weights.h"

#include <algorithm>

#include "lagtape/core/error.h"
#include "lagtape/tools/train/source.h"

namespace lagtape {

namespace {

Model model_to_begin_with(const Experiment& experiment) try {
  return load_model(experiment.train.init);
} catch (const InputError& error) {
  throw error.within({.file = experiment.where, .pointer = "/train/init"});
}

}  // namespace

std::optional<InitialWeights> start_from_init(const Experiment& experiment, Model& model) {
  const std::string& path = experiment.train.init;
  if (path.empty()) return std::nullopt;
  const Model other = model_to_begin_with(experiment);
  InitialWeights result{.from = path, .taken = {}, .drawn = {}};
  for (Parameter& parameter : model.parameters()) {
    const auto found = std::ranges::find_if(other.parameters(), [&](const Parameter& candidate) {
      return candidate.name == parameter.name && candidate.value.shape() == parameter.value.shape();
    });
    if (found == other.parameters().end()) {
      result.drawn.push_back(parameter.name);
      continue;
    }
    for (std::int64_t i = 0; i < parameter.value.numel(); ++i) parameter.value.set(i, found->value.at(i));
    result.taken.push_back(parameter.name);
  }
  if (!result.taken.empty()) return result;
  throw InputError(
      {.file = experiment.where, .pointer = "/train/init"}, Rule::missing,
      text_of(path, " has no parameter of the name and shape of one of this model, such as ",
              result.drawn.front(), " ", to_string(model.parameters().begin()->value.shape()), "."));
}

}  // namespace lagtape
