"""What the app is measured against: the same eight tensors, shown in other ways."""
