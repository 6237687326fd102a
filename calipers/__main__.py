"""The command `calipers`, as it is installed and as `python -m calipers`."""

import gc

from calipers.own_folders import always_own_folders

# importing and reading leave hardly any garbage in circles, and looking for it took a tenth of a short command
SELDOM = 500_000, 100, 1_000


def main() -> None:
    """Run the command of the words that were typed; its folders are ours whatever else is called as they are."""
    gc.set_threshold(*SELDOM)
    always_own_folders()
    from app.command_line import main as command

    command()


if __name__ == "__main__":
    main()
