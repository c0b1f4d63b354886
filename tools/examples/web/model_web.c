/* An exported model as a WebAssembly module: model.c beside its places for the numbers of a step. */
#include "model.c"

static model_state state;
static float in[model_INPUTS], out[model_OUTPUTS];

int model_inputs(void) { return model_INPUTS; }
int model_outputs(void) { return model_OUTPUTS; }
float *model_in(void) { return in; }
float *model_out(void) { return out; }
void model_begin(void) { model_reset(&state); }
void model_run(void) { model_step(&state, in, out); }
