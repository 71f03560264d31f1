"""Asking a function every case, random ones, or those of a scope that would fit, up to a report."""
