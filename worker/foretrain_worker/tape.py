"""What happened in the training, in order: changes of stage, and events between them."""

REST = "rest"


class Tape:
    """Stage i lasts from its mark to the next one's; an event's position is the number of stages begun before it."""

    def __init__(self):
        self.stages = []
        self.events = []

    def switch(self, stage, mark):
        """From `mark` on the stage is `stage`. Returns its position, at which the tape can be cut."""
        self.stages.append((stage, mark))
        return len(self.stages) - 1

    def relabel(self, begin, old, new):
        """From stage `begin` on, each stage `old` turns out to be `new`."""
        self.stages[begin:] = [(new if stage == old else stage, mark) for stage, mark in self.stages[begin:]]

    def add(self, name, value=None):
        self.events.append((len(self.stages), name, value))

    def cut(self, position):
        """Take off and return all before stage `position`, which then is this tape's first."""
        head = Tape()
        head.stages, self.stages = self.stages[:position], self.stages[position:]
        head.events = [event for event in self.events if event[0] <= position]
        self.events = [(at - position, name, value) for at, name, value in self.events if at > position]
        return head

    def named(self, name):
        return [value for _, event, value in self.events if event == name]

    def seconds_by_stage(self, clock, end):
        """Total seconds of each stage up to the mark `end`."""
        totals = {}
        marks = [mark for _, mark in self.stages[1:]] + [end]
        for (stage, begin), finish in zip(self.stages, marks):
            totals[stage] = totals.get(stage, 0.0) + clock.seconds(begin, finish)
        return totals
