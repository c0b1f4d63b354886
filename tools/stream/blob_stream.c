#include "blob_stream.h"

#include <math.h>
#include <stdint.h>
#include <string.h>

/* What the words of a model are; tools/exchange/export/plain/blob_file.cpp writes them. */
enum {
  MAGIC,
  WORDS,
  INPUTS,
  OUTPUTS,
  LAYERS,
  READOUT,
  MEAN,
  TOKENS,
  TABLE,
  IN_SCALING,
  OUT_SCALING,
  FIRST_LAYER
};
enum { VALUES, STATES, MATRICES, OUTPUT, INPUT, FIRST_VALUE };
enum { OP, FUNCTION, WIDTH, A, B, INDEX, LAG, DATA, AXES, STRIDES = 12, VALUE_WORDS = 16 };
enum { STATE_WIDTH, HISTORY, NEXT, START, STATE_WORDS };
enum { ROWS, COLUMNS, NUMBERS, MATRIX_WORDS };
enum {
  FIXED,
  IN,
  PAST,
  LAGGED,
  PRODUCT,
  ELEMENT,
  SUM,
  REPEAT,
  ALIAS,
  CONCATENATE,
  SLICE,
  VIEW,
  STEP_INDEX,
  OPS
};
enum {
  NEGATE,
  TANH,
  SIGMOID,
  SOFTPLUS,
  RELU,
  EXP,
  LOG,
  SQRT,
  ABS,
  SIN,
  COS,
  SIGN,
  FLOOR,
  ADD,
  SUBTRACT,
  MULTIPLY,
  DIVIDE,
  MINIMUM,
  MAXIMUM,
  WHERE_POSITIVE,
  ERF,
  ATAN,
  SURROGATE,
  FUNCTIONS
};
enum { LARGEST = 1 << 24 };

/* The memory of a stream: this, a pointer for each value of the largest layer, the states of the layers, and room for a step. */
typedef struct {
  const int32_t* model;
  int64_t steps;
  int32_t pointers, numbers,
      ends; /* how many pointers, floats of the states, and floats of a layer's input or output */
} Stream;

typedef struct {
  const int32_t *model, *words; /* of the whole, and of the layer */
  const int32_t *values, *states, *matrices;
} Layer;

static Layer layer_of(const int32_t* model, int number) {
  Layer layer;
  layer.model = model;
  layer.words = model + model[FIRST_LAYER + number];
  layer.values = layer.words + FIRST_VALUE;
  layer.states = layer.values + VALUE_WORDS * layer.words[VALUES];
  layer.matrices = layer.states + STATE_WORDS * layer.words[STATES];
  return layer;
}

static const float* numbers_at(const int32_t* model, int32_t place) {
  return (const float*)(const void*)(model + place);
}

static int layers_of(const int32_t* model) { return model[LAYERS] + model[READOUT]; }

static int width_of(const Layer* layer, int value) { return layer->values[VALUE_WORDS * value + WIDTH]; }

static int top_width(const int32_t* model) {
  const Layer top = layer_of(model, model[LAYERS] - 1);
  return width_of(&top, top.words[OUTPUT]);
}

/* ---- Is this a whole model? ---- */

static int is_place(const int32_t* model, int64_t place, int64_t count) {
  return place > 0 && count >= 0 && place + count <= model[WORDS];
}

static int is_view(const int32_t* value, int64_t from) {
  int64_t low = value[INDEX], high = value[INDEX], count = 1;
  for (int k = 0; k < 4; ++k) {
    const int64_t axis = value[AXES + k], reach = (axis - 1) * value[STRIDES + k];
    if (axis < 1 || axis > LARGEST) return 0;
    count *= axis;
    if (count > LARGEST) return 0;
    *(reach < 0 ? &low : &high) += reach;
  }
  return count == value[WIDTH] && low >= 0 && high < from;
}

