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
  /// Steps for each step of training, 0.5 to 8: 96.0 / 48.0 for sound of 96 kHz and a model of 48 kHz
  /// (step_at_rate).
  double rate = 1;
  Interpolation interpolation = Interpolation::cubic;  ///< interpolation of states between two steps
  /// bf16: a model of f32 streams as one of precision bf16 does, with weights and states rounded on their way
  /// into the layers' products. Half of the memory is read, the bottleneck of layers of 64 units and more.
  /// int8: a quarter is read; products from 64 numbers to 64 and more are quantized (ops/kernels/int8.h).
  /// scalar: a model of precision bf16 streams as one of f32, without its rounding. None: as the model predicts.
  std::optional<ProductFormat> weights = {};
  /// For int8: sequences [T, input] or [B, T, input] like those to come, in the units of the data. They run once, and
  /// the largest magnitudes of the products' operands become these operands' ranges.
  Tensor calibration = {};
  const Normalization* normalization = nullptr;  ///< instead of the model's; null: that
};

/// The format of that name: own (none), f32, bf16 or int8. Throws InputError with the nearest.
std::optional<ProductFormat> stream_weights_named(const std::string& name);

/// A short description of a layer of a model, or of its read-out.
struct LayerSummary {
  std::string name;         ///< "tau_gru"
  std::int64_t params = 0;  ///< numbers that are trained
  /// The programs of its steps: none for a table, two for a layer that runs in both directions.
  std::vector<StepProgram> steps;

  std::int64_t product_flops() const;  ///< operations of the matrix products, for a row and step
  std::int64_t largest_lag() const;
};

struct ChainDefinition;
struct FittedModel;
struct Provenance;

/// A model: its definition, fitted to the widths of its data, and its parameters. Immutable once loaded, and
/// then safe to share between threads.
class Model {
 public:
  /// The model of a definition, its parameters drawn from the seed. Throws InputError, one line an error with
  /// its JSON Pointer, where the definition contradicts itself or the data.
  Model(const ModelDefinition& definition, const DataWidths& data, std::uint64_t seed = 0);
  /// The same for a definition that was fitted before. `provenance` is an experiment with that definition, which the
  /// model's file then contains; null: the definition alone.
  Model(FittedModel fitted, std::uint64_t seed, std::shared_ptr<const Provenance> provenance = {});

  /// The same with zeros for parameters, for uses that depend on shapes alone: they cost nothing until they are drawn.
  static Model undrawn(FittedModel fitted, std::shared_ptr<const Provenance> provenance = {});
  /// Draws the parameters from the seed.
  void draw(std::uint64_t seed);

  /// Loads a model from a weights file (the experiment is in its metadata) or a run folder that contains one.
  /// Throws InputError naming the file and the tensor that does not fit.
  static Model load(const std::filesystem::path& run_or_file);
  /// Reads a model from the bytes of a weights file. `where` names the file in messages.
  static Model parse(std::string_view bytes, const std::string& where);
  static Model load(std::span<const std::byte> bytes, const std::string& where = "the bytes of a model");
  /// Reads a model from a stream that ends with the weights file. Throws InputError also where it cannot be read.
  static Model load(std::istream& stream, const std::string& where = "the stream of a model");

  Model(Model&&) noexcept;
  Model& operator=(Model&&) noexcept;
  ~Model();

  /// Writes parameters, experiment and normalization into one file, atomically. Paths in the experiment begin at the
  /// file's folder there. A model of `load` keeps them as they were; one of load_run or load_model
  /// (tools/train/source.h) does not.
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
  std::int64_t tokens() const;       ///< inputs are numbers 0 .. tokens - 1; 0: no tokens
  std::int64_t output_width() const;
  std::int64_t classes() const;  ///< 0 unless a classifier
  /// The JSON text of the experiment, with every default filled in. A model made in C++ has its definition
  /// there: "model", "loss", and the precision in "train". Paths are those of the file that it was loaded from.
  std::string experiment() const;
  /// The same as a value, which tools/train opens.
  const Provenance& provenance() const;
  void set_provenance(std::shared_ptr<const Provenance> provenance);
  Normalization& normalization();
  const Normalization& normalization() const;
  /// The normalization of each series of the training, by its name; empty: all have `normalization()`. A model with
  /// several needs the choice of one to predict or stream.
  SeriesNormalizations& series();
  const SeriesNormalizations& series() const;
  /// Makes it a model of one of these series. Throws InputError with the nearest name.
  void use_series(const std::string& name);
  /// The model's normalization. Throws InputError where there is one for each series; `op` cannot choose.
  const Normalization& only_normalization(const char* op) const;

  /// The states before the first step of every sequence, of one row, as from Stream::window; empty: zeros.
  const Window& start() const;
  /// Sets them; they are kept with the parameters. Throws InputError unless there is a tensor [history + 1, 1, width]
  /// for each state of the layers.
  void set_start(Window start);
  /// Sets them to the states to which the model settles when all its inputs are that number, in the units of the data.
  /// Throws InputError for a model that cannot stream, and for one that does not settle.
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

  /// Outputs for x [T, input] or [B, T, input]: [T, q], [B, T, q], or [q], [B, q] when the read-out reads
  /// once. In the model's precision. Normalization is applied to x and undone on the result. The first call prepares
  /// the model's operations for later calls; concurrent calls have their own.
  Tensor predict(const Tensor& x, int threads = 1) const;
  /// The same for sequences of different lengths, padded to one: the first lengths[b] steps of x [B, T, input]
  /// are row b's own, lengths in 1 .. T; none: all T. Steps beyond them are not read, and their outputs are
  /// zeros; a read-out at the batch's last step reads padding. Throws InputError for other lengths.
  Tensor predict(const Tensor& x, std::span<const std::int64_t> lengths, int threads = 1) const;
  /// The same with a normalization in place of the model's.
  Tensor predict(const Tensor& x, const Normalization& normalization, int threads = 1) const;

  /// A stream over this model's weights (a copy of them), with the numbers of `predict`, bit for bit. Throws InputError
  /// for a model that needs whole sequences.
  template <class T>
  Stream<T> stream(std::int64_t rows = 1) const;
  /// The same with other options. Throws InputError for a rate that the model cannot run at, or at which it is
  /// not stable (cells/models/model_rate.h).
  template <class T>
  Stream<T> stream(const StreamOptions& options) const;

  /// A learner over a copy of this model's weights, whose steps predict and then learn from the target (learner.h). Throws
  /// InputError for a model of several sequence ops, and where the method does not fit the layers.
  template <class T>
  Learner<T> learner(const LearnerOptions& options) const;
  /// Copies the present weights of a learner of this model.
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
