"""The equations of one body and of a pair of joints, of which loops over large robots are made."""
