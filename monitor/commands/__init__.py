"""What the commands do, one file each; `cli` only reads their arguments."""
