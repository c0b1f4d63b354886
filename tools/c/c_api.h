/* lagtape from C: load a model, predict a batch, and step a stream.
 *
 * A function that can fail returns a status, or NULL, and leaves a message for lagtape_last_error(). No exception leaves
 * the library. Except for lagtape_model_settle and lagtape_model_use_series a model never changes, and may be used by several
 * threads at once; a stream belongs to one thread at a time. Functions that return neither a status nor a new object
 * expect a model or stream that is not null.
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

/* The numbers are the exit codes of the lagtape tool. */
typedef enum lagtape_status {
  LAGTAPE_OK = 0,
  LAGTAPE_ERROR = 1,      /* the system or the library failed: no memory, for instance */
  LAGTAPE_INPUT_ERROR = 2 /* the caller gave something wrong: a file, a shape, a null pointer */
} lagtape_status;

/* The precision that a model was trained in, and in which it computes. */
typedef enum lagtape_dtype { LAGTAPE_F32 = 0, LAGTAPE_F64 = 1 } lagtape_dtype;

/* How a stream at another rate reads states between two steps. */
typedef enum lagtape_interpolation { LAGTAPE_CUBIC = 0, LAGTAPE_LINEAR = 1 } lagtape_interpolation;

/* What a stream multiplies: the numbers as predictions do, these rounded to 16 or 8 bits, faster and less exactly, or, for a
 * model trained in bf16, without its rounding. */
typedef enum lagtape_weights {
  LAGTAPE_OWN = 0,
  LAGTAPE_BF16 = 1,
  LAGTAPE_INT8 = 2,
  LAGTAPE_UNROUNDED = 3
} lagtape_weights;

/* How a stream runs a model. Zeros mean defaults: lagtape_stream_options options = {0}; */
typedef struct lagtape_stream_options {
  int64_t rows; /* 0: one */
  double rate;  /* steps for each step of training; 0: one */
  lagtape_interpolation interpolation;
  lagtape_weights weights; /* others than the own: for models of f32 */
  /* For int8: calibration_rows sequences [calibration_steps, input_width] like those to come, 0 rows: one. They give the
   * ranges of the operands, and are no longer needed once the stream is made. */
  const float* calibration;
  int64_t calibration_rows, calibration_steps;
} lagtape_stream_options;

/* "0.1.0" */
LAGTAPE_API const char* lagtape_version(void);

/* The message of the last call on this thread that failed; empty before the first. It stays valid until the next
 * failure on this thread. */
LAGTAPE_API const char* lagtape_last_error(void);

/* An error as data, after a call that returned LAGTAPE_INPUT_ERROR or NULL. Texts are "" and numbers 0 where they
 * do not apply. They stay valid until the next failure on this thread. */
typedef struct lagtape_problem {
  const char* file;
  int64_t line, column;  /* from 1 */
  const char* pointer;   /* the JSON Pointer of a setting */
  const char* item;      /* a named part of the file: "tensor 'readout.W'" */
  const char* op;        /* the function whose argument is wrong, where there is no file */
  const char* rule;      /* the broken rule: "unknown_name", "missing", "out_of_range", "shape", ... */
  const char* statement; /* what is wrong, where the rule and the fields below do not say it */
  const char* found;
  const char* expected;
  const char* hint;    /* what to do */
  const char* nearest; /* the valid name that was probably meant */
} lagtape_problem;

/* The number of problems of the last call on this thread that failed; 0 where the input was not wrong. */
LAGTAPE_API size_t lagtape_last_problem_count(void);
/* Fills in one of them. Fails, and leaves the last error as it is, for an index that is not below their number. */
LAGTAPE_API lagtape_status lagtape_last_problem(size_t index, lagtape_problem* problem);

/* ---- models ---------------------------------------------------------------------------------------------------- */

/* Loads a run folder or a weights file. Returns NULL on failure. */
LAGTAPE_API lagtape_model* lagtape_model_load(const char* path);

/* Loads the bytes of a weights file. `name` names the file in messages. Returns NULL on failure. */
LAGTAPE_API lagtape_model* lagtape_model_load_memory(const void* bytes, size_t size, const char* name);

/* Lets predictions and streams begin in the state to which the model settles when all its inputs are that number,
 * in the units of the data: 0 is silence, without a pop. Existing streams do not change. A model that cannot
 * stream or does not settle is refused, and does not change. */
LAGTAPE_API lagtape_status lagtape_model_settle(lagtape_model* model, double input);

/* Chooses a series of the training, by its name, for a model that scales each series by itself. Before that,
 * predictions and streams refuse such a model. */
LAGTAPE_API lagtape_status lagtape_model_use_series(lagtape_model* model, const char* name);

