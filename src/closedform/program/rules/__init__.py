"""Rewriting: passes that lower a program's count of operations and keep its value."""
