"""foretrain's worker: watches an unmodified PyTorch training from inside its own processes.

Contract: docs/formats.md, "The worker's specification" (in) and "The worker's record" (out). The way of a
measurement through the modules:

    install     waits until the script imports torch, then sets the watch up
    patches_*   put small wrappers around torch's own functions; they only say "this began", "this ended"
    watch       hears them, keeps the stage of the moment and cuts the training into iterations
    iteration   turns what was heard in one iteration into one line of the record
    ending      ends the script when the window is complete, and says why when it never was
"""
