#pragma once

#include <concepts>
#include <memory>
#include <string>
#include <utility>

#include "lagtape/cells/build/common_options.h"
#include "lagtape/cells/build/initial_values.h"
#include "lagtape/cells/build/layer_entry.h"
#include "lagtape/cells/build/options.h"

namespace lagtape {

struct LayerContent;

/// A struct that holds the options of a cell or layer: TauGru, Lstm, Linear, ...
template <class T>
concept LayerOptions = requires(T options, JsonReader& reader) {
  { T::kEntry } -> std::convertible_to<const LayerEntry&>;
  options.read(reader);
};

/// A struct with the options of a layer around another one: Bidirectional.
template <class T>
concept OuterLayerOptions = requires(T options, JsonReader& reader, const ReadInner& inner) {
  { T::kEntry } -> std::convertible_to<const LayerEntry&>;
  options.read(reader, inner);
};

/// One entry of a model's layers, before the width of its input is known. It is made from a struct of
/// options: alone, with the options that all cells share, with first values, or with the cell inside.
///
///     TauGru{.units = 16, .tau = 10}
///     {Lstm{.units = 64}, {.residual = true}}
///     {LayerNorm{}, InitialValues{{{"gain", Initializer::constant(0.5)}}}}
///     {Bidirectional{.merge = "sum"}, Lstm{.units = 64}}
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
  template <OuterLayerOptions Options>
  LayerDefinition(Options options, const LayerDefinition& inner)
      : LayerDefinition(
            Options::kEntry, [&](JsonReader& reader) { options.read(reader, reading(inner)); },
            reading(inner)) {}
  explicit LayerDefinition(std::shared_ptr<const LayerContent> content) : content_(std::move(content)) {}

  const std::string& name() const;  ///< "tau_gru"
  const LayerContent& content() const { return *content_; }

 private:
  /// `read` reads a JSON object over the options, as in cells/build/options.h. `inner` reads the layer inside.
  LayerDefinition(const LayerEntry& entry, const ReadOptions& read, const ReadInner& inner = {});
  /// A reader that gives `inner` whatever it is asked for.
  static ReadInner reading(const LayerDefinition& inner);

  std::shared_ptr<const LayerContent> content_;
};

}  // namespace lagtape
