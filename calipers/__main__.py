"""The command `calipers`, as it is installed and as `python -m calipers`."""

from calipers.own_folders import always_own_folders


def main() -> None:
    """Run the command of the words that were typed; its folders are ours whatever else is called as they are."""
    always_own_folders()
    from app.command_line import main as command

    command()


if __name__ == "__main__":
    main()
