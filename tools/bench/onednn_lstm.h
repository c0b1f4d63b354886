#pragma once

#include <cstdint>
#include <memory>
#include <vector>

namespace lagtape::bench {

struct LstmSizes {
  std::int64_t steps, batch, input, units;
};

/// Values of an LSTM layer and, after a run, its results. Gates in the order i, f, c, o.
struct LstmValues {
  std::vector<float> x;        ///< [T, B, input]
  std::vector<float> w_input;  ///< [input, 4, units]
  std::vector<float> w_state;  ///< [units, 4, units]
  std::vector<float> bias;     ///< [4, units]
  std::vector<float> grad_h;   ///< dL/dh [T, B, units]
};
struct LstmResults {
  std::vector<float> h;                                      ///< [T, B, units]
  std::vector<float> grad_x;                                 ///< as x
  std::vector<float> grad_w_input, grad_w_state, grad_bias;  ///< as w_input, w_state, bias
};

/// Numbers of the size that a fresh LSTM sees.
LstmValues random_values(const LstmSizes& sizes);

/// The peer: oneDNN's LSTM primitive, training forward and backward, zero initial states, f32. Primitives and
/// memories are made once; weights are in the layouts that the primitives ask for; the workspace is kept. Not
/// thread-safe.
class OnednnLstm {
 public:
  OnednnLstm(const LstmSizes& sizes, const LstmValues& values);
  ~OnednnLstm();

  /// Makes the primitives for that many threads, unless they are there.
  void prepare(int threads);
  /// Forward and backward once, with that many threads.
  void run(int threads);
  LstmResults results() const;  ///< Of the last run.

 private:
  struct Implementation;
  std::unique_ptr<Implementation> implementation_;
};

/// The same as plain loops in f64: the oracle that the peer is checked against.
LstmResults plain_lstm(const LstmSizes& sizes, const LstmValues& values);

/// Throws Error unless the primitive's results agree with the plain loops on a few steps of a few rows.
void check_onednn_lstm(const LstmSizes& sizes, int threads);

}  // namespace lagtape::bench
