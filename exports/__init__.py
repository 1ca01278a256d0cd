"""What annotation tools really export, held against what was annotated: ``make exports``.

Real servers are started from the environments that ``tools/exports.sh`` builds, on loopback and in a
temporary folder; made-up people annotate through their interfaces; the files are read like anybody's.
"""
