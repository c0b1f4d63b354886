"""lagtape's threads beside those of PyTorch's OpenMP. Needs torch, which tools/setup.sh does not install."""

import pathlib
import subprocess
import sys

import pytest

pytest.importorskip("torch", reason="not run: torch is missing")


def threads_after_work_of_pytorch():
    """Numbers of threads: after work that PyTorch shares among four, and when a forward and a backward pass have followed it."""
    code = """
import os, torch
from lagtape.torch import Recurrence
torch.set_num_threads(4)
recurrence = Recurrence("gru", 2, units=5, threads=1)
x = torch.randn(3, 4, 2)
def count(work):
    torch.randn(1000, 1000).exp()
    work()
    return len(os.listdir("/proc/self/task"))
y = recurrence(x)[0].sum()
print(count(lambda: None), count(lambda: recurrence(x)), count(y.backward))
assert torch.randn(1000, 1000).exp().isfinite().all()
"""
    return [int(n) for n in subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout.split()]


@pytest.mark.slow
def test_no_thread_of_openmp_waits_while_a_recurrence_runs():
    if "libgomp" not in pathlib.Path("/proc/self/maps").read_text():
        pytest.skip("not run: PyTorch has another OpenMP here than GCC's")
    waiting, *during = threads_after_work_of_pytorch()
    assert len(during) == 2 and max(during) <= waiting - 3, (waiting, during)


@pytest.mark.slow
def test_a_forked_process_waits_for_no_thread_of_its_parent():
    code = """
import os, signal, torch
from lagtape.torch import Recurrence
torch.set_num_threads(4)
recurrence = Recurrence("gru", 2, units=5, threads=1)
x = torch.randn(3, 4, 2)
torch.randn(1000, 1000).exp()
child = os.fork()
if child == 0:
    signal.alarm(20)
    recurrence(x)[0].sum().backward()
    os._exit(7)
raise SystemExit(os.waitpid(child, 0)[1] != 7 << 8)
"""
    assert subprocess.run([sys.executable, "-c", code]).returncode == 0
