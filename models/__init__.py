"""Model variants: one file each. Copy one, edit it, and pass its path where a name would go."""
