#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace lagtape::bench {

struct LstmSizes {
  std::int64_t steps, batch, input, units;
};

/// The inputs and weights of an LSTM layer. Gates are in the order i, f, c, o.
struct LstmValues {
  std::vector<float> x;        ///< [T, B, input]
  std::vector<float> w_input;  ///< [input, 4, units]
  std::vector<float> w_state;  ///< [units, 4, units]
  std::vector<float> bias;     ///< [4, units]
  std::vector<float> grad_h;   ///< dL/dh [T, B, units]
};
/// The results of a forward and backward run.
struct LstmResults {
  std::vector<float> h;                                      ///< [T, B, units]
  std::vector<float> grad_x;                                 ///< shape of x
  std::vector<float> grad_w_input, grad_w_state, grad_bias;  ///< shapes of w_input, w_state, bias
};

/// Random numbers with the magnitudes of a freshly initialized LSTM.
LstmValues random_values(const LstmSizes& sizes);

enum class LstmPrecision {
  f32,
  bf16,  ///< inputs, weights and h in bf16; bias, c, sums and all gradients in f32
};

/// Whether oneDNN can use an instruction for bf16 products here. Otherwise its LSTM is not measured in bf16.
bool onednn_has_bf16();

/// The version of oneDNN in use, such as "2.6.3"; empty in a program built without it, which measures neither
/// OnednnLstm nor Sgemm.
std::string onednn_version();

/// The speed reference: oneDNN's LSTM primitive with zero initial states, forward in training mode and
/// backward. Primitives and memory objects are created once, weights use the primitives' preferred layouts, and
/// the workspace is kept. Compiles with oneDNN 2 and 3. Not thread-safe.
class OnednnLstm {
 public:
  OnednnLstm(const LstmSizes& sizes, const LstmValues& values, LstmPrecision precision = LstmPrecision::f32);
  ~OnednnLstm();

  /// Makes the primitives for a number of threads, unless they exist.
  void prepare(int threads);
  /// Runs forward and backward once.
  void run(int threads);
  LstmResults results() const;  ///< results of the last run

 private:
  struct Implementation;
  std::unique_ptr<Implementation> implementation_;
};

/// The same computation as plain f64 loops, against which the primitive is checked.
LstmResults plain_lstm(const LstmSizes& sizes, const LstmValues& values);

/// Throws Error unless the primitive's results agree with the plain loops on a few steps of a few rows. In bf16
/// the loops get inputs and weights rounded to it, and the tolerance allows for its rounding of h.
void check_onednn_lstm(const LstmSizes& sizes, int threads, LstmPrecision precision = LstmPrecision::f32);

}  // namespace lagtape::bench
