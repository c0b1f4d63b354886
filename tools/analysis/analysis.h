#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "lagtape/cells/models/model.h"
#include "lagtape/data/dataset.h"
#include "lagtape/tools/analysis/distribution.h"

namespace lagtape {

struct AnalysisOptions {
  std::int64_t sequences = 8;     ///< the first so many of the split
  std::int64_t steps = 1000;      ///< at most, the last of each sequence; those before are only run through
  std::int64_t projections = 32;  ///< random ones of a state Jacobian; one of at most so many rows is exact
  std::int64_t bins = 50;         ///< of a histogram
  std::vector<std::string> values = {};  ///< names of values to collect; empty: every value that has a name
  std::uint64_t seed = 0;                ///< of the random projections
};

/// A number for each lag l = 0, 1, ...: the mean, the smallest and the largest over the sequences that have a
/// step T - l, T their own length. Lag 0 is after the last step.
struct LagCurve {
  std::vector<double> mean, min, max;

  void add(std::int64_t lag, double value);
  void finish();
  /// The largest lag whose mean is at least `share` of the largest mean; -1 when there is none.
  std::int64_t reach(double share = 0.01) const;

 private:
  std::vector<std::int64_t> count_;
};

/// One state of a layer.
struct StateAnalysis {
  std::string name;
  std::int64_t width = 0;
  LagCurve norm;                ///< of the state, 2-norm
  LagCurve gradient;            ///< |dL/dh_k|, k = T - lag; L is the loss of the one sequence
  LagCurve last_step_gradient;  ///< the same of the loss of the last step; empty where that is all of L
};

/// A named value of a layer's step (StepProgram::named), over units, steps and sequences.
struct ValueAnalysis {
  std::string name;
  std::int64_t units = 0;
  bool fixed = false;  ///< made of weights alone: one number a unit
  Distribution distribution;
  std::vector<double> unit_means;
};

/// A layer with states. Its state Jacobian dX_T / dX_{T-lag} is the total derivative of all its states after
/// the last step by all those after an earlier one, through every path of the layer, delays included.
struct LayerAnalysis {
  std::int64_t index = 0;  ///< in the model
  std::string name;
  std::int64_t width = 0;  ///< of all states together
  std::vector<StateAnalysis> states;
  bool exact = false;            ///< else the Frobenius norm is an estimate by random projections
  std::int64_t projections = 0;  ///< rows that were followed back: `width` when exact
  LagCurve frobenius;            ///< norm of the state Jacobian
  LagCurve spectral;             ///< the same; empty unless exact
  std::vector<ValueAnalysis> values;
};

struct Analysis {
  std::vector<std::int64_t> lengths;  ///< of the sequences
  std::int64_t steps = 0;             ///< lags that there are
  std::vector<LayerAnalysis> layers;
};

/// Looks into a model on the first sequences of a split: how far back gradients reach, how large states are,
/// and how the values that its cells name are distributed. In f64 whatever the model's precision, without
/// dropout and noise, states off the grid; each sequence is a batch of its own.
///
/// The Frobenius norm of a state Jacobian J wider than `projections` is estimated as the root of the mean of
/// |v J|^2 over so many random v of +1 and -1, drawn from the seed.
///
/// Throws InputError for a split without sequences, a name that no layer has, and more than half of the
/// machine's memory.
Analysis analyze(const Model& model, const Dataset& split, const Normalization& normalization,
                 ThreadPool& pool, const AnalysisOptions& options = {});

}  // namespace lagtape
