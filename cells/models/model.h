#pragma once

#include <cstddef>
#include <filesystem>
#include <iosfwd>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "lagtape/cells/models/model_definition.h"
#include "lagtape/core/normalization.h"
#include "lagtape/core/parameter.h"
#include "lagtape/ops/recurrence/learn/learner.h"
#include "lagtape/ops/recurrence/step/step_rate.h"
#include "lagtape/ops/recurrence/stream/stream.h"

namespace lagtape {

/// The options of a model's stream.
struct StreamOptions {
  std::int64_t rows = 1;
  /// Steps for each training step, 0.5 to 8: 96.0 / 48.0 for sound at 96 kHz and a model trained at 48 kHz
  /// (step_at_rate).
  double rate = 1;
  Interpolation interpolation = Interpolation::cubic;  ///< interpolation of states between two steps
  /// bf16: an f32 model streams like one of precision bf16, with weights and states rounded before the layers'
  /// products. Half the memory is read, which is the bottleneck for layers of 64 units and more. int8: a
  /// quarter is read; products from at least 64 numbers to at least 64 are quantized (ops/kernels/int8.h).
  /// scalar: a bf16 model streams like an f32 model, without rounding. None: as the model predicts.
  std::optional<ProductFormat> weights = {};
  /// For int8: representative sequences [T, input] or [B, T, input], in the units of the data. They are run
  /// once, and the largest magnitudes of the products' operands become these operands' ranges.
  Tensor calibration = {};
  const Normalization* normalization = nullptr;  ///< used instead of the model's; null: the model's
};

/// The format with that name: own (none), f32, bf16 or int8. Throws InputError with the nearest.
std::optional<ProductFormat> stream_weights_named(const std::string& name);

/// A short description of a layer in a model, or of its read-out.
struct LayerSummary {
  std::string name;         ///< "tau_gru"
  std::int64_t params = 0;  ///< count of trained numbers
  /// The programs of its steps: none for a table, two for a bidirectional layer.
  std::vector<StepProgram> steps;

  std::int64_t product_flops() const;  ///< floating-point operations in matrix products, per row and step
  std::int64_t largest_lag() const;
};

struct ChainDefinition;
struct FittedModel;
struct Provenance;

/// A model: its definition, fitted to the widths of its data, and its parameters. Immutable once loaded, and
/// then safe to share between threads.
class Model {
 public:
  /// The model of a definition, its parameters drawn from the seed. Throws InputError, one line per error with
  /// its JSON Pointer, if the definition contradicts itself or the data.
  Model(const ModelDefinition& definition, const DataWidths& data, std::uint64_t seed = 0);
  /// The same for a definition that was already fitted. `provenance` is an experiment with that definition, to
  /// be stored in the model's file; null: only the definition.
  Model(FittedModel fitted, std::uint64_t seed, std::shared_ptr<const Provenance> provenance = {});

  /// The same with all parameters zero, for uses that depend only on shapes: they cost nothing until they are
  /// drawn.
  static Model undrawn(FittedModel fitted, std::shared_ptr<const Provenance> provenance = {});
  /// Draws the parameters from the seed.
  void draw(std::uint64_t seed);

  /// Loads a model from a weights file (the experiment is in its metadata) or a run folder that contains one.
  /// Throws InputError with the file and the tensor that does not fit.
  static Model load(const std::filesystem::path& run_or_file);
  /// Reads a model from the bytes of a weights file. `where` names the file in messages.
  static Model parse(std::string_view bytes, const std::string& where);
  static Model load(std::span<const std::byte> bytes, const std::string& where = "the bytes of a model");
  /// Reads a model from a stream that ends with the weights file. Throws InputError, including if it cannot be
  /// read.
  static Model load(std::istream& stream, const std::string& where = "the stream of a model");

  Model(Model&&) noexcept;
  Model& operator=(Model&&) noexcept;
  ~Model();

  /// Writes parameters, experiment and normalization to one file, atomically, with the experiment's paths
  /// relative to the file's folder. A model from `load` keeps them as they were; one from load_run or
  /// load_model (tools/train/source.h) does not.
  void save(const std::filesystem::path& file) const;

