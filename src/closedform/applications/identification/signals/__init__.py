"""What is done to a log's signals before anything is fitted, and what is wrong with them."""
