"""`python -m constrain`: the command line, where the script `constrain` is not on the path."""

from constrain.cli import main

if __name__ == "__main__":
    main()
