"""An older commit and this tree, measured in turns in one run."""
