"""Templates, styles and scripts of all reports, and the page that is filled in from them."""
