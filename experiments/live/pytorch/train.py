#!/usr/bin/env python3
"""Small training jobs in PyTorch on synthetic data, for co-runs on a GPU box with PyTorch.

    train.py MODEL [--steps N] [--batch B] [--seed S] [--device cuda] [--report-every N]
    train.py --list

A job makes a fixed number of steps, so that its time alone and in co-runs can be compared. Nothing is
downloaded: inputs are random numbers, made before the first step. It prints the lines of `corun live
workload` (docs/live-workloads.md). Exit code 3 without PyTorch or without a GPU, 1 if it runs out of memory
or its loss is not finite.

To add a model, write a function that returns (module, make_batch, loss) and add a line to MODELS.
"""

import argparse
import json
import math
import sys
import time

try:
    import torch
    from torch import nn
except ImportError as error:
    print(f"train.py: PyTorch cannot be imported ({error}); built-in jobs need none: "
          "corun live workload --list", file=sys.stderr)
    sys.exit(3)


def classes(batch, count, device):
    return torch.randint(count, (batch,), device=device)


def vgg():
    """Compute-bound: a plain stack of convolutions."""
    layers, channels = [], 3
    for width in (64, 128, 256, 256):
        layers += [nn.Conv2d(channels, width, 3, padding=1), nn.ReLU(),
                   nn.Conv2d(width, width, 3, padding=1), nn.ReLU(), nn.MaxPool2d(2)]
        channels = width
    layers += [nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(channels, 100)]
    return (nn.Sequential(*layers),
            lambda n, device: (torch.randn(n, 3, 64, 64, device=device), classes(n, 100, device)),
            nn.functional.cross_entropy)