static int is_past(const Layer* layer, const int32_t* value) {
  if (value[INDEX] < 0 || value[INDEX] >= layer->words[STATES]) return 0;
  const int32_t* state = layer->states + STATE_WORDS * value[INDEX];
  return value[WIDTH] == state[STATE_WIDTH] && value[LAG] >= 0 && value[LAG] <= state[HISTORY];
}

static int is_product(const Layer* layer, const int32_t* value, int64_t from) {
  if (value[INDEX] < 0 || value[INDEX] >= layer->words[MATRICES]) return 0;
  const int32_t* matrix = layer->matrices + MATRIX_WORDS * value[INDEX];
  const int64_t rows = matrix[ROWS], columns = matrix[COLUMNS];
  if (rows < 1 || columns < 1 || rows > LARGEST || columns > LARGEST || from % columns != 0) return 0;
  return is_place(layer->model, matrix[NUMBERS], rows * columns) && value[WIDTH] == rows * (from / columns);
}

static int is_value(const Layer* layer, int number) {
  const int32_t* value = layer->values + VALUE_WORDS * number;
  const int32_t op = value[OP], width = value[WIDTH];
  const int operands = op == CONCATENATE || (op == ELEMENT && value[B] >= 0) ? 2
                       : op <= PAST || op == STEP_INDEX                      ? 0
                                                                             : 1;
  int64_t a = 0, b = 0;
  if (op < 0 || op >= OPS || width < 1 || width > LARGEST) return 0;
  if (operands > 0 ? value[A] < 0 || value[A] >= number : value[A] != -1) return 0;
  if (operands > 1 ? value[B] < 0 || value[B] >= number : value[B] != -1) return 0;
  if (operands > 0) a = width_of(layer, value[A]);
  if (operands > 1) b = width_of(layer, value[B]);
  switch (op) {
    case FIXED: return is_place(layer->model, value[DATA], width);
    case IN: return width == layer->words[INPUT];
    case PAST: return is_past(layer, value);
    case LAGGED: return is_past(layer, value) && value[LAG] >= 1 && (a == 1 || a == width);
    case PRODUCT: return is_product(layer, value, a);
    case ELEMENT: {
      const int two = value[FUNCTION] >= ADD && value[FUNCTION] != ERF && value[FUNCTION] != ATAN;
      return value[FUNCTION] >= 0 && value[FUNCTION] < FUNCTIONS && operands == 1 + two &&
             (a == 1 || a == width) && (operands == 1 || b == 1 || b == width);
    }
    case SUM: return a % width == 0;
    case REPEAT: return width % a == 0;
    case ALIAS: return a == width;
    case CONCATENATE: return a + b == width;
    case SLICE: return value[INDEX] >= 0 && (int64_t)value[INDEX] + width <= a;
    case VIEW: return is_view(value, a);
    default: return value[LAG] >= 0;
  }
}

/* The layer's output width; 0 where it is none. */
static int32_t checked_layer(const int32_t* model, int number, int32_t input) {
  const int64_t place = model[FIRST_LAYER + number];
  if (!is_place(model, place, FIRST_VALUE)) return 0;
  const int32_t* words = model + place;
  const int64_t values = words[VALUES], states = words[STATES], matrices = words[MATRICES];
  if (values < 1 || states < 0 || matrices < 0 || values > LARGEST || states > LARGEST || matrices > LARGEST)
    return 0;
  if (!is_place(model, place,
                FIRST_VALUE + VALUE_WORDS * values + STATE_WORDS * states + MATRIX_WORDS * matrices))
    return 0;
  if (words[INPUT] != input || words[OUTPUT] < 0 || words[OUTPUT] >= values) return 0;
  const Layer layer = layer_of(model, number);
  for (int s = 0; s < states; ++s) {
    const int32_t* state = layer.states + STATE_WORDS * s;
    const int64_t width = state[STATE_WIDTH], past = state[HISTORY];
    if (width < 1 || width > LARGEST || past < 0 || past > LARGEST || width * (past + 1) > LARGEST) return 0;
    if (state[NEXT] < 0 || state[NEXT] >= values) return 0;
    if (state[START] != 0 && !is_place(model, state[START], width * (past + 1))) return 0;
  }
  for (int v = 0; v < values; ++v)
    if (!is_value(&layer, v)) return 0;
  for (int s = 0; s < states; ++s)
    if (width_of(&layer, layer.states[STATE_WORDS * s + NEXT]) != layer.states[STATE_WORDS * s + STATE_WIDTH])
      return 0;
  return width_of(&layer, words[OUTPUT]);
}

