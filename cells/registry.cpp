#include "lagtape/cells/registry.h"

#include "lagtape/cells/antisymmetric_rnn.h"
#include "lagtape/cells/cornn.h"
#include "lagtape/cells/delay_gru.h"
#include "lagtape/cells/exp_rnn.h"
#include "lagtape/cells/fast_grnn.h"
#include "lagtape/cells/fast_rnn.h"
#include "lagtape/cells/gru.h"
#include "lagtape/cells/incremental_rnn.h"
#include "lagtape/cells/indrnn.h"
#include "lagtape/cells/layers/batch_norm.h"
#include "lagtape/cells/layers/bidirectional.h"
#include "lagtape/cells/layers/dilated.h"
#include "lagtape/cells/layers/dropout.h"
#include "lagtape/cells/layers/embedding.h"
#include "lagtape/cells/layers/layer_norm.h"
#include "lagtape/cells/layers/linear.h"
#include "lagtape/cells/lem.h"
#include "lagtape/cells/lipschitz_rnn.h"
#include "lagtape/cells/lmu.h"
#include "lagtape/cells/lstm.h"
#include "lagtape/cells/noisy_rnn.h"
#include "lagtape/cells/rnn.h"
#include "lagtape/cells/s4d.h"
#include "lagtape/cells/sru.h"
#include "lagtape/cells/tarnn.h"
#include "lagtape/cells/tau_gru.h"
#include "lagtape/cells/unicornn.h"
#include "lagtape/core/json/json_reader.h"

namespace lagtape {
namespace {

using Row = std::reference_wrapper<const LayerEntry>;

constexpr Row kCells[] = {
    TauGru::kEntry,
    DelayGru::kEntry,
    Lem::kEntry,
    Unicornn::kEntry,
    CoRnn::kEntry,
    Rnn::kEntry,
    Lstm::kEntry,
    Gru::kEntry,
    LipschitzRnn::kEntry,
    NoisyRnn::kEntry,
    AntisymmetricRnn::kEntry,
    IndRnn::kEntry,
    FastRnn::kEntry,
    FastGrnn::kEntry,
    IncrementalRnn::kEntry,
    Tarnn::kEntry,
    ExpRnn::kEntry,
    Sru::kEntry,
    S4d::kEntry,
    Lmu::kEntry,
    Dilated::kEntry,
};

constexpr Row kPerStepLayers[] = {
    Linear::kEntry,
    Dropout::kEntry,
    LayerNorm::kEntry,
};

constexpr Row kSequenceLayers[] = {
    Embedding::kEntry,
    BatchNorm::kEntry,
    Bidirectional::kEntry,
};

}  // namespace

LayerEntries cells() { return kCells; }
LayerEntries per_step_layers() { return kPerStepLayers; }
LayerEntries sequence_layers() { return kSequenceLayers; }

const LayerEntry* find_layer(LayerEntries entries, std::string_view name) {
  for (const LayerEntry& entry : entries) {
    if (entry.name == name) return &entry;
  }
  return nullptr;
}

std::vector<std::string> names_of(LayerEntries entries) {
  std::vector<std::string> names;
  for (const LayerEntry& entry : entries) names.emplace_back(entry.name);
  return names;
}

std::vector<OptionDoc> options_of(const LayerEntry& entry) {
  const Json nothing = Json::object();
  JsonErrors errors;
  JsonReader reader(nothing, "", errors);
  if (entry.read_around) {
    entry.read_around(reader, [](JsonReader& around, const std::string& key) {
      around.raw(key, "the cell inside, written like an entry of \"layers\"", "object", "");
      return BuildLayer();
    });
  } else {
    entry.read(reader);
  }
  return reader.documentation();
}

}  // namespace lagtape
