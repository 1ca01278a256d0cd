"""GRASP from Python: functions of ``import grasp_core as grasp`` for data frames, files and servers."""
