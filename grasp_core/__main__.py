"""``python -m grasp_core``."""

from grasp_core.cli import main

raise SystemExit(main())
