"""The templates of the rating page, the admin page and Mechanical Turk."""