class Residual(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.body = nn.Sequential(
            nn.Conv2d(width, width, 3, padding=1, bias=False), nn.BatchNorm2d(width), nn.ReLU(),
            nn.Conv2d(width, width, 3, padding=1, bias=False), nn.BatchNorm2d(width))

    def forward(self, x):
        return torch.relu(x + self.body(x))


def resnet():
    """Compute-bound with memory-bound parts: convolutions and batch normalisation."""
    module = nn.Sequential(nn.Conv2d(3, 128, 3, padding=1), *(Residual(128) for _ in range(6)),
                           nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(128, 100))
    return (module,
            lambda n, device: (torch.randn(n, 3, 32, 32, device=device), classes(n, 100, device)),
            nn.functional.cross_entropy)


class Sequence(nn.Module):
    """Classifies sequences of words."""

    def __init__(self, body, words, width):
        super().__init__()
        self.words = nn.Embedding(words, width)
        self.body = body
        self.out = nn.Linear(width, 100)

    def forward(self, x):
        y = self.body(self.words(x))
        return self.out((y[0] if isinstance(y, tuple) else y).mean(1))


def words(n, device):
    return torch.randint(8192, (n, 64), device=device), classes(n, 100, device)


def transformer():
    """Mixed: matrix products and element-wise work in turn."""
    layer = nn.TransformerEncoderLayer(512, 8, 2048, batch_first=True)
    return (Sequence(nn.TransformerEncoder(layer, 4), 8192, 512), words,
            nn.functional.cross_entropy)


def lstm():
    """Launch-bound: one small product after the other."""
    return (Sequence(nn.LSTM(256, 256, 2, batch_first=True), 8192, 256), words,
            nn.functional.cross_entropy)


def mlp():
    """Compute-bound: wide dense layers."""
    width = 4096
    module = nn.Sequential(nn.Linear(width, width), nn.ReLU(), nn.Linear(width, width), nn.ReLU(),
                           nn.Linear(width, 100))
    return (module,
            lambda n, device: (torch.randn(n, width, device=device), classes(n, 100, device)),
            nn.functional.cross_entropy)


class Recommender(nn.Module):
    def __init__(self):
        super().__init__()
        self.tables = nn.ModuleList(nn.EmbeddingBag(1_000_000, 64) for _ in range(4))
        self.top = nn.Sequential(nn.Linear(256, 256), nn.ReLU(), nn.Linear(256, 1))

    def forward(self, x):
        return self.top(torch.cat([table(x) for table in self.tables], 1)).squeeze(1)


def recommender():
    """Memory-bound: large embedding tables, all of which the optimiser updates."""
    return (Recommender(),
            lambda n, device: (torch.randint(1_000_000, (n, 32), device=device),
                               torch.randn(n, device=device)),
            nn.functional.mse_loss)


def autoencoder():
    """Memory-bound: element-wise work on large activations."""
    layers = []
    for before, after in ((1, 16), (16, 16), (16, 16), (16, 1)):
        layers += [nn.Conv2d(before, after, 1), nn.GELU(), nn.Dropout(0.1)]

    def batch(n, device):
        image = torch.randn(n, 1, 256, 256, device=device)
        return image, image

    return nn.Sequential(*layers), batch, nn.functional.mse_loss


def policy():
    """Launch-bound with host work: a small net, as of reinforcement learning. See HOST_MS."""
    module = nn.Sequential(nn.Linear(64, 128), nn.Tanh(), nn.Linear(128, 128), nn.Tanh(),
                           nn.Linear(128, 8))
    return (module, lambda n, device: (torch.randn(n, 64, device=device), classes(n, 8, device)),
            nn.functional.cross_entropy)


# name: (function, default batch, default steps)
MODELS = {
    "vgg": (vgg, 128, 100),
    "resnet": (resnet, 128, 100),
    "transformer": (transformer, 64, 120),
    "lstm": (lstm, 64, 400),
    "mlp": (mlp, 512, 400),
    "recommender": (recommender, 4096, 150),
    "autoencoder": (autoencoder, 64, 150),
    "policy": (policy, 256, 2000),
}
# Busy time of the host after each step [ms]: the environment of a reinforcement-learning agent.
HOST_MS = {"policy": 2.0}


def whole(text):
    value = int(text)
    if value < 1:
        raise argparse.ArgumentTypeError(f"found {text}, expected a whole number from 1")
    return value


def say(**fields):
    print(json.dumps(fields), flush=True)


def train(arguments):
    make, default_batch, default_steps = MODELS[arguments.model]
    steps = arguments.steps or default_steps
    report_every = arguments.report_every or max(1, steps // 10)
    device = torch.device(arguments.device)
    torch.manual_seed(arguments.seed)
    module, make_batch, loss_of = make()
    module.to(device)
    optimiser = torch.optim.Adam(module.parameters())
    batches = [make_batch(arguments.batch or default_batch, device) for _ in range(4)]
    gpu = torch.cuda.get_device_name(device) if device.type == "cuda" else "processor"
    say(event="start", workload=arguments.model, gpu=gpu, gemm="torch " + torch.__version__,
        seed=arguments.seed, steps=steps)
    host_s = HOST_MS.get(arguments.model, 0) / 1000
    start = warm = time.perf_counter()
    warm_steps = max(1, steps // 10)
    for step in range(1, steps + 1):
        inputs, targets = batches[step % len(batches)]
        optimiser.zero_grad(set_to_none=True)
        loss = loss_of(module(inputs), targets)
        loss.backward()
        optimiser.step()
        value = loss.item()  # waits for the GPU
        until = time.perf_counter() + host_s
        while time.perf_counter() < until:
            pass
        seconds = time.perf_counter() - start
        if step == warm_steps:
            warm = start + seconds
        if step % report_every == 0 or step == steps:
            say(event="step", step=step, of=steps, seconds=seconds, loss=value)
    steady = (steps - warm_steps) / (start + seconds - warm) if steps > warm_steps else None
    say(event="end", steps=steps, seconds=seconds, steps_per_s=steps / seconds,
        steady_steps_per_s=steady, loss=value)
    if not math.isfinite(value):
        print("train.py: the loss is not a number", file=sys.stderr)
        return 1
    return 0


def main():
    parser = argparse.ArgumentParser(description="A small training job on synthetic data.")
    parser.add_argument("model", nargs="?", choices=sorted(MODELS))
    parser.add_argument("--list", action="store_true", help="print the models")
    parser.add_argument("--steps", type=whole)
    parser.add_argument("--batch", type=whole)
    parser.add_argument("--report-every", type=whole)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--device", choices=("cuda", "cpu"), default="cuda")
    arguments = parser.parse_args()
    if arguments.list:
        for name, (make, batch, steps) in MODELS.items():
            print(f"{name:<12} batch {batch:<5} steps {steps:<5} {make.__doc__}")
        return 0
    if arguments.model is None:
        parser.error("no model named; --list shows them")
    if arguments.device == "cuda" and not torch.cuda.is_available():
        print("train.py: no usable GPU; see corun live probe", file=sys.stderr)
        return 3
    try:
        return train(arguments)
    except RuntimeError as error:  # PyTorch's out-of-memory error is one
        if "out of memory" not in str(error):
            raise
        print(str(error).splitlines()[0], file=sys.stderr)
        return 1


if __name__ == "__main__":
    sys.exit(main())
