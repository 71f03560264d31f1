"""What the project promises about speed and size, measured side by side: `make bench`."""
