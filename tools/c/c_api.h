/* lagtape from C: load a model, predict a batch, and step a stream.
 *
 * A function that fails returns an error status or NULL, and sets the message that lagtape_last_error()
 * returns. No exception escapes the library. A model never changes (except in lagtape_model_settle,
 * lagtape_model_use_series and lagtape_model_take), and several threads can use it at once; only one thread may
 * use a stream at a time. Functions that return neither a status nor a new object require a non-null model or
 * stream.
 * Arrays are dense and row-major. Link with the library lagtape_c (pkg-config lagtape-c). */
#ifndef LAGTAPE_C_API_H
#define LAGTAPE_C_API_H

#include <stddef.h>
#include <stdint.h>

#if defined(__GNUC__)
#define LAGTAPE_API __attribute__((visibility("default")))
#else
#define LAGTAPE_API
#endif

#ifdef __cplusplus
extern "C" {
#endif

typedef struct lagtape_model lagtape_model;
typedef struct lagtape_stream lagtape_stream;
typedef struct lagtape_learner lagtape_learner;

/* The values are the lagtape tool's exit codes. */
typedef enum lagtape_status {
  LAGTAPE_OK = 0,
  LAGTAPE_ERROR = 1,      /* the system or the library failed; out of memory, for instance */
  LAGTAPE_INPUT_ERROR = 2 /* invalid input from the caller: a file, a shape, a null pointer */
} lagtape_status;

/* The precision in which a model was trained and computes. */
typedef enum lagtape_dtype { LAGTAPE_F32 = 0, LAGTAPE_F64 = 1 } lagtape_dtype;

/* How a stream at another rate interpolates states between two steps. */
typedef enum lagtape_interpolation { LAGTAPE_CUBIC = 0, LAGTAPE_LINEAR = 1 } lagtape_interpolation;

/* The weights that a stream uses: the same as predictions; rounded to 16 or 8 bits, which is faster and less
 * exact; or, for a model trained in bf16, not rounded. */
typedef enum lagtape_weights {
  LAGTAPE_OWN = 0,
  LAGTAPE_BF16 = 1,
  LAGTAPE_INT8 = 2,
  LAGTAPE_UNROUNDED = 3
} lagtape_weights;

/* How a stream runs a model. Zeros select defaults: lagtape_stream_options options = {0}; */
typedef struct lagtape_stream_options {
  int64_t rows; /* 0: one */
  double rate;  /* stream steps per training step; 0: one */
  lagtape_interpolation interpolation;
  lagtape_weights weights; /* values other than LAGTAPE_OWN require an f32 model */
  /* For int8: calibration_rows representative sequences [calibration_steps, input_width]; 0 rows: one. They
   * determine the operands' ranges, and are not needed after the stream is created. */
  const float* calibration;
  int64_t calibration_rows, calibration_steps;
} lagtape_stream_options;

/* "0.1.0" */
LAGTAPE_API const char* lagtape_version(void);

/* The message of the last failed call on this thread; empty before the first. It stays valid until the next
 * failure on this thread. */
LAGTAPE_API const char* lagtape_last_error(void);

/* An error in structured form, after a call that returned LAGTAPE_INPUT_ERROR or NULL. Fields that do not
 * apply are "" or 0. Strings stay valid until the next failure on this thread. */
typedef struct lagtape_problem {
  const char* file;
  int64_t line, column;  /* from 1 */
  const char* pointer;   /* the JSON Pointer of a setting */
  const char* item;      /* a named part of the file: "tensor 'readout.W'" */
  const char* op;        /* the function whose argument is wrong, if there is no file */
  const char* rule;      /* the broken rule: "unknown_name", "missing", "out_of_range", "shape", ... */
  const char* statement; /* what is wrong, if the rule and the fields below do not tell */
  const char* found;
  const char* expected;
  const char* hint;    /* what to do */
  const char* nearest; /* the valid name that was probably meant */
} lagtape_problem;

/* The number of problems in the last failed call on this thread; 0 if the input was not the cause. */
LAGTAPE_API size_t lagtape_last_problem_count(void);
/* Fills in one of them. Fails, without changing the last error, if the index is not less than their number. */
LAGTAPE_API lagtape_status lagtape_last_problem(size_t index, lagtape_problem* problem);

/* ---- models ---------------------------------------------------------------------------------------------------- */

/* Loads a run folder or a weights file. Returns NULL on failure. */
LAGTAPE_API lagtape_model* lagtape_model_load(const char* path);

/* Loads a weights file from memory. Messages call it `name`. Returns NULL on failure. */
LAGTAPE_API lagtape_model* lagtape_model_load_memory(const void* bytes, size_t size, const char* name);

/* Makes predictions and streams start in the state to which the model settles when all its inputs are `input`,
 * in the units of the data: 0 is silence, without a pop. Existing streams do not change. Fails, without
 * changing the model, if it cannot stream or does not settle. */
LAGTAPE_API lagtape_status lagtape_model_settle(lagtape_model* model, double input);

/* Selects a training series, by name, for a model that scales each series separately. Predictions and streams
 * of such a model fail until this is called. */
LAGTAPE_API lagtape_status lagtape_model_use_series(lagtape_model* model, const char* name);

/* Frees a model; NULL is allowed. Streams made from it keep working. */
LAGTAPE_API void lagtape_model_free(lagtape_model* model);

LAGTAPE_API lagtape_dtype lagtape_model_dtype(const lagtape_model* model);
/* The number of inputs per step; 1 for tokens. */
LAGTAPE_API int64_t lagtape_model_input_width(const lagtape_model* model);
/* The number of values per output; for a classifier, its logits. */
LAGTAPE_API int64_t lagtape_model_output_width(const lagtape_model* model);
/* The number of classes; 0 unless the model is a classifier. */
LAGTAPE_API int64_t lagtape_model_classes(const lagtape_model* model);
/* The number of tokens, if inputs are 0 .. tokens - 1; 0 if inputs are real numbers. */
LAGTAPE_API int64_t lagtape_model_tokens(const lagtape_model* model);
/* 1 if predictions have an output at every step, 0 if they have one per sequence. */
LAGTAPE_API int lagtape_model_reads_every_step(const lagtape_model* model);
/* The experiment that trained the model, as JSON. Valid for the lifetime of the model. */
LAGTAPE_API const char* lagtape_model_experiment(const lagtape_model* model);

/* The layers from the input up, the read-out last. The name is NULL past the last layer. */
LAGTAPE_API size_t lagtape_model_layer_count(const lagtape_model* model);
LAGTAPE_API const char* lagtape_model_layer_name(const lagtape_model* model, size_t layer);

/* The parameters, by index from 0: the name ("layers.0.W1"), the number of axes, and the extent of an axis.
 * Past the last parameter or axis, the name is NULL and the extent is -1. */
LAGTAPE_API size_t lagtape_model_parameter_count(const lagtape_model* model);
LAGTAPE_API const char* lagtape_model_parameter_name(const lagtape_model* model, size_t parameter);
LAGTAPE_API int64_t lagtape_model_parameter_rank(const lagtape_model* model, size_t parameter);
LAGTAPE_API int64_t lagtape_model_parameter_extent(const lagtape_model* model, size_t parameter,
                                                   int64_t axis);

/* How many numbers a prediction for `rows` sequences of `steps` steps writes: rows * steps * output_width, or
 * rows * output_width if the model has one output per sequence. -1 if memory cannot hold that many. */
LAGTAPE_API int64_t lagtape_model_output_count(const lagtape_model* model, int64_t rows, int64_t steps);

/* Predicts a batch: x [rows, steps, input_width] to y, which must hold lagtape_model_output_count numbers:
 * [rows, steps, output_width] or [rows, output_width]. Inputs and outputs are in the units of the data.
 * `threads`, at least 1, does not affect results. Call the function for the model's precision (_f64 for f64);
 * the other fails. */
LAGTAPE_API lagtape_status lagtape_model_predict(const lagtape_model* model, const float* x, int64_t rows,
                                                 int64_t steps, float* y, int threads);
LAGTAPE_API lagtape_status lagtape_model_predict_f64(const lagtape_model* model, const double* x,
                                                     int64_t rows, int64_t steps, double* y, int threads);

/* The same for sequences of different lengths, padded to `steps`: the first lengths[row] steps of a row, 1 ..
 * steps, are valid. Steps after them are not read, and their outputs are zeros. */
LAGTAPE_API lagtape_status lagtape_model_predict_lengths(const lagtape_model* model, const float* x,
                                                         const int64_t* lengths, int64_t rows, int64_t steps,
                                                         float* y, int threads);
LAGTAPE_API lagtape_status lagtape_model_predict_lengths_f64(const lagtape_model* model, const double* x,
                                                             const int64_t* lengths, int64_t rows,
                                                             int64_t steps, double* y, int threads);

/* ---- streams --------------------------------------------------------------------------------------------------- */

/* Creates a stream of `rows` parallel sequences, before its first step. Returns NULL on failure: a model that
 * needs whole sequences cannot stream. Only functions that create a stream allocate memory. */
LAGTAPE_API lagtape_stream* lagtape_stream_create(const lagtape_model* model, int64_t rows);
/* The same with `rate` steps, 0.5 to 8, per training step: 96.0 / 48.0 for 96 kHz sound and a 48 kHz model.
 * Returns NULL on failure, such as a rate at which the model is unstable. */
LAGTAPE_API lagtape_stream* lagtape_stream_create_at_rate(const lagtape_model* model, int64_t rows,
                                                          double rate, lagtape_interpolation interpolation);
/* The same with options. Returns NULL on failure. */
LAGTAPE_API lagtape_stream* lagtape_stream_create_with(const lagtape_model* model,
                                                       const lagtape_stream_options* options);
/* A second stream in the same state. Returns NULL on failure. */
LAGTAPE_API lagtape_stream* lagtape_stream_copy(const lagtape_stream* stream);
/* Frees a stream; NULL is allowed. */
LAGTAPE_API void lagtape_stream_free(lagtape_stream* stream);

LAGTAPE_API int64_t lagtape_stream_rows(const lagtape_stream* stream);
/* The number of steps run so far. */
LAGTAPE_API int64_t lagtape_stream_steps(const lagtape_stream* stream);

/* Runs one step: input [rows, input_width] to output [rows, output_width]. At the training rate, results are
 * bit-identical to lagtape_model_predict. */
LAGTAPE_API lagtape_status lagtape_stream_step(lagtape_stream* stream, const float* input, float* output);
LAGTAPE_API lagtape_status lagtape_stream_step_f64(lagtape_stream* stream, const double* input,
                                                   double* output);

/* Runs `steps` steps: input [steps, rows, input_width] to output [steps, rows, output_width]. */
LAGTAPE_API lagtape_status lagtape_stream_block(lagtape_stream* stream, const float* input, float* output,
                                                int64_t steps);
LAGTAPE_API lagtape_status lagtape_stream_block_f64(lagtape_stream* stream, const double* input,
                                                    double* output, int64_t steps);

/* 1 if all states are finite, else 0. Non-finite inputs enter the states of most cells, and outputs may then
 * remain infinite or NaN until a reset or restore. */
LAGTAPE_API int lagtape_stream_is_finite(const lagtape_stream* stream);
/* Returns the stream to the state before the first step. */
LAGTAPE_API lagtape_status lagtape_stream_reset(lagtape_stream* stream);

/* Saves the state as bytes, and restores it into this stream or one with the same model, rows, rate and
 * weights, on a machine with the same byte order. A header and a checksum detect other states. `size` is
 * lagtape_stream_state_size. */
LAGTAPE_API size_t lagtape_stream_state_size(const lagtape_stream* stream);
LAGTAPE_API lagtape_status lagtape_stream_save(const lagtape_stream* stream, void* state, size_t size);
LAGTAPE_API lagtape_status lagtape_stream_restore(lagtape_stream* stream, const void* state, size_t size);

/* ---- learning while streaming --------------------------------------------------------------------------------- */

/* The gradient that a learner uses: the exact one, for a recurrent layer whose units do not use each other's
 * states; one from each unit's own traces only, for any layers; or the latter with traces that restart every
 * `window` steps. */
typedef enum lagtape_learning {
  LAGTAPE_RTRL = 0,
  LAGTAPE_E_PROP = 1,
  LAGTAPE_TRUNCATED = 2
} lagtape_learning;
/* The update rule for the weights. */
typedef enum lagtape_learning_rule { LAGTAPE_SGD = 0, LAGTAPE_ADAM = 1 } lagtape_learning_rule;

/* How a learner learns. Zeros select defaults: lagtape_learner_options options = {0}; */
typedef struct lagtape_learner_options {
  lagtape_learning method;
  lagtape_learning_rule rule;
  double lr;      /* the learning rate; 0: 0.01 */
  int64_t every;  /* steps whose gradients are summed before each update; 0: one */
  int64_t window; /* steps between restarts of the traces, for LAGTAPE_TRUNCATED; 0: one */
} lagtape_learner_options;

/* Creates a learner with a copy of the model's weights. Returns NULL on failure, such as for models with
 * several sequence operations, or if the method does not support the layers. */
LAGTAPE_API lagtape_learner* lagtape_learner_create(const lagtape_model* model,
                                                    const lagtape_learner_options* options);
/* Frees a learner; NULL is allowed. */
LAGTAPE_API void lagtape_learner_free(lagtape_learner* learner);
/* The number of values in a target; 1 for classes. */
LAGTAPE_API int64_t lagtape_learner_target_width(const lagtape_learner* learner);
/* Runs one step: writes the output [output_width] for the input [input_width] to `output`, and its loss to
 * `loss` (either can be NULL); then the weights learn from the target (NULL: none). Allocates nothing. */
LAGTAPE_API lagtape_status lagtape_learner_step(lagtape_learner* learner, const float* input,
                                                const float* target, float* output, double* loss);
LAGTAPE_API lagtape_status lagtape_learner_step_f64(lagtape_learner* learner, const double* input,
                                                    const double* target, double* output, double* loss);
/* Returns the learner to the states before the first step, but keeps its weights. */
LAGTAPE_API lagtape_status lagtape_learner_reset(lagtape_learner* learner);
/* Saves everything that later steps depend on (weights, gradients, states and traces) as bytes, and restores
 * it into this learner or one like it (its rate may differ) on a machine with the same byte order and vector
 * instructions. A header and a checksum detect other states, for which restore changes nothing. `size` is
 * lagtape_learner_state_size. */
LAGTAPE_API size_t lagtape_learner_state_size(const lagtape_learner* learner);
LAGTAPE_API lagtape_status lagtape_learner_save(const lagtape_learner* learner, void* state, size_t size);
LAGTAPE_API lagtape_status lagtape_learner_restore(lagtape_learner* learner, const void* state, size_t size);
/* Copies the learner's current weights to the model, which must be the one it was made from. Existing streams
 * do not change; no other thread may use the model during the call. */
LAGTAPE_API lagtape_status lagtape_model_take(lagtape_model* model, const lagtape_learner* learner);

#ifdef __cplusplus
}
#endif

#endif
