#pragma once

// Everything in lagtape that a program needs: #include <lagtape/lagtape.h>. CMake puts this file there, and
// installs only it and the headers that it includes, directly or indirectly.

#if __cplusplus < 202002L
#error "lagtape/lagtape.h needs C++20 (-std=c++20); lagtape/c_api.h serves C99 and C++11 and later"
#else

// ---- Tensors, the tape, number files ----
#include "lagtape/core/error.h"
#include "lagtape/core/gradient_check.h"
#include "lagtape/core/io/npy.h"
#include "lagtape/core/io/safetensors.h"
#include "lagtape/core/normalization.h"
#include "lagtape/core/parameter.h"
#include "lagtape/core/random.h"
#include "lagtape/core/ranks.h"
#include "lagtape/core/tape.h"
#include "lagtape/core/tensor.h"
#include "lagtape/core/thread_pool.h"
#include "lagtape/data/table/csv.h"

// ---- Differentiable tape operations ----
#include "lagtape/ops/batch_norm.h"
#include "lagtape/ops/dropout.h"
#include "lagtape/ops/elementwise.h"
#include "lagtape/ops/embedding.h"
#include "lagtape/ops/loss.h"
#include "lagtape/ops/matmul.h"
#include "lagtape/ops/matrices.h"
#include "lagtape/ops/matrix_exponential.h"
#include "lagtape/ops/reduce.h"
#include "lagtape/ops/reverse_time.h"
#include "lagtape/ops/shape.h"

// ---- Recurrences: your own step, as a tape operation and as a stream ----
#include "lagtape/ops/recurrence/sequence.h"
#include "lagtape/ops/recurrence/step/step_tape.h"
#include "lagtape/ops/recurrence/stream/stream.h"

// ---- Cells and layers ----
#include "lagtape/cells/build/recorder.h"
#include "lagtape/cells/cells.h"

// ---- Models ----
#include "lagtape/cells/models/delay_equations.h"
#include "lagtape/cells/models/model.h"
#include "lagtape/cells/models/model_op.h"
#include "lagtape/tools/exchange/export/c99/c_source.h"
#include "lagtape/tools/exchange/export/onnx/onnx_model.h"
#include "lagtape/tools/exchange/export/plain/blob_file.h"
#include "lagtape/tools/exchange/export/plain/keras_file.h"
#include "lagtape/tools/exchange/export/plain/nam_file.h"
#include "lagtape/tools/exchange/export/plain/torch_file.h"
#include "lagtape/tools/exchange/import/import_model.h"

// ---- Optimizers and schedules ----
#include "lagtape/optim/adam.h"
#include "lagtape/optim/clip.h"
#include "lagtape/optim/onednn_product.h"
#include "lagtape/optim/rmsprop.h"
#include "lagtape/optim/schedule.h"
#include "lagtape/optim/sgd.h"
#include "lagtape/optim/weight_average.h"

// ---- Data ----
#include "lagtape/data/batches.h"
#include "lagtape/data/splits.h"
#include "lagtape/data/stored_sequences.h"

// ---- Training as in the tool, and analysis of trained models ----
#include "lagtape/tools/analysis/analysis.h"
#include "lagtape/tools/forecast/closed_loop.h"
#include "lagtape/tools/forecast/horizon_scores.h"
#include "lagtape/tools/forecast/series_forecast.h"
#include "lagtape/tools/forecast/series_prediction.h"
#include "lagtape/tools/train/score/metrics.h"
#include "lagtape/tools/train/streaming.h"
#include "lagtape/tools/train/training_run.h"
#include "lagtape/tools/version.h"

#endif