/* Frees a model; NULL is allowed. Streams made from it keep working. */
LAGTAPE_API void lagtape_model_free(lagtape_model* model);

LAGTAPE_API lagtape_dtype lagtape_model_dtype(const lagtape_model* model);
/* Numbers a step: 1 for tokens. */
LAGTAPE_API int64_t lagtape_model_input_width(const lagtape_model* model);
/* Numbers an output: the logits of a classifier. */
LAGTAPE_API int64_t lagtape_model_output_width(const lagtape_model* model);
/* 0 unless the model is a classifier. */
LAGTAPE_API int64_t lagtape_model_classes(const lagtape_model* model);
/* Inputs are the tokens 0 .. tokens - 1; 0 for inputs that are real numbers. */
LAGTAPE_API int64_t lagtape_model_tokens(const lagtape_model* model);
/* 1 when predictions have an output at every step, 0 when they have one a sequence. */
LAGTAPE_API int lagtape_model_reads_every_step(const lagtape_model* model);
/* The experiment that trained the model, as JSON. Valid as long as the model. */
LAGTAPE_API const char* lagtape_model_experiment(const lagtape_model* model);

/* The layers from the input up, the read-out last. A name is NULL beyond the last. */
LAGTAPE_API size_t lagtape_model_layer_count(const lagtape_model* model);
LAGTAPE_API const char* lagtape_model_layer_name(const lagtape_model* model, size_t layer);

/* The parameters, by number from 0: the name ("layers.0.W1"), the number of axes, and the extent of an axis.
 * Beyond the last parameter or axis the name is NULL and the extent -1. */
LAGTAPE_API size_t lagtape_model_parameter_count(const lagtape_model* model);
LAGTAPE_API const char* lagtape_model_parameter_name(const lagtape_model* model, size_t parameter);
LAGTAPE_API int64_t lagtape_model_parameter_rank(const lagtape_model* model, size_t parameter);
LAGTAPE_API int64_t lagtape_model_parameter_extent(const lagtape_model* model, size_t parameter,
                                                   int64_t axis);

/* Numbers that a prediction for `rows` sequences of `steps` steps writes: rows * steps * output_width, or
 * rows * output_width when the model reads once a sequence. -1 when that is more than memory can hold. */
LAGTAPE_API int64_t lagtape_model_output_count(const lagtape_model* model, int64_t rows, int64_t steps);

/* Predicts a batch: x [rows, steps, input_width] to y, which holds lagtape_model_output_count numbers: [rows,
 * steps, output_width] or [rows, output_width]. Inputs and outputs are in the units of the data; `threads` is at
 * least 1. The numbers do not depend on it. The suffix is the model's precision; the other one is refused. */
LAGTAPE_API lagtape_status lagtape_model_predict(const lagtape_model* model, const float* x, int64_t rows,
                                                 int64_t steps, float* y, int threads);
LAGTAPE_API lagtape_status lagtape_model_predict_f64(const lagtape_model* model, const double* x,
                                                     int64_t rows, int64_t steps, double* y, int threads);

/* The same for sequences of different lengths, padded to `steps`: the first lengths[row] steps of a row are its
 * own, lengths in 1 .. steps. Steps beyond them are not read, and their outputs are zeros. */
LAGTAPE_API lagtape_status lagtape_model_predict_lengths(const lagtape_model* model, const float* x,
                                                         const int64_t* lengths, int64_t rows, int64_t steps,
                                                         float* y, int threads);
LAGTAPE_API lagtape_status lagtape_model_predict_lengths_f64(const lagtape_model* model, const double* x,
                                                             const int64_t* lengths, int64_t rows,
                                                             int64_t steps, double* y, int threads);

/* ---- streams --------------------------------------------------------------------------------------------------- */

/* A stream of `rows` sequences side by side, at its beginning. Returns NULL on failure: a model that needs whole
 * sequences cannot stream. Only the functions that make a stream allocate memory. */
LAGTAPE_API lagtape_stream* lagtape_stream_create(const lagtape_model* model, int64_t rows);
/* The same with `rate` steps, 0.5 to 8, for each step of training: 96.0 / 48.0 for sound of 96 kHz and a model of
 * 48 kHz. Returns NULL on failure: rates at which the model is not stable are refused. */
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
/* Steps fed so far. */
LAGTAPE_API int64_t lagtape_stream_steps(const lagtape_stream* stream);

/* One step: input [rows, input_width] to output [rows, output_width]: at the rate of training the bits that
 * lagtape_model_predict gives. */
LAGTAPE_API lagtape_status lagtape_stream_step(lagtape_stream* stream, const float* input, float* output);
LAGTAPE_API lagtape_status lagtape_stream_step_f64(lagtape_stream* stream, const double* input,
                                                   double* output);

