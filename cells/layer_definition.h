#pragma once

#include <concepts>
#include <functional>
#include <memory>
#include <string>
#include <utility>

#include "lagtape/cells/common_options.h"
#include "lagtape/cells/initial_values.h"
#include "lagtape/cells/layer_entry.h"

namespace lagtape {

struct LayerContent;

/// A struct that holds the options of a cell or layer: TauGru, Lstm, Linear, ...
template <class T>
concept LayerOptions = requires(T options, JsonReader& reader) {
  { T::kEntry } -> std::convertible_to<const LayerEntry&>;
  options.read(reader);
};

/// One entry of a model's layers, before the width of its input is known. It is made from a struct of
/// options, alone or with the options that all cells share, or with first values:
///
///     TauGru{.units = 16, .tau = {10}}
///     {Lstm{.units = 64}, {.residual = true}}
///     {LayerNorm{}, {.entries = {{"gain", Initializer::constant(0.5)}}}}
///
/// The options are checked as those of a JSON file are: the constructors throw InputError that names each
/// option which is wrong. Immutable; copies are cheap.
class LayerDefinition {
 public:
  template <LayerOptions Options>
  LayerDefinition(Options options)
      : LayerDefinition(Options::kEntry, [&](JsonReader& reader) { options.read(reader); }) {}
  template <LayerOptions Options>
  LayerDefinition(Options options, CommonCellOptions common)
      : LayerDefinition(Options::kEntry, [&](JsonReader& reader) {
          options.read(reader);
          common.read(reader);
        }) {}
  template <LayerOptions Options>
  LayerDefinition(Options options, InitialValues init)
      : LayerDefinition(Options::kEntry, [&](JsonReader& reader) {
          options.read(reader);
          init.read(reader);
        }) {}
  explicit LayerDefinition(std::shared_ptr<const LayerContent> content) : content_(std::move(content)) {}

  const std::string& name() const;  ///< "tau_gru"
  const LayerContent& content() const { return *content_; }

 private:
  /// `read` reads a JSON object over the options, as in cells/options.h.
  LayerDefinition(const LayerEntry& entry, const std::function<void(JsonReader&)>& read);

  std::shared_ptr<const LayerContent> content_;
};

}  // namespace lagtape
