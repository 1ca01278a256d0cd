"""GRASP from Python: what ``import grasp_core as grasp`` gives, on data frames, files and a server's runs."""
