"""Mutation testing: does a test fail when a line of the code is changed?"""
