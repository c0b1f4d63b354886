#ifndef LAGTAPE_BLOB_STREAM_H
#define LAGTAPE_BLOB_STREAM_H

/* Runs a model that `lagtape export RUN --to blob --output model.blob` wrote, one step at a time, out of memory that the caller
   owns: no allocation, no file, no other library than math.h. C99, and C++11 and later. The bytes of the model must be aligned to 4,
   and stay where they are while a stream runs.

     size_t bytes = lagtape_blob_memory(model, model_bytes);       0: this is no whole model
     void *stream = malloc(bytes);
     lagtape_blob_begin(stream, model);
     lagtape_blob_step(stream, in, out);                           for each step, in the units of the data

   Numbers are floats, and the machine is little-endian. */

#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Bytes of memory, aligned to 8, that a stream of this model needs; 0 where the bytes are no whole model. It looks at all of it, so
   that damaged bytes are found here and the other functions need not look. */
size_t lagtape_blob_memory(const void* model, size_t bytes);
/* How many numbers a step takes and gives. */
int lagtape_blob_inputs(const void* model);
int lagtape_blob_outputs(const void* model);
/* Before the first step, and back to there. */
void lagtape_blob_begin(void* stream, const void* model);
void lagtape_blob_reset(void* stream);
void lagtape_blob_step(void* stream, const float* in, float* out);

#ifdef __cplusplus
}
#endif

#endif
