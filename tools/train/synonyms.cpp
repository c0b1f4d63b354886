#include "lagtape/tools/train/synonyms.h"

namespace lagtape {

namespace {

constexpr const char kLayers[] = "Several layers are several entries of /model/layers.";
constexpr const char kBidirectional[] =
    R"(A layer around a cell reads both ways: {"layer": "bidirectional", "cell": {"cell": "lstm", "units": 64}}.)";
constexpr const char kAbsolute[] = R"(This loss, and this metric, are "mae".)";
constexpr const char kGaussianLoss[] = R"(This loss is "gaussian".)";
constexpr const char kStudentLoss[] = R"(This loss is "student_t".)";
constexpr const char kCountLoss[] = R"(This loss is "negative_binomial".)";
constexpr const char kPinballLoss[] = R"(This loss is "quantile", with "levels".)";
constexpr const char kLikelihood[] =
    R"(A likelihood is the loss "gaussian", "student_t" or, of counts, "negative_binomial"; "nll" is among /metrics.)";
constexpr const char kPoisson[] =
    R"(Counts have the loss "negative_binomial", which becomes that of Poisson's distribution as its dispersion falls to 0.)";
constexpr const char kDevice[] = "lagtape computes on the CPU: leave it out, and give --threads.";
constexpr const char kInput[] = "The data decide how many inputs a layer has: leave it out.";
constexpr const char kBatchFirst[] = "Arrays are [sequences, steps, inputs]: leave it out.";
constexpr const char kBias[] =
    "The cells have the biases of their equations: leave it out, or write the cell in /cells.";
constexpr const char kActivation[] =
    "Built-in cells have the functions of their equations; write others in /cells.";
constexpr const char kOutput[] =
    "The tool prints progress and keeps the best weights: leave it out, or give --quiet.";
constexpr const char kPerEpoch[] =
    "An epoch is all training sequences once; /train/steps counts updates instead.";
constexpr const char kHuber[] = R"(This loss is "huber".)";

constexpr Synonym kSynonyms[] = {
    // the optimizer and its schedule
    {"learning_rate", "/optimizer/lr"},
    {"learningRate", "/optimizer/lr"},
    {"base_learning_rate", "/optimizer/lr"},
    {"beta_1", "/optimizer/beta1"},
    {"beta_2", "/optimizer/beta2"},
    {"betas", "/optimizer/beta1", "The other one is beta2."},
    {"l2", "/optimizer/weight_decay"},
    {"optim", "/optimizer"},
    {"lr_scheduler", "/schedule"},
    {"scheduler", "/schedule"},
    {"learning_rate_scheduler", "/schedule"},
    {"warmup_steps", "/schedule/warmup"},
    {"min_lr", "/schedule/floor", "It is a share of /optimizer/lr."},
    {"cosine_annealing", "/schedule/type", "Its value is cosine."},
    {"reduce_on_plateau", "/schedule/type", "Its value is plateau."},
    {"ReduceLROnPlateau", "", R"(This schedule is "plateau".)"},
    {"StepLR", "", R"(This schedule is "step".)"},
    {"CosineAnnealingLR", "", R"(This schedule is "cosine".)"},
    // training
    {"n_epochs", "/train/epochs"},
    {"num_epochs", "/train/epochs"},
    {"max_epochs", "/train/epochs"},
    {"train_steps", "/train/steps"},
    {"batch_size", "/train/batch"},
    {"mini_batch_size", "/train/batch"},
    {"early_stopping", "/train/patience"},
    {"early_stop", "/train/patience"},
    {"early_stopping_patience", "/train/patience"},
    {"gradient_clipping", "/train/clip"},
    {"gradient_clip_val", "/train/clip"},
    {"max_grad_norm", "/train/clip"},
    {"clipnorm", "/train/clip"},
    {"grad_clip", "/train/clip"},
    {"gradient_accumulation_steps", "/train/accumulate"},
    {"accumulate_grad_batches", "/train/accumulate"},
    {"bptt", "/train/truncate"},
    {"save_best_only", "/train/keep"},
    {"pretrained", "/train/init"},
    {"dtype", "/train/precision"},
    {"checkpointing", "/train/memory"},
    {"random_state", "/seed"},
    {"random_seed", "/seed"},
    {"device", "", kDevice},
    {"accelerator", "", kDevice},
    {"num_workers", "", kDevice},
    {"gpus", "", kDevice},
    {"verbose", "", kOutput},
    {"callbacks", "", kOutput},
    {"steps_per_epoch", "", kPerEpoch},
    {"max_steps", "/train/steps"},
    {"loss_fn", "/loss"},
    {"criterion", "/loss"},
    // layers
    {"hidden_size", "/model/layers/*/units"},
    {"hidden_dim", "/model/layers/*/units"},
    {"hidden", "/model/layers/*/units"},
    {"num_units", "/model/layers/*/units"},
    {"state_size", "/model/layers/*/units"},
    {"n_units", "/model/layers/*/units"},
    {"encoder_hidden_size", "/model/layers/*/units"},
    {"input_size", "", kInput},
    {"input_shape", "", kInput},
    {"batch_first", "", kBatchFirst},
    {"bias", "", kBias},
    {"use_bias", "", kBias},
    {"nonlinearity", "", kActivation},
    {"recurrent_dropout", "/model/layers/*/dropout"},
    {"dropout_rate", "/model/layers/*/dropout"},
    {"embedding_size", "/model/layers/0/units", "This is the layer embedding."},
    {"num_embeddings", "/model/layers/0/vocabulary", "This is the layer embedding."},
    {"vocab_size", "/model/layers/0/vocabulary", "This is the layer embedding."},
    {"num_layers", "", kLayers},
    {"n_layers", "", kLayers},
    {"n_rnn_layers", "", kLayers},
    {"bidirectional", "", kBidirectional},
    {"kernel_initializer", "/model/layers/*/init"},
    {"output_size", "/model/readout/units"},
    {"return_sequences", "/model/readout/at"},
    {"dense", "", R"(This layer is {"layer": "linear", "units": 4}.)"},
    {"LSTM", "", R"(Names are in small letters: "lstm".)"},
    {"GRU", "", R"(Names are in small letters: "gru".)"},
    {"RNN", "", R"(Names are in small letters: "rnn".)"},
    // the loss and what is scored
    {"l1", "", kAbsolute},
    {"L1Loss", "", kAbsolute},
    {"mean_absolute_error", "", kAbsolute},
    {"nll", "", kLikelihood},
    {"likelihood", "", kLikelihood},
    {"normal", "", kGaussianLoss},
    {"GaussianNLLLoss", "", kGaussianLoss},
    {"GaussianLikelihood", "", kGaussianLoss},
    {"NormalOutput", "", kGaussianLoss},
    {"StudentT", "", kStudentLoss},
    {"StudentTOutput", "", kStudentLoss},
    {"NegativeBinomial", "", kCountLoss},
    {"NegativeBinomialOutput", "", kCountLoss},
    {"NegativeBinomialLikelihood", "", kCountLoss},
    {"poisson", "", kPoisson},
    {"PoissonNLLLoss", "", kPoisson},
    {"PoissonLikelihood", "", kPoisson},
    {"pinball", "", kPinballLoss},
    {"QuantileLoss", "", kPinballLoss},
    {"QuantileRegression", "", kPinballLoss},
    {"root_mean_squared_error", "", R"(This metric is "rmse".)"},
    {"MSELoss", "", R"(This loss is "mse".)"},
    {"mean_squared_error", "", R"(This loss is "mse".)"},
    {"smooth_l1", "", kHuber},
    {"SmoothL1Loss", "", kHuber},
    {"HuberLoss", "", kHuber},
    {"CrossEntropyLoss", "", R"(This loss is "cross_entropy".)"},
    {"categorical_crossentropy", "", R"(This loss is "cross_entropy".)"},
    {"sparse_categorical_crossentropy", "", R"(This loss is "cross_entropy".)"},
    {"binary_crossentropy", "", R"(This loss is "binary_cross_entropy".)"},
    {"BCEWithLogitsLoss", "", R"(This loss is "binary_cross_entropy".)"},
    {"quantiles", "/loss/levels", "Losses with levels are quantile and the distributions."},
    {"class_weight", "/loss/class_weights"},
    // the data
    {"input_chunk_length", "/data/window"},
    {"sequence_length", "/data/window"},
    {"lookback", "/data/window"},
    {"output_chunk_length", "/data/horizon"},
    {"prediction_length", "/data/horizon"},
    {"forecast_horizon", "/data/horizon"},
    {"h", "/data/horizon"},
    {"freq", "/data/frequency"},
    {"futr_exog_list", "/data/future"},
    {"hist_exog_list", "/data/past"},
    {"stat_exog_list", "/data/static"},
    {"future_covariates", "/data/future"},
    {"past_covariates", "/data/past"},
    {"static_covariates", "/data/static"},
    {"exog", "/data/past"},
    {"time_col", "/data/time"},
    {"target_column", "/data/target"},
    {"dataset", "/data"},
    {"validation_split", "/data/valid"},
    {"shuffle", "", "Training sequences are always drawn in a new order: leave it out."},
};

}  // namespace

std::span<const Synonym> synonyms() { return kSynonyms; }

}  // namespace lagtape
