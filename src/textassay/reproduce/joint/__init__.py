"""Tables and figures of the paper on joint metrics of quality and diversity (Montahaei et al. 2019)."""