static int is_whole(const int32_t* model, size_t bytes) {
  if (bytes < 4 * (FIRST_LAYER + 1) || bytes % 4 != 0 || model[MAGIC] != 0x3153544c) return 0;
  if (model[WORDS] < 0 || (size_t)model[WORDS] != bytes / 4) return 0;
  if (model[LAYERS] < 1 || model[LAYERS] > LARGEST || model[READOUT] < 0 || model[READOUT] > 1) return 0;
  if (model[INPUTS] < 1 || model[INPUTS] > LARGEST || model[TOKENS] < 0 || model[TOKENS] > LARGEST) return 0;
  if (!is_place(model, FIRST_LAYER, layers_of(model))) return 0;
  int32_t width = model[INPUTS];
  if (model[TOKENS] > 0) {
    const int32_t place = model[FIRST_LAYER];
    if (model[INPUTS] != 1 || !is_place(model, place, FIRST_VALUE)) return 0;
    width = model[place + INPUT];
    if (width < 1 || width > LARGEST || !is_place(model, model[TABLE], (int64_t)width * model[TOKENS]))
      return 0;
  } else if (model[IN_SCALING] != 0 && !is_place(model, model[IN_SCALING], 3 * (int64_t)width)) {
    return 0;
  }
  for (int l = 0; l < layers_of(model); ++l) {
    width = checked_layer(model, l, width);
    if (width == 0) return 0;
  }
  if (model[OUT_SCALING] != 0 && !is_place(model, model[OUT_SCALING], 3 * (int64_t)width)) return 0;
  return width == model[OUTPUTS];
}

/* ---- Memory ---- */

/* The place of a state's present value, then its values, as floats. */
static int64_t state_numbers(const int32_t* state) {
  return 1 + (int64_t)state[STATE_WIDTH] * (state[HISTORY] + 1);
}

static int is_computed(int32_t op) { return op == LAGGED || (op >= PRODUCT && op != ALIAS && op != SLICE); }

static int64_t larger(int64_t a, int64_t b) { return a > b ? a : b; }

typedef struct {
  int64_t pointers, states, step, ends; /* `ends`: the widest input or output of a layer */
} Needs;

static Needs needs_of(const int32_t* model) {
  Needs needs = {0, 0, 0, 0};
  for (int l = 0; l < layers_of(model); ++l) {
    const Layer layer = layer_of(model, l);
    int64_t step = 0;
    for (int v = 0; v < layer.words[VALUES]; ++v)
      if (is_computed(layer.values[VALUE_WORDS * v + OP])) step += width_of(&layer, v);
    for (int s = 0; s < layer.words[STATES]; ++s) {
      needs.states += state_numbers(layer.states + STATE_WORDS * s);
      step += layer.states[STATE_WORDS * s + STATE_WIDTH];
    }
    needs.step = larger(needs.step, step);
    needs.pointers = larger(needs.pointers, layer.words[VALUES]);
    needs.ends = larger(needs.ends, larger(layer.words[INPUT], width_of(&layer, layer.words[OUTPUT])));
  }
  if (model[MEAN]) needs.states += top_width(model);
  return needs;
}

size_t lagtape_blob_memory(const void* model, size_t bytes) {
  if (!is_whole((const int32_t*)model, bytes)) return 0;
  const Needs needs = needs_of((const int32_t*)model);
  const int64_t numbers = needs.states + needs.step + 2 * needs.ends;
  if (numbers > 16 * (int64_t)LARGEST) return 0;
  return sizeof(Stream) + (size_t)needs.pointers * sizeof(float*) + (size_t)numbers * sizeof(float);
}