  Parameters& parameters();
  const Parameters& parameters() const;
  const ModelDefinition& definition() const;  ///< completed by the data
  const FittedModel& fitted() const;
  /// The operations that run it in training, and in evaluation and streams.
  const ChainDefinition& chain() const;
  const ChainDefinition& evaluation_chain() const;
  /// The stack of a model that is one sequence op. Throws InputError for a chain of several operations.
  const StackDefinition& stack() const;
  ReadAt at() const;  ///< where the read-out reads
  const LossFunction& loss() const;
  Dtype dtype() const;
  std::int64_t input_width() const;  ///< 1 for tokens
  std::int64_t tokens() const;       ///< inputs are integers 0 .. tokens - 1; 0: no tokens
  std::int64_t output_width() const;
  std::int64_t classes() const;  ///< 0 unless a classifier
  /// The JSON text of the experiment, with every default filled in. For a model made in C++ it contains its
  /// definition: "model", "loss", and the precision in "train". Paths are as in the file from which it was
  /// loaded.
  std::string experiment() const;
  /// The same as a value that tools/train can open.
  const Provenance& provenance() const;
  void set_provenance(std::shared_ptr<const Provenance> provenance);
  Normalization& normalization();
  const Normalization& normalization() const;
  /// The normalization of each training series, by name; empty: all use `normalization()`. If a model has
  /// several, one must be selected before it can predict or stream.
  SeriesNormalizations& series();
  const SeriesNormalizations& series() const;
  /// Selects one of these series. Throws InputError with the nearest name.
  void use_series(const std::string& name);
  /// The model's normalization. Throws InputError if there is one for each series; `op` cannot choose.
  const Normalization& only_normalization(const char* op) const;

  /// The initial states of every sequence, for one row, like Stream::window; empty: zeros.
  const Window& start() const;
  /// Sets them; they are saved with the parameters. Throws InputError unless there is a tensor [history + 1, 1,
  /// width] for each state of the layers.
  void set_start(Window start);
  /// Sets them to the states to which the model settles if all its inputs are that number, in the units of the
  /// data. Throws InputError for a model that cannot stream or does not settle.
  void settle(double input);

  /// The layers from the input up, the read-out last.
  std::vector<LayerSummary> layers() const;
  std::vector<std::string> layer_names() const;

  /// The weights of `chain`, recorded on a tape as functions of the parameters, or as constants without
  /// gradients.
  std::vector<Var> weights(Tape& tape);
  std::vector<Var> constant_weights(Tape& tape) const;
  /// The weights of `evaluation_chain`.
  std::vector<Tensor> weights() const;

  /// Outputs for x [T, input] or [B, T, input]: [T, q], [B, T, q], or [q], [B, q] if the read-out reads once.
  /// In the model's precision. Normalization is applied to x and undone on the result. The first call prepares
  /// the model's operations for later calls; concurrent calls use separate ones.
  Tensor predict(const Tensor& x, int threads = 1) const;
  /// The same for sequences of different lengths, padded to a common length: row b consists of the first
  /// lengths[b] steps of x [B, T, input], with lengths in 1 .. T; none: all T. Steps beyond them are not read,
  /// and their outputs are zeros; a read-out at the batch's last step does read padding. Throws InputError for
  /// other lengths.
  Tensor predict(const Tensor& x, std::span<const std::int64_t> lengths, int threads = 1) const;
  /// The same with a normalization that replaces the model's.
  Tensor predict(const Tensor& x, const Normalization& normalization, int threads = 1) const;

  /// A stream over a copy of this model's weights, with bit for bit the numbers of `predict`. Throws InputError
  /// for a model that needs whole sequences.
  template <class T>
  Stream<T> stream(std::int64_t rows = 1) const;
  /// The same with other options. Throws InputError for a rate at which the model cannot run or is not stable
  /// (cells/models/model_rate.h).
  template <class T>
  Stream<T> stream(const StreamOptions& options) const;

  /// A learner over a copy of this model's weights, whose steps predict and then learn from the target
  /// (learner.h). Throws InputError for a model with several sequence ops, or if the method does not support
  /// the layers.
  template <class T>
  Learner<T> learner(const LearnerOptions& options) const;
  /// Copies the current weights of a learner of this model.
  template <class T>
  void take(const Learner<T>& learner);

 private:
  friend class ModelFile;
  Tensor predicted(const Tensor& x, std::span<const std::int64_t> lengths, const Normalization& normalization,
                   int threads) const;
  struct Implementation;
  explicit Model(std::unique_ptr<Implementation> implementation);
  std::unique_ptr<Implementation> implementation_;
};

}  // namespace lagtape
