"""Alpha vectors, and the beliefs at which they are backed up."""
