#pragma once

// All cells and layers. To add one, add its files, its #include and its row here. The registry, the tool's
// lists and messages, and <lagtape/lagtape.h> follow from this table.

#include <functional>

#include "lagtape/cells/antisymmetric_rnn.h"
#include "lagtape/cells/build/layer_entry.h"
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
#include "lagtape/cells/written/cfc.h"
#include "lagtape/cells/written/d_linoss.h"
#include "lagtape/cells/written/echo_state.h"
#include "lagtape/cells/written/gated_deltanet.h"
#include "lagtape/cells/written/hgrn2.h"
#include "lagtape/cells/written/lif.h"
#include "lagtape/cells/written/linoss.h"
#include "lagtape/cells/written/lru.h"
#include "lagtape/cells/written/ltc.h"
#include "lagtape/cells/written/mamba.h"
#include "lagtape/cells/written/min_gru.h"
#include "lagtape/cells/written/min_lstm.h"
#include "lagtape/cells/written/mlstm.h"
#include "lagtape/cells/written/rg_lru.h"
#include "lagtape/cells/written/slstm.h"

namespace lagtape {

using LayerRow = std::reference_wrapper<const LayerEntry>;

/// Recurrent layers, {"cell": NAME, ...}.
inline constexpr LayerRow kCells[] = {
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
    MinGru::kEntry,
    MinLstm::kEntry,
    Lru::kEntry,
    Linoss::kEntry,
    DLinoss::kEntry,
    RgLru::kEntry,
    Slstm::kEntry,
    Mlstm::kEntry,
    GatedDeltanet::kEntry,
    Hgrn2::kEntry,
    Cfc::kEntry,
    Ltc::kEntry,
    Mamba::kEntry,
    EchoState::kEntry,
    Lif::kEntry,
    Dilated::kEntry,
};

/// Layers that see one step at a time, {"layer": NAME, ...}.
inline constexpr LayerRow kPerStepLayers[] = {
    Linear::kEntry,
    Dropout::kEntry,
    LayerNorm::kEntry,
};

/// Layers that see whole sequences, {"layer": NAME, ...}.
inline constexpr LayerRow kSequenceLayers[] = {
    Embedding::kEntry,
    BatchNorm::kEntry,
    Bidirectional::kEntry,
};

}  // namespace lagtape
