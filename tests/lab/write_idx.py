"""Small folders of digits in MNIST's form, made by the tests."""

import gzip

import torch

PARTS = {"train": 40, "t10k": 20}


def idx(numbers):
    """Return a tensor of bytes as an IDX file."""
    head = bytes([0, 0, 8, numbers.dim()]) + b"".join(size.to_bytes(4, "big") for size in numbers.shape)
    return head + numbers.numpy().tobytes()


def files(train=PARTS["train"], test=PARTS["t10k"], seed=0):
    """Return name → content: a label is where a bright square lies, so that there is something to learn."""
    random = torch.Generator().manual_seed(seed)
    found = {}
    for part, count in (("train", train), ("t10k", test)):
        labels = torch.randint(0, 10, (count,), generator=random, dtype=torch.uint8)
        images = torch.randint(0, 60, (count, 28, 28), generator=random, dtype=torch.uint8)
        for image, label in zip(images, labels.tolist(), strict=True):
            row, column = 2 + 13 * (label // 5), 2 + 5 * (label % 5)
            image[row : row + 10, column : column + 4] = 250
        found[f"{part}-images-idx3-ubyte"] = idx(images)
        found[f"{part}-labels-idx1-ubyte"] = idx(labels)
    return found


def write_folder(folder, packed=False, **sizes):
    """Write such a folder, gzipped or not, and return it."""
    folder.mkdir(parents=True, exist_ok=True)
    for name, content in files(**sizes).items():
        path = folder / (f"{name}.gz" if packed else name)
        path.write_bytes(gzip.compress(content) if packed else content)
    return folder
