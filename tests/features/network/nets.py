"""Models that people have: with skips, concatenations, in-place functions, several inputs."""

import torch
import torch.nn.functional as F
from torch import nn


class LeNet(nn.Module):
    """Half of it functions, as in the tutorial."""

    def __init__(self):
        super().__init__()
        self.conv1, self.conv2 = nn.Conv2d(1, 6, 5), nn.Conv2d(6, 16, 5)
        self.fc1, self.fc2, self.fc3 = nn.Linear(400, 120), nn.Linear(120, 84), nn.Linear(84, 10)

    def forward(self, x):
        x = F.max_pool2d(F.relu(self.conv1(x)), 2)
        x = F.max_pool2d(F.relu(self.conv2(x)), 2)
        x = torch.flatten(x, 1)
        return self.fc3(F.relu(self.fc2(F.relu(self.fc1(x)))))


class Block(nn.Module):
    def __init__(self, into, out, stride=1):
        super().__init__()
        self.conv1, self.bn1 = nn.Conv2d(into, out, 3, stride, 1, bias=False), nn.BatchNorm2d(out)
        self.conv2, self.bn2 = nn.Conv2d(out, out, 3, 1, 1, bias=False), nn.BatchNorm2d(out)
        self.relu = nn.ReLU(inplace=True)
        self.downsample = None
        if stride != 1 or into != out:
            self.downsample = nn.Sequential(nn.Conv2d(into, out, 1, stride, bias=False), nn.BatchNorm2d(out))

    def forward(self, x):
        y = self.bn2(self.conv2(self.relu(self.bn1(self.conv1(x)))))
        y += x if self.downsample is None else self.downsample(x)
        return self.relu(y)


class ResNet18(nn.Module):
    """``width`` 64 is the one that people have."""

    def __init__(self, width=64, classes=10):
        super().__init__()
        w = width
        self.conv1, self.bn1 = nn.Conv2d(3, w, 7, 2, 3, bias=False), nn.BatchNorm2d(w)
        self.relu, self.maxpool = nn.ReLU(inplace=True), nn.MaxPool2d(3, 2, 1)
        self.layer1 = nn.Sequential(Block(w, w), Block(w, w))
        self.layer2 = nn.Sequential(Block(w, 2 * w, 2), Block(2 * w, 2 * w))
        self.layer3 = nn.Sequential(Block(2 * w, 4 * w, 2), Block(4 * w, 4 * w))
        self.layer4 = nn.Sequential(Block(4 * w, 8 * w, 2), Block(8 * w, 8 * w))
        self.avgpool, self.fc = nn.AdaptiveAvgPool2d(1), nn.Linear(8 * w, classes)

    def forward(self, x):
        x = self.maxpool(self.relu(self.bn1(self.conv1(x))))
        x = self.layer4(self.layer3(self.layer2(self.layer1(x))))
        return self.fc(torch.flatten(self.avgpool(x), 1))


class UNet(nn.Module):
    def __init__(self):
        super().__init__()
        self.down1, self.down2 = nn.Conv2d(1, 4, 3, padding=1), nn.Conv2d(4, 8, 3, padding=1)
        self.up = nn.ConvTranspose2d(8, 4, 2, stride=2)
        self.after, self.out = nn.Conv2d(8, 4, 3, padding=1), nn.Conv2d(4, 2, 1)

    def forward(self, x):
        first = F.relu(self.down1(x))
        second = F.relu(self.down2(F.max_pool2d(first, 2)))
        return self.out(F.relu(self.after(torch.cat([self.up(second), first], dim=1))))


class Separable(nn.Module):
    """A depthwise convolution and one of 1 × 1, with a gate over the channels."""

    def __init__(self):
        super().__init__()
        self.depth, self.point = nn.Conv2d(4, 4, 3, padding=1, groups=4), nn.Conv2d(4, 8, 1)
        self.bn, self.gate = nn.BatchNorm2d(8), nn.Linear(8, 8)

    def forward(self, x):
        x = F.hardswish(self.bn(self.point(F.silu(self.depth(x)))))
        return x * torch.sigmoid(self.gate(x.mean((2, 3))))[:, :, None, None]


class TwoInputs(nn.Module):
    """An image and a table; called by position or by name."""

    def __init__(self):
        super().__init__()
        self.conv, self.table, self.head = nn.Conv2d(1, 3, 3), nn.Linear(5, 7), nn.Linear(3 * 36 + 7, 2)

    def forward(self, image, table):
        seen = torch.relu(self.conv(image)).flatten(1)
        return self.head(torch.cat((seen, torch.tanh(self.table(table))), 1))


def seeded(seed=0):
    return torch.Generator().manual_seed(seed)


def made(kind, *args, seed=0, **options):
    """Return a model whose weights do not touch torch's own random numbers."""
    with torch.random.fork_rng([]):
        torch.manual_seed(seed)
        return kind(*args, **options)
