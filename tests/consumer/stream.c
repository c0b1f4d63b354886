/* A C program on the installed library: loads a model, predicts a batch, and streams the same rows: the same numbers, bit
 * for bit. Then what a careless caller does, and that streams allocate nothing. */

#include <lagtape/c_api.h>

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Every allocation of the program, the library's included, passes here (except under valgrind, which takes their place). */
static long allocations = 0;
extern void* __libc_malloc(size_t size);
extern void* __libc_calloc(size_t count, size_t size);
extern void* __libc_realloc(void* pointer, size_t size);
extern void* __libc_memalign(size_t alignment, size_t size);
void* malloc(size_t size) {
  ++allocations;
  return __libc_malloc(size);
}
void* calloc(size_t count, size_t size) {
  ++allocations;
  return __libc_calloc(count, size);
}
void* realloc(void* pointer, size_t size) {
  ++allocations;
  return __libc_realloc(pointer, size);
}
void* aligned_alloc(size_t alignment, size_t size) {
  ++allocations;
  return __libc_memalign(alignment, size);
}

static int failures = 0;
static void check(int holds, const char* what) {
  if (holds) return;
  ++failures;
  fprintf(stderr, "not so: %s (last error: %s)\n", what, lagtape_last_error());
}
static void check_message(const char* part) {
  if (strstr(lagtape_last_error(), part) != NULL) return;
  ++failures;
  fprintf(stderr, "the message lacks '%s': %s\n", part, lagtape_last_error());
}

enum { kRows = 3, kSteps = 40 };

static void streams_as_it_predicts(const lagtape_model* model) {
  const size_t in = (size_t)lagtape_model_input_width(model), out = (size_t)lagtape_model_output_width(model);
  const size_t count = (size_t)lagtape_model_output_count(model, kRows, kSteps);
  float* x = malloc(kRows * kSteps * in * sizeof *x);
  float* y = malloc(count * sizeof *y);
  float* streamed = malloc(kSteps * out * sizeof *streamed);
  size_t i;
  int row, n;
  for (i = 0; i < kRows * kSteps * in; ++i) x[i] = (float)sin(0.1 * (double)i);
  check(lagtape_model_predict(model, x, kRows, kSteps, y, 2) == LAGTAPE_OK, "a batch is predicted");
  check(count == kRows * kSteps * out, "an output at every step");
  for (row = 0; row < kRows; ++row) {
    const float* mine = x + (size_t)row * kSteps * in;
    lagtape_stream* stream = lagtape_stream_create(model, 1);
    check(stream != NULL, "a stream is made");
    for (n = 0; n < kSteps; ++n)
      check(lagtape_stream_step(stream, mine + (size_t)n * in, streamed + (size_t)n * out) == LAGTAPE_OK,
            "a step");
    check(memcmp(streamed, y + (size_t)row * kSteps * out, kSteps * out * sizeof *y) == 0,
          "a stream gives the prediction's bits");
    check(streamed[0] != streamed[(kSteps - 1) * out], "the outputs move");
    check(lagtape_stream_reset(stream) == LAGTAPE_OK && lagtape_stream_steps(stream) == 0, "a reset");
    streamed[0] = (float)NAN;
    check(lagtape_stream_step(stream, streamed, streamed + (kSteps - 1) * out) == LAGTAPE_OK,
          "a step of what is no number");
    check(!lagtape_stream_is_finite(stream), "the stream says that its states are not finite");
    check(lagtape_stream_reset(stream) == LAGTAPE_OK && lagtape_stream_is_finite(stream),
          "and are after a reset");
    check(lagtape_stream_block(stream, mine, streamed, kSteps) == LAGTAPE_OK, "a block");
    check(memcmp(streamed, y + (size_t)row * kSteps * out, kSteps * out * sizeof *y) == 0,
          "a block gives them too");
    lagtape_stream_free(stream);
  }
  free(x);
  free(y);
  free(streamed);
}

