"""The commands of the command line, a file each; ``convviz/cli.py`` lists them."""