int lagtape_blob_inputs(const void* model) { return (int)((const int32_t*)model)[INPUTS]; }
int lagtape_blob_outputs(const void* model) { return (int)((const int32_t*)model)[OUTPUTS]; }

static float* first_number(Stream* stream) {
  return (float*)(void*)((const float**)(void*)(stream + 1) + stream->pointers);
}

void lagtape_blob_begin(void* stream, const void* model) {
  Stream* self = (Stream*)stream;
  const Needs needs = needs_of((const int32_t*)model);
  self->model = (const int32_t*)model;
  self->pointers = (int32_t)needs.pointers;
  self->numbers = (int32_t)needs.states;
  self->ends = (int32_t)needs.ends;
  lagtape_blob_reset(stream);
}

void lagtape_blob_reset(void* stream) {
  Stream* self = (Stream*)stream;
  float* numbers = first_number(self);
  self->steps = 0;
  memset(numbers, 0, (size_t)self->numbers * sizeof(float));
  for (int l = 0; l < layers_of(self->model); ++l) {
    const Layer layer = layer_of(self->model, l);
    for (int s = 0; s < layer.words[STATES]; ++s) {
      const int32_t* state = layer.states + STATE_WORDS * s;
      const size_t width = (size_t)state[STATE_WIDTH], past = (size_t)state[HISTORY];
      /* The present value comes last in the model, and is at the place 0 of the ring. */
      if (state[START] != 0) {
        const float* start = numbers_at(self->model, state[START]);
        memcpy(numbers + 1, start + past * width, width * sizeof(float));
        memcpy(numbers + 1 + width, start, past * width * sizeof(float));
      }
      numbers += state_numbers(state);
    }
  }
}

/* ---- A step ---- */

static float function_of(int32_t f, float a, float b) {
  switch (f) {
    case NEGATE: return -a;
    case TANH: return tanhf(a);
    case SIGMOID: return 1.0f / (1.0f + expf(-a));
    case SOFTPLUS: return (a > 0 ? a : 0) + log1pf(expf(-fabsf(a)));
    case RELU: return a > 0 ? a : 0;
    case EXP: return expf(a);
    case LOG: return logf(a);
    case SQRT: return sqrtf(a);
    case ABS: return fabsf(a);
    case SIN: return sinf(a);
    case COS: return cosf(a);
    case SIGN: return (float)((a > 0) - (a < 0));
    case FLOOR: return floorf(a);
    case ADD: return a + b;
    case SUBTRACT: return a - b;
    case MULTIPLY: return a * b;
    case DIVIDE: return a / b;
    case MINIMUM: return a < b ? a : b;
    case MAXIMUM: return a > b ? a : b;
    case WHERE_POSITIVE: return b > 0 ? a : 0;
    case ERF: return erff(a);
    case ATAN: return atanf(a);
    default: return a;
  }
}

/* The commonest functions have loops of their own, which compilers turn into vectors. */
static void compute_elements(int32_t f, float* to, const float* a, int step_a, const float* b, int step_b,
                             int width) {
  if (step_a == 1 && step_b == 1 && f == ADD) {
    for (int i = 0; i < width; ++i) to[i] = a[i] + b[i];
  } else if (step_a == 1 && step_b == 1 && f == MULTIPLY) {
    for (int i = 0; i < width; ++i) to[i] = a[i] * b[i];
  } else {
    for (int i = 0; i < width; ++i) to[i] = function_of(f, a[i * step_a], b[i * step_b]);
  }
}

static void multiply(float* to, const float* matrix, int rows, int columns, const float* from, int width) {
  for (int i = 0; i < width; ++i) {
    const float *w = matrix + (int64_t)columns * (i % rows), *x = from + (int64_t)columns * (i / rows);
    float part[8] = {0, 0, 0, 0, 0, 0, 0, 0};
    int j = 0;
    for (; j + 8 <= columns; j += 8)
      for (int k = 0; k < 8; ++k) part[k] += w[j + k] * x[j + k];
    float sum = ((part[0] + part[4]) + (part[2] + part[6])) + ((part[1] + part[5]) + (part[3] + part[7]));
    for (; j < columns; ++j) sum += w[j] * x[j];
    to[i] = sum;
  }
}

