#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "lagtape/cells/models/model.h"
#include "lagtape/data/dataset.h"
#include "lagtape/tools/analysis/distribution.h"
#include "lagtape/tools/analysis/layer_bounds.h"

namespace lagtape {

struct AnalysisOptions {
  std::int64_t sequences = 8;  ///< number of sequences, from the start of the split
  std::int64_t steps = 1000;   ///< at most; the last steps of each sequence, earlier ones only run forward
  std::int64_t projections =
      32;                  ///< random projections of a state Jacobian, which is exact up to this many rows
  std::int64_t bins = 50;  ///< bins of a histogram
  std::vector<std::string> values = {};  ///< names of the values to collect; empty: all named values
  std::uint64_t seed = 0;                ///< seed of the random projections
  /// also compute the papers' bounds; every row of the state Jacobians is then followed
  bool bounds = false;
};

/// A curve over the lags l = 0, 1, ...: the mean, the smallest and the largest value over the sequences that
/// have a step T - l, where T is their own length. Lag 0 is after the last step.
struct LagCurve {
  std::vector<double> mean, min, max;

  void add(std::int64_t lag, double value);
  void finish();
  /// The largest lag whose mean is at least `share` of the largest mean; -1 if there is none.
  std::int64_t reach(double share = 0.01) const;

 private:
  std::vector<std::int64_t> count_;
};

/// One state of a layer.
struct StateAnalysis {
  std::string name;
  std::int64_t width = 0;
  LagCurve norm;                ///< 2-norm of the state
  LagCurve largest;             ///< its largest entry
  LagCurve gradient;            ///< |dL/dh_k|, k = T - lag; L is the loss of the sequence
  LagCurve last_step_gradient;  ///< the same for the loss of the last step; empty if that is L
};

/// A named value of a layer's step (StepProgram::named), collected over units, steps and sequences.
struct ValueAnalysis {
  std::string name;
  std::int64_t units = 0;
  bool fixed = false;  ///< computed only from weights: one number for each unit
  Distribution distribution;
  std::vector<double> unit_means;
};

/// A layer with states. Its state Jacobian dX_T / dX_{T-lag} is the total derivative of all states after the
/// last step with respect to all states after an earlier one, through every path of the layer, delays
/// included.
struct LayerAnalysis {
  std::int64_t index = 0;  ///< index in the model
  std::string name;
  std::int64_t width = 0;  ///< total width of the states
  std::vector<StateAnalysis> states;
  bool exact = false;                      ///< false: random projections estimate the Frobenius norm
  std::int64_t projections = 0;            ///< number of rows propagated backward: `width` if exact
  LagCurve frobenius;                      ///< Frobenius norm of the state Jacobian
  LagCurve spectral;                       ///< spectral norm of the state Jacobian; empty unless exact
  LagCurve row_sum;                        ///< its largest row sum of absolute values; empty unless exact
  std::optional<LayerBounds> bounds = {};  ///< only on request
  std::vector<ValueAnalysis> values;
};

struct Analysis {
  std::vector<std::int64_t> lengths;  ///< lengths of the sequences
  std::int64_t steps = 0;             ///< number of lags
  std::vector<LayerAnalysis> layers;
};

/// Analyzes a model on the first sequences of a split: how far back gradients reach, how large states are, and
/// the distributions of the values that its cells name. It computes in f64 whatever the model's precision,
/// without dropout, noise or state rounding; each sequence is a separate batch.
///
/// The Frobenius norm of a state Jacobian J wider than `projections` is estimated as the root of the mean of
/// |v J|^2 over that many random vectors v of +1 and -1, drawn from the seed.
///
/// Throws InputError for a split without sequences, for a name that no layer has, and if it would need more
/// than half of the machine's memory.
Analysis analyze(const Model& model, const Dataset& split, const Normalization& normalization,
                 ThreadPool& pool, const AnalysisOptions& options = {});

}  // namespace lagtape
