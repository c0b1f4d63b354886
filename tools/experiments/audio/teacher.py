"""Makes a pair of recordings for the audio task, the second with a model: dry.wav and wet.wav.

    python3 tools/experiments/audio/teacher.py LAGTAPE RUN FOLDER [SECONDS]

dry.wav is a random sequence of plucked notes (120 in 30 seconds, with 12 decaying harmonics). wet.wav is what `lagtape
predict` makes of it with the run, such as an imported amplifier model. Both are 48 kHz and 32-bit float.
"""

import pathlib
import struct
import subprocess
import sys

try:
    import numpy as np
except ImportError as error:
    sys.exit(f"teacher.py: needs NumPy (apt-get install python3-numpy): {error}")

RATE = 48000


def notes(seconds):
    """The sound [T], within -1 and 1."""
    draw, samples = np.random.default_rng(1), int(seconds * RATE)
    sound, t = np.zeros(samples), np.arange(2 * RATE) / RATE
    for _ in range(max(1, int(4 * seconds))):
        first = int(draw.integers(0, max(1, samples - 1000)))
        hertz, loudness = 82.4 * 2 ** (draw.integers(0, 36) / 12), 10 ** draw.uniform(-1.5, -0.3)
        note = sum(np.sin(2 * np.pi * hertz * h * t + draw.uniform(0, 6)) / h**1.3 * np.exp(-t * (1.5 + 0.7 * h))
                   for h in range(1, 13))
        steps = min(len(note), samples - first)
        sound[first:first + steps] += loudness * note[:steps]
    return np.clip(sound, -1, 1).astype(np.float32)


def write_wav(path, sound):
    data = sound.astype("<f4").tobytes()
    description = struct.pack("<HHIIHH", 3, 1, RATE, 4 * RATE, 4, 32)
    chunks = b"WAVEfmt " + struct.pack("<I", len(description)) + description + b"data" + struct.pack("<I", len(data)) + data
    path.write_bytes(b"RIFF" + struct.pack("<I", len(chunks)) + chunks)


def main():
    if len(sys.argv) not in (4, 5):
        sys.exit(__doc__)
    tool, run, folder = sys.argv[1], sys.argv[2], pathlib.Path(sys.argv[3])
    folder.mkdir(parents=True, exist_ok=True)
    sound = notes(float(sys.argv[4]) if len(sys.argv) == 5 else 30)
    np.save(folder / "dry.npy", sound[:, None])
    subprocess.run([tool, "predict", run, "--input", folder / "dry.npy", "--output", folder / "wet.npy"], check=True)
    write_wav(folder / "dry.wav", sound)
    write_wav(folder / "wet.wav", np.load(folder / "wet.npy")[:, 0])


if __name__ == "__main__":
    main()
