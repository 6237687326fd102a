"""The command `calipers`, as it is installed and as `python -m calipers`."""

import gc
import os

from calipers.own_folders import always_own_folders

# Arrow's own pool keeps what a file took to be read, a fifth of what a command may hold; the system's gives it back
POOL = "ARROW_DEFAULT_MEMORY_POOL", "system"
# importing and reading leave hardly any garbage in circles, and looking for it took a tenth of a short command
SELDOM = 500_000, 100, 1_000


def main() -> None:
    """Run the command of the words that were typed; its folders are ours whatever else is called as they are."""
    gc.set_threshold(*SELDOM)
    os.environ.setdefault(*POOL)
    always_own_folders()
    from app.command_line import main as command

    command()


if __name__ == "__main__":
    main()