/* Rows of different lengths give what each gives alone, and zeros beyond. */
static void predicts_lengths(const lagtape_model* model) {
  const size_t in = (size_t)lagtape_model_input_width(model), out = (size_t)lagtape_model_output_width(model);
  const int64_t lengths[kRows] = {kSteps, 1, 17}, beyond[kRows] = {kSteps + 1, 1, 1};
  float* x = malloc(kRows * kSteps * in * sizeof *x);
  float* y = malloc(kRows * kSteps * out * sizeof *y);
  float* alone = malloc(kSteps * out * sizeof *alone);
  size_t i;
  int row, zeros = 1;
  for (i = 0; i < kRows * kSteps * in; ++i) x[i] = (float)cos(0.2 * (double)i);
  check(lagtape_model_predict_lengths(model, x, lengths, kRows, kSteps, y, 2) == LAGTAPE_OK,
        "rows of different lengths");
  for (row = 0; row < kRows; ++row) {
    const size_t own = (size_t)lengths[row] * out;
    const float* mine = y + (size_t)row * kSteps * out;
    check(
        lagtape_model_predict(model, x + (size_t)row * kSteps * in, 1, lengths[row], alone, 1) == LAGTAPE_OK,
        "a row alone");
    check(memcmp(mine, alone, own * sizeof *y) == 0, "a row of a batch is what it is alone");
    for (i = own; i < kSteps * out; ++i) zeros &= mine[i] == 0;
  }
  check(zeros, "outputs beyond a row's length are zeros");
  check(lagtape_model_predict_lengths(model, x, NULL, kRows, kSteps, y, 1) == LAGTAPE_INPUT_ERROR,
        "lengths are needed");
  check(lagtape_model_predict_lengths(model, x, beyond, kRows, kSteps, y, 1) == LAGTAPE_INPUT_ERROR,
        "a length is at most T");
  check_message("1 .. 40. Got 41");
  free(x);
  free(y);
  free(alone);
}

/* A state is restored where it was saved, and nowhere else; what is refused changes nothing. */
static void refuses_states(const lagtape_model* model, lagtape_stream* stream, unsigned char* state, size_t size) {
  lagtape_stream* rows = lagtape_stream_create(model, 2);
  lagtape_stream* fast = lagtape_stream_create_at_rate(model, 1, 2.0, LAGTAPE_CUBIC);
  const int64_t steps = lagtape_stream_steps(stream);
  size_t place;
  check(lagtape_stream_restore(rows, state, size) == LAGTAPE_INPUT_ERROR, "a state of another number of rows is refused");
  check_message("this stream has 2 rows. Got a state of 1");
  check(lagtape_stream_restore(fast, state, size) == LAGTAPE_INPUT_ERROR, "a state of another rate is refused");
  check_message("rate 2");
  check(lagtape_stream_restore(stream, state, size - 1) == LAGTAPE_INPUT_ERROR, "a state that is cut is refused");
  for (place = 0; place < size; ++place) {
    state[place] ^= 1;
    check(lagtape_stream_restore(stream, state, size) == LAGTAPE_INPUT_ERROR, "a state with a changed byte is refused");
    state[place] ^= 1;
  }
  check(lagtape_stream_steps(stream) == steps, "what is refused changes nothing");
  lagtape_stream_free(rows);
  lagtape_stream_free(fast);
}

