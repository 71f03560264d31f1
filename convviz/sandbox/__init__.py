"""Code that is not ours, in a process of its own: ``child_process.py`` asks it, ``kernel_limits.py`` holds it back."""
