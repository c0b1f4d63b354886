/* Runs a model that is in memory (`lagtape export RUN --to blob`) over 100 zeros: BLOB. */

#include <lagtape/blob_stream.h>
#include <stdio.h>
#include <stdlib.h>

int main(int count, char** arguments) {
  static int model[1 << 20]; /* aligned, and large enough for this example */
  static float in[1024], out[1024];
  FILE* file = count == 2 ? fopen(arguments[1], "rb") : NULL;
  if (file == NULL) return 2;
  const size_t bytes = fread(model, 1, sizeof model, file);
  fclose(file);

  const size_t memory = lagtape_blob_memory(model, bytes);
  if (memory == 0 || lagtape_blob_inputs(model) > 1024 || lagtape_blob_outputs(model) > 1024) return 2;
  void* stream = malloc(memory);
  lagtape_blob_begin(stream, model);
  for (int n = 0; n < 100; ++n) lagtape_blob_step(stream, in, out);
  printf("%.9g\n", out[0]);
  free(stream);
  return 0;
}