static void saves_and_allocates_nothing(const lagtape_model* model) {
  float in[64] = {0.5f}, first[64], again[64], copied[64];
  lagtape_stream* stream = lagtape_stream_create(model, 1);
  const size_t size = lagtape_stream_state_size(stream);
  unsigned char* state = malloc(size);
  lagtape_stream* copy;
  long before;
  int n, fine = 1;
  for (n = 0; n < 30; ++n) lagtape_stream_step(stream, in, first);
  copy = lagtape_stream_copy(stream);
  before = allocations;
  fine &= lagtape_stream_save(stream, state, size) == LAGTAPE_OK;
  for (n = 0; n < 100; ++n) lagtape_stream_step(stream, in, first);
  lagtape_stream_block(stream, in, first, 1);
  fine &= lagtape_stream_restore(stream, state, size) == LAGTAPE_OK && lagtape_stream_steps(stream) == 30;
  for (n = 0; n < 101; ++n) lagtape_stream_step(stream, in, again);
  for (n = 0; n < 101; ++n) lagtape_stream_step(copy, in, copied);
  fine &= lagtape_stream_reset(copy) == LAGTAPE_OK;
  check(allocations == before, "calls of a stream allocate nothing");
  refuses_states(model, stream, state, size);
  check(fine, "a state is saved, restored and reset");
  check(memcmp(first, again, sizeof(float)) == 0, "a restored stream goes on with the same bits");
  check(memcmp(first, copied, sizeof(float)) == 0, "so does a copy");
  free(state);
  lagtape_stream_free(stream);
  lagtape_stream_free(copy);
}

/* At twice the rate each of two sequences that run between each other gets the bits of the model's own rate. */
static void streams_at_another_rate(const lagtape_model* model) {
  enum { kMost = 64 };
  float in[kMost], own[kMost], other[kMost];
  const size_t width = (size_t)lagtape_model_output_width(model) * sizeof *own;
  lagtape_stream* slow = lagtape_stream_create(model, 1);
  lagtape_stream* fast = lagtape_stream_create_at_rate(model, 1, 2.0, LAGTAPE_CUBIC);
  lagtape_stream* linear = lagtape_stream_create_at_rate(model, 1, 1.5, LAGTAPE_LINEAR);
  int n, same = 1, differs = 0;
  check(fast != NULL && linear != NULL, "streams at other rates are made");
  for (n = 0; n < kSteps; ++n) {
    in[0] = (float)sin(0.1 * (double)n);
    lagtape_stream_step(slow, in, own);
    lagtape_stream_step(fast, in, other);
    same &= memcmp(own, other, width) == 0;
    lagtape_stream_step(fast, in, other);
    same &= memcmp(own, other, width) == 0;
    lagtape_stream_step(linear, in, other);
    differs |= memcmp(own, other, width) != 0;
  }
  check(same, "at twice the rate two sequences get the bits of one");
  check(differs, "at one and a half of the rate the numbers are others");
  check(lagtape_stream_steps(fast) == 2 * kSteps, "steps of the rate are counted");
  lagtape_stream_free(slow);
  lagtape_stream_free(fast);
  lagtape_stream_free(linear);
  check(lagtape_stream_create_at_rate(model, 1, 0.0, LAGTAPE_CUBIC) == NULL, "a rate of 0 is refused");
  check_message("0.5 to 8");
  check(lagtape_stream_create_at_rate(model, 1, NAN, LAGTAPE_CUBIC) == NULL,
        "a rate that is no number is refused");
  check_message("nan");
  check(lagtape_stream_create_at_rate(model, 1, 8.1, LAGTAPE_CUBIC) == NULL, "a rate above 8 is refused");
  check_message("8.1");
  check(lagtape_stream_create_at_rate(model, 1, 2.0, (lagtape_interpolation)7) == NULL,
        "so is another interpolation");
  check_message("Got 7");
  check(lagtape_stream_create_at_rate(NULL, 1, 2.0, LAGTAPE_CUBIC) == NULL, "and no model");
}

