"""Tests of what builds, installs and checks the program."""