/* `steps` steps at once: input [steps, rows, input_width] to output [steps, rows, output_width]. */
LAGTAPE_API lagtape_status lagtape_stream_block(lagtape_stream* stream, const float* input, float* output,
                                                int64_t steps);
LAGTAPE_API lagtape_status lagtape_stream_block_f64(lagtape_stream* stream, const double* input,
                                                    double* output, int64_t steps);

/* 1 if all states are finite, else 0: inputs that are not finite pass into the states of most cells, and outputs
 * may then stay infinite or NaN until a reset or a restore. */
LAGTAPE_API int lagtape_stream_is_finite(const lagtape_stream* stream);
/* Back to the state before the first step. */
LAGTAPE_API lagtape_status lagtape_stream_reset(lagtape_stream* stream);

/* The state as bytes, to be restored into this stream or one made alike: of the same model, number of rows, rate and weights,
 * on a machine of the same byte order. A header and a checksum let others be refused. `size` is lagtape_stream_state_size. */
LAGTAPE_API size_t lagtape_stream_state_size(const lagtape_stream* stream);
LAGTAPE_API lagtape_status lagtape_stream_save(const lagtape_stream* stream, void* state, size_t size);
LAGTAPE_API lagtape_status lagtape_stream_restore(lagtape_stream* stream, const void* state, size_t size);

/* ---- learning while it streams
 * ---------------------------------------------------------------------------------- */

/* The gradient of a learner: the whole one, for a recurrent layer whose units do not read each other's states, or
 * the one through traces of each unit alone, for all layers, or the one through traces that begin again every
 * `window` steps. */
typedef enum lagtape_learning {
  LAGTAPE_RTRL = 0,
  LAGTAPE_E_PROP = 1,
  LAGTAPE_TRUNCATED = 2
} lagtape_learning;
/* The rule by which weights move. */
typedef enum lagtape_learning_rule { LAGTAPE_SGD = 0, LAGTAPE_ADAM = 1 } lagtape_learning_rule;

/* How a learner learns. Zeros mean defaults: lagtape_learner_options options = {0}; */
typedef struct lagtape_learner_options {
  lagtape_learning method;
  lagtape_learning_rule rule;
  double lr;      /* the rate; 0: 0.01 */
  int64_t every;  /* steps whose gradients are added before the weights move; 0: one */
  int64_t window; /* steps between beginnings of traces, for LAGTAPE_TRUNCATED; 0: one */
} lagtape_learner_options;

/* A learner over a copy of the model's weights, at its beginning. Returns NULL on failure: for models of several
 * sequence operations, and where the method does not fit the layers. */
LAGTAPE_API lagtape_learner* lagtape_learner_create(const lagtape_model* model,
                                                    const lagtape_learner_options* options);
/* Frees a learner; NULL is allowed. */
LAGTAPE_API void lagtape_learner_free(lagtape_learner* learner);
/* Numbers of a target: 1 for classes. */
LAGTAPE_API int64_t lagtape_learner_target_width(const lagtape_learner* learner);
/* One step: the output [output_width] for the input [input_width] goes to `output` (NULL: nowhere), then the
 * weights learn from the target (NULL: none). `loss` (NULL: nowhere) is the loss of the output. Allocates nothing. */
LAGTAPE_API lagtape_status lagtape_learner_step(lagtape_learner* learner, const float* input,
                                                const float* target, float* output, double* loss);
LAGTAPE_API lagtape_status lagtape_learner_step_f64(lagtape_learner* learner, const double* input,
                                                    const double* target, double* output, double* loss);
/* Back to the states before the first step; the weights stay. */
LAGTAPE_API lagtape_status lagtape_learner_reset(lagtape_learner* learner);
/* All that later steps depend on as bytes: weights, gradients, states and traces, to be restored into this learner or one
 * made alike (its rate may differ) on a machine of the same byte order and vector instructions. A header and a checksum let
 * others be refused, which change nothing. `size` is lagtape_learner_state_size. */
LAGTAPE_API size_t lagtape_learner_state_size(const lagtape_learner* learner);
LAGTAPE_API lagtape_status lagtape_learner_save(const lagtape_learner* learner, void* state, size_t size);
LAGTAPE_API lagtape_status lagtape_learner_restore(lagtape_learner* learner, const void* state, size_t size);
/* Gives the model, which must be the learner's, the weights that the learner has now. Streams that are there already stay
 * as they are; no other thread may use the model meanwhile. */
LAGTAPE_API lagtape_status lagtape_model_take(lagtape_model* model, const lagtape_learner* learner);

#ifdef __cplusplus
}
#endif

#endif