/* A state's values: numbers[0] is the place of the present one in the ring that follows. */
static const float* past_of(const float* numbers, const int32_t* state, int64_t lag) {
  const int64_t length = (int64_t)state[HISTORY] + 1;
  return numbers + 1 + state[STATE_WIDTH] * (((int64_t)numbers[0] + length - lag) % length);
}

static void interpolate(float* to, const float* numbers, const int32_t* state, const int32_t* value,
                        const float* tau, int step) {
  for (int i = 0; i < value[WIDTH]; ++i) {
    float lag = tau[i * step];
    if (!(lag >= 1)) lag = 1;
    if (lag > (float)value[LAG]) lag = (float)value[LAG];
    const int near_lag = (int)lag, far_lag = near_lag < value[LAG] ? near_lag + 1 : near_lag;
    const float part = lag - (float)near_lag;
    to[i] = (1 - part) * past_of(numbers, state, near_lag)[i] + part * past_of(numbers, state, far_lag)[i];
  }
}

static void view(float* to, const float* from, const int32_t* value) {
  for (int i = 0; i < value[WIDTH]; ++i) {
    int64_t place = value[INDEX];
    int rest = i;
    for (int k = 3; k >= 0; rest /= value[AXES + k], --k)
      place += (int64_t)(rest % value[AXES + k]) * value[STRIDES + k];
    to[i] = from[place];
  }
}

static void compute(const Layer* layer, const int32_t* value, const float** pointers, float* numbers,
                    int64_t steps, float* to) {
  const int width = value[WIDTH];
  const int width_a = value[A] >= 0 ? width_of(layer, value[A]) : 0,
            width_b = value[B] >= 0 ? width_of(layer, value[B]) : 0;
  const float *a = value[A] >= 0 ? pointers[value[A]] : NULL, *b = value[B] >= 0 ? pointers[value[B]] : a;
  const int step_a = width_a == width, step_b = value[B] >= 0 ? width_b == width : step_a;
  switch (value[OP]) {
    case LAGGED: {
      for (int s = 0; s < value[INDEX]; ++s) numbers += state_numbers(layer->states + STATE_WORDS * s);
      interpolate(to, numbers, layer->states + STATE_WORDS * value[INDEX], value, a, step_a);
      break;
    }
    case PRODUCT: {
      const int32_t* matrix = layer->matrices + MATRIX_WORDS * value[INDEX];
      multiply(to, numbers_at(layer->model, matrix[NUMBERS]), matrix[ROWS], matrix[COLUMNS], a, width);
      break;
    }
    case ELEMENT: compute_elements(value[FUNCTION], to, a, step_a, b, step_b, width); break;
    case SUM:
      for (int i = 0; i < width; ++i) {
        to[i] = 0;
        for (int j = 0; j < width_a / width; ++j) to[i] += a[(int64_t)i * (width_a / width) + j];
      }
      break;
    case REPEAT:
      for (int i = 0; i < width; ++i) to[i] = a[i / (width / width_a)];
      break;
    case CONCATENATE:
      memcpy(to, a, (size_t)width_a * sizeof(float));
      memcpy(to + width_a, b, (size_t)width_b * sizeof(float));
      break;
    case VIEW: view(to, a, value); break;
    default:
      for (int i = 0; i < width; ++i) to[i] = (float)(value[LAG] > 1 ? steps / value[LAG] : steps);
  }
}

