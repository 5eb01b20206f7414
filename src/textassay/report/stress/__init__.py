"""Reports of stress studies."""
