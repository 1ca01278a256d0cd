"""GRASP: which groups of raters see a task differently, and is it real?"""

__version__ = "0.1.0"