/* Weights in bf16 are near the model's own, int8 is for wider layers, and what is wrong with options is said. */
static void streams_with_other_weights(const lagtape_model* model) {
  enum { kMost = 64 };
  float in[kMost] = {0.5f}, own[kMost], other[kMost];
  lagtape_stream_options options = {0};
  lagtape_stream* plain = lagtape_stream_create_with(model, &options);
  lagtape_stream *half, *unrounded;
  options.weights = LAGTAPE_BF16;
  half = lagtape_stream_create_with(model, &options);
  check(plain != NULL && half != NULL, "streams are made with options");
  check(lagtape_stream_rows(plain) == 1, "zeros stand for defaults");
  lagtape_stream_step(plain, in, own);
  lagtape_stream_step(half, in, other);
  check(fabs((double)own[0] - (double)other[0]) < 0.05, "weights in bf16 are near the model's own");
  options.weights = LAGTAPE_UNROUNDED;
  unrounded = lagtape_stream_create_with(model, &options);
  lagtape_stream_step(unrounded, in, other);
  check(memcmp(own, other, sizeof(float)) == 0, "a model of f32 has no rounding to leave out");
  lagtape_stream_free(unrounded);
  lagtape_stream_free(plain);
  lagtape_stream_free(half);
  options.weights = LAGTAPE_INT8;
  check(lagtape_stream_create_with(model, &options) == NULL, "int8 without calibration is refused");
  check_message("need calibration");
  options.calibration = in;
  options.calibration_steps = 1;
  check(lagtape_stream_create_with(model, &options) == NULL, "int8 for few units is refused");
  check_message("64 units");
  options.calibration_steps = 0;
  check(lagtape_stream_create_with(model, &options) == NULL, "a calibration of no steps is refused");
  check_message("calibration_steps");
  options.weights = (lagtape_weights)5;
  check(lagtape_stream_create_with(model, &options) == NULL, "so are other weights");
  check_message("Got 5");
  check(lagtape_stream_create_with(model, NULL) == NULL, "and no options");
}

/* A model that has settled begins where silence has led it, and goes back there at a reset. */
static void settles(const char* path) {
  enum { kMost = 64 };
  float in[kMost] = {0}, first[kMost], settled[kMost], again[kMost];
  lagtape_model* model = lagtape_model_load(path);
  const size_t width = (size_t)lagtape_model_output_width(model);
  lagtape_stream* stream = lagtape_stream_create(model, 1);
  int n;
  lagtape_stream_step(stream, in, first);
  for (n = 0; n < 5000; ++n) lagtape_stream_step(stream, in, settled);
  lagtape_stream_free(stream);
  check(fabs((double)(first[0] - settled[0])) > 1e-4,
        "the first output of a model at zeros is another than in silence");
  check(lagtape_model_settle(model, 0) == LAGTAPE_OK, "the model settles");
  stream = lagtape_stream_create(model, 1);
  lagtape_stream_step(stream, in, first);
  check(fabs((double)(first[0] - settled[0])) < 1e-5, "its streams begin in silence");
  in[0] = 1;
  for (n = 0; n < 10; ++n) lagtape_stream_step(stream, in, again);
  check(fabs((double)(again[0] - settled[0])) > 1e-3, "and hear what comes in");
  in[0] = 0;
  lagtape_stream_reset(stream);
  lagtape_stream_step(stream, in, again);
  check(memcmp(first, again, width * sizeof *first) == 0, "and go back there");
  check(lagtape_model_settle(NULL, 0) == LAGTAPE_INPUT_ERROR, "no model is refused");
  check(lagtape_model_use_series(model, "a") == LAGTAPE_INPUT_ERROR, "a model of one scaling has no series");
  lagtape_stream_free(stream);
  lagtape_model_free(model);
}

/* Errors are data: each field is that of the broken rule. */
static void names_problems(const lagtape_model* model) {
  lagtape_problem problem;
  float x = 0, y = 0;
  check(lagtape_model_load("there/is/no/such.safetensors") == NULL && lagtape_last_problem_count() == 1,
        "one problem");
  check(lagtape_last_problem(0, &problem) == LAGTAPE_OK, "the first problem");
  check(strcmp(problem.file, "there/is/no/such.safetensors") == 0, "the file");
  check(strcmp(problem.rule, "cannot_read") == 0, "the rule");
  check(problem.line == 0 && problem.pointer[0] == '\0' && problem.nearest[0] == '\0',
        "fields that say nothing");
  check(lagtape_last_problem(1, &problem) == LAGTAPE_INPUT_ERROR, "there is no second problem");
  check(lagtape_last_problem(0, NULL) == LAGTAPE_INPUT_ERROR, "a null place is refused");
  check(lagtape_model_predict(model, &x, 0, 1, &y, 1) == LAGTAPE_INPUT_ERROR, "no rows are refused");
  check(lagtape_last_problem(0, &problem) == LAGTAPE_OK, "a problem of a call");
  check(strcmp(problem.op, "lagtape_model_predict") == 0 && strcmp(problem.rule, "out_of_range") == 0,
        "the call and the rule");
  check(strcmp(problem.found, "0") == 0, "what was found");
}

