"""What the lab says when a node does not become what it should: subject, saw, want."""


class LabError(RuntimeError):
    """One sentence for people: subject, saw, want."""


class CannotRun(LabError):
    """This machine cannot carry a node of this kind; the sentence says what it lacks."""