/* Runs a layer from `in` to `out`, and moves its states on. `numbers` begins with its states, `room` is free. */
static float* run_layer(const Layer* layer, const float** pointers, float* numbers, float* room,
                        int64_t steps, const float* in, float* out) {
  for (int v = 0; v < layer->words[VALUES]; ++v) {
    const int32_t* value = layer->values + VALUE_WORDS * v;
    float* state = numbers;
    if (value[OP] == PAST)
      for (int s = 0; s < value[INDEX]; ++s) state += state_numbers(layer->states + STATE_WORDS * s);
    switch (value[OP]) {
      case FIXED: pointers[v] = numbers_at(layer->model, value[DATA]); break;
      case IN: pointers[v] = in; break;
      case PAST: pointers[v] = past_of(state, layer->states + STATE_WORDS * value[INDEX], value[LAG]); break;
      case ALIAS: pointers[v] = pointers[value[A]]; break;
      case SLICE: pointers[v] = pointers[value[A]] + value[INDEX]; break;
      default:
        compute(layer, value, pointers, numbers, steps, room);
        pointers[v] = room;
        room += value[WIDTH];
    }
  }
  memcpy(out, pointers[layer->words[OUTPUT]], (size_t)width_of(layer, layer->words[OUTPUT]) * sizeof(float));
  /* All next values are copied before a state that one of them may be is overwritten. */
  float* next = room;
  for (int s = 0; s < layer->words[STATES]; ++s) {
    const int32_t* state = layer->states + STATE_WORDS * s;
    memcpy(next, pointers[state[NEXT]], (size_t)state[STATE_WIDTH] * sizeof(float));
    next += state[STATE_WIDTH];
  }
  for (int s = 0; s < layer->words[STATES]; ++s) {
    const int32_t* state = layer->states + STATE_WORDS * s;
    numbers[0] = (float)(((int64_t)numbers[0] + 1) % ((int64_t)state[HISTORY] + 1));
    memcpy(numbers + 1 + state[STATE_WIDTH] * (int64_t)numbers[0], room,
           (size_t)state[STATE_WIDTH] * sizeof(float));
    room += state[STATE_WIDTH];
    numbers += state_numbers(state);
  }
  return numbers;
}

static void read_input(const int32_t* model, const float* in, float* x, int width) {
  if (model[TOKENS] > 0) {
    const int known = in[0] >= 0 && in[0] < (float)model[TOKENS];
    const float* row = numbers_at(model, model[TABLE]) + (known ? (int64_t)in[0] * width : 0);
    for (int i = 0; i < width; ++i) x[i] = known ? row[i] : NAN;
    return;
  }
  memcpy(x, in, (size_t)width * sizeof(float));
  if (model[IN_SCALING] == 0) return;
  const float* scaling = numbers_at(model, model[IN_SCALING]);
  for (int i = 0; i < width; ++i) x[i] = ((x[i] - scaling[i]) - scaling[width + i]) / scaling[2 * width + i];
}

void lagtape_blob_step(void* stream, const float* in, float* out) {
  Stream* self = (Stream*)stream;
  const int32_t* model = self->model;
  const float** pointers = (const float**)(void*)(self + 1);
  float *numbers = first_number(self), *room = numbers + self->numbers, *sum = room;
  const Layer first = layer_of(model, 0);
  const int inputs = first.words[INPUT], outputs = model[OUTPUTS];
  float *x = room, *y = room + self->ends;
  room += 2 * (int64_t)self->ends;
  if (model[MEAN]) sum -= top_width(model);
  read_input(model, in, x, inputs);
  for (int l = 0; l < layers_of(model); ++l) {
    const Layer layer = layer_of(model, l);
    numbers = run_layer(&layer, pointers, numbers, room, self->steps, x, y);
    float* given = y;
    y = x;
    x = given;
    if (!model[MEAN] || l + 1 != model[LAYERS]) continue;
    for (int i = 0; i < top_width(model); ++i) {
      sum[i] += x[i];
      x[i] = sum[i] / (float)(self->steps + 1);
    }
  }
  memcpy(out, x, (size_t)outputs * sizeof(float));
  ++self->steps;
  if (model[OUT_SCALING] == 0) return;
  const float* scaling = numbers_at(model, model[OUT_SCALING]);
  for (int i = 0; i < outputs; ++i)
    out[i] = (out[i] * scaling[2 * outputs + i] + scaling[outputs + i]) + scaling[i];
}