static void refuses_nonsense(const lagtape_model* model) {
  float x[64] = {0}, y[64];
  double wide[64] = {0};
  char state[8] = {0};
  lagtape_stream* stream = lagtape_stream_create(model, 1);
  check(lagtape_model_load("there/is/no/such.safetensors") == NULL, "a missing file is refused");
  check_message("such.safetensors");
  check(lagtape_model_load(NULL) == NULL, "a null path is refused");
  check_message("null pointer");
  check(lagtape_model_load_memory("nonsense", 8, "my bytes") == NULL, "nonsense is no model");
  check_message("my bytes");
  check(lagtape_model_predict(model, x, 0, 1, y, 1) == LAGTAPE_INPUT_ERROR, "no rows are refused");
  check_message("rows must be at least 1. Got 0");
  check(lagtape_model_predict(model, x, INT64_MAX, INT64_MAX, y, 1) == LAGTAPE_INPUT_ERROR,
        "sizes beyond memory are refused");
  check(lagtape_model_output_count(model, INT64_MAX, INT64_MAX) == -1, "and cannot be counted");
  check(lagtape_model_predict(model, x, 1, 1, y, 0) == LAGTAPE_INPUT_ERROR, "no threads are refused");
  check(lagtape_model_predict_f64(model, wide, 1, 1, wide, 1) == LAGTAPE_INPUT_ERROR,
        "another precision is refused");
  check_message("f32");
  check(lagtape_stream_create(model, 0) == NULL, "a stream of no rows is refused");
  check(lagtape_stream_create(NULL, 1) == NULL, "a stream of no model is refused");
  check(lagtape_stream_step(stream, NULL, y) == LAGTAPE_INPUT_ERROR, "a null input is refused");
  check_message("lagtape_stream_step");
  check(lagtape_stream_step(NULL, x, y) == LAGTAPE_INPUT_ERROR, "a null stream is refused");
  check(lagtape_stream_step_f64(stream, wide, wide) == LAGTAPE_INPUT_ERROR, "another precision is refused");
  check(lagtape_stream_block(stream, x, y, -1) == LAGTAPE_INPUT_ERROR,
        "a negative number of steps is refused");
  check(lagtape_stream_restore(stream, state, 1) == LAGTAPE_INPUT_ERROR,
        "a state of another size is refused");
  check_message("56 bytes. Got 1 bytes");
  check(lagtape_stream_steps(stream) == 0, "what is refused changes nothing");
  check(lagtape_model_layer_name(model, 99) == NULL && lagtape_model_parameter_name(model, 999) == NULL,
        "names end");
  check(lagtape_model_parameter_extent(model, 0, 9) == -1, "axes end");
  lagtape_stream_free(stream);
  lagtape_stream_free(NULL);
  lagtape_model_free(NULL);
}

static lagtape_model* load_from_memory(const char* path) {
  FILE* file = fopen(path, "rb");
  lagtape_model* model = NULL;
  long size;
  void* bytes;
  if (file == NULL || fseek(file, 0, SEEK_END) != 0 || (size = ftell(file)) < 0 ||
      fseek(file, 0, SEEK_SET) != 0)
    return NULL;
  bytes = malloc((size_t)size);
  if (fread(bytes, 1, (size_t)size, file) == (size_t)size)
    model = lagtape_model_load_memory(bytes, (size_t)size, path);
  free(bytes);
  fclose(file);
  return model;
}

