#include "lagtape/tools/exchange/import/live_modules.h"

#include <algorithm>
#include <iterator>
#include <utility>

#include "lagtape/core/error.h"
#include "lagtape/core/quote.h"
#include "lagtape/tools/exchange/import/state_dict.h"
#include "lagtape/tools/exchange/import/state_dict_names.h"
#include "lagtape/tools/exchange/import/torch_files.h"

namespace lagtape::foreign {
namespace {

/// Takes the tensors of a module out of all.
StateDict tensors_of(const std::string& module, std::vector<NamedTensor>& tensors) {
  const std::string prefix = module.empty() ? "" : module + ".";
  const auto own = std::ranges::stable_partition(
      tensors, [&](const NamedTensor& entry) { return !entry.name.starts_with(prefix); });
  StateDict dict{.file = {}, .in_order = true};
  std::ranges::move(own, std::back_inserter(dict.file.tensors));
  tensors.erase(own.begin(), own.end());
  return dict;
}

ForeignLayer table_layer(const std::string& module, const StateDict& dict, const std::string& where) {
  const std::string title = text_of("module ", quote(module));
  if (dict.file.tensors.size() != 1 || dict.file.tensors[0].tensor.rank() != 2)
    throw InputError({.file = where, .item = title}, Rule::not_supported, "is no table of vectors.");
  const Tensor& E = dict.file.tensors[0].tensor;
  ForeignEntry entry;
  entry.layer = {{"layer", "embedding"}, {"units", E.size(1)}, {"vocabulary", E.size(0)}};
  entry.values["E"] = E;
  entry.input = 1;
  entry.width = E.size(1);
  return {title, std::move(entry)};
}

}  // namespace

ForeignModel read_modules(std::vector<NamedTensor> tensors, const std::vector<LiveModule>& modules,
                          const std::string& where) {
  ForeignModel model{.format = "torch"};
  make_plain(tensors, model.notes);
  for (const LiveModule& module : modules) {
    if (module.kind == LiveModule::Kind::function) {
      model.layers.push_back({module.function, ForeignDense{{}, {}, module.function}});
      continue;
    }
    const StateDict dict = tensors_of(module.name, tensors);
    if (module.kind == LiveModule::Kind::embedding) {
      model.layers.push_back(table_layer(module.name, dict, where));
      continue;
    }
    ForeignModel part{.format = "torch", .layers = layers_of(dict, {}, where)};
    if (!module.function.empty()) set_nonlinearity(part, module.function, where);
    std::ranges::move(part.layers, std::back_inserter(model.layers));
  }
  if (!tensors.empty())
    throw InputError({.file = where, .item = text_of("tensor ", quote(tensors.front().name))},
                     Rule::not_supported, "belongs to none of the modules.");
  model.input = input_of(model.layers, where);
  return model;
}

}  // namespace lagtape::foreign
