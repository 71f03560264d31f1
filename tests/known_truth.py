"""What is right of the same numbers, asked of autograd once: most tests of the checker ask for the same."""

from convviz.cases.tasks import truth


def remembered(patch, *modules):
    """Let modules that ask what is right remember it, by the very numbers."""
    known = {}

    def right(task, case):
        tensors = (case.input, case.weight, case.bias, case.grad_output, case.transposed_bias)
        asked = (task, case.spec, case.rule, *(tensor.detach().numpy().tobytes() for tensor in tensors))
        if asked not in known:
            known[asked] = truth(task, case)
        return dict(known[asked])

    for module in modules:
        patch.setattr(module, "truth", right)