/* A learner follows a target, and gives the model its weights. Models that no learner supports are refused with the reason. */
static void learns(lagtape_model* model) {
  enum { kMost = 64 };
  float in[kMost] = {0.5f}, target[kMost] = {0.25f}, out[kMost], first, last;
  double loss = 0, first_loss = 0;
  size_t size;
  void* state;
  long before;
  int n;
  lagtape_learner_options options = {0};
  lagtape_learner* learner = lagtape_learner_create(model, &options);
  if (learner == NULL) {
    check_message("rtrl is not exact here");
    options.method = LAGTAPE_E_PROP;
    learner = lagtape_learner_create(model, &options);
  }
  check(learner != NULL, "a learner is made");
  if (learner == NULL) return;
  check(lagtape_learner_target_width(learner) == lagtape_model_output_width(model),
        "a target is as wide as an output");
  before = allocations;
  for (n = 0; n < 300; ++n) {
    check(lagtape_learner_step(learner, in, target, out, &loss) == LAGTAPE_OK, "a step that learns");
    if (n == 0) first_loss = loss, first = out[0];
  }
  check(allocations == before, "steps that learn allocate nothing");
  check(loss < 0.5 * first_loss, "the loss falls");
  last = out[0];
  check(last != first, "the output moves");
  size = lagtape_learner_state_size(learner);
  state = malloc(size);
  check(state != NULL && lagtape_learner_save(learner, state, size) == LAGTAPE_OK, "a learner is saved");
  check(lagtape_learner_step(learner, in, target, out, &first_loss) == LAGTAPE_OK, "a step after that");
  check(lagtape_learner_restore(learner, state, size) == LAGTAPE_OK, "a learner is restored");
  check(lagtape_learner_step(learner, in, target, out, &loss) == LAGTAPE_OK && loss == first_loss, "the same step again");
  check(lagtape_learner_restore(learner, state, size - 1) == LAGTAPE_INPUT_ERROR, "a state that is cut is refused");
  check_message("bytes");
  check(lagtape_learner_save(learner, NULL, size) == LAGTAPE_INPUT_ERROR, "a state needs a place");
  free(state);
  check(lagtape_learner_reset(learner) == LAGTAPE_OK, "a learner is reset");
  check(lagtape_model_take(model, learner) == LAGTAPE_OK, "the model takes the weights");
  check(lagtape_learner_step_f64(learner, &loss, NULL, NULL, NULL) == LAGTAPE_INPUT_ERROR,
        "the other precision is refused");
  check_message("other precision");
  lagtape_learner_free(learner);
  options.lr = -1;
  check(lagtape_learner_create(model, &options) == NULL, "a rate below 0 is refused");
  check_message("lr");
  check(lagtape_learner_create(model, NULL) == NULL, "options are needed");
}

int main(int count, char** arguments) {
  lagtape_model *model, *same;
  if (count < 2) return 2;
  model = lagtape_model_load(arguments[1]);
  if (model == NULL) {
    fprintf(stderr, "%s\n", lagtape_last_error());
    return 2;
  }
  check(lagtape_model_dtype(model) == LAGTAPE_F32, "the model is one of f32");
  check(lagtape_model_layer_count(model) >= 2 && lagtape_model_parameter_count(model) >= 2,
        "layers and parameters");
  check(strstr(lagtape_model_experiment(model), "layers") != NULL, "the experiment");
  streams_as_it_predicts(model);
  predicts_lengths(model);
  saves_and_allocates_nothing(model);
  streams_at_another_rate(model);
  streams_with_other_weights(model);
  settles(arguments[1]);
  refuses_nonsense(model);
  names_problems(model);
  same = load_from_memory(arguments[1]);
  check(same != NULL, "a model is loaded from memory");
  lagtape_model_free(model);
  if (same != NULL) streams_as_it_predicts(same);
  if (same != NULL) learns(same);
  lagtape_model_free(same);
  printf("lagtape %s: layers and streams in C, %d failures\n", lagtape_version(), failures);
  return failures == 0 ? 0 : 1;
}
