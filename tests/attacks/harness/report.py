"""What is counted, and how it is told."""

import threading
from collections import Counter


class Report:
    """What was tried, what got through and what could not be tried."""

    def __init__(self):
        self.lock = threading.Lock()
        self.tried, self.through, self.skips, self.faults = Counter(), [], {}, []

    def add(self, family, what, evidence):
        with self.lock:
            self.tried[family] += 1
            if evidence:
                self.through.append((family, what, evidence))

    def skip(self, family, why):
        with self.lock:
            self.skips.setdefault((family, why), 0)
            self.skips[family, why] += 1

    def fault(self, text):
        with self.lock:
            self.faults.append(text)

    def show(self):
        """Prints everything; gives whether nothing got through."""
        got = Counter(family for family, _, _ in self.through)
        for (family, why), count in sorted(self.skips.items()):
            print(f"skipped: {family}: {why}" + (f" ({count})" if count > 1 else ""))
        for family, what, evidence in sorted(self.through):
            print(f"got through: {family}: {what}: {evidence}")
        for text in self.faults:
            print(f"fault: {text}")
        width = max(map(len, self.tried), default=6)
        print(f"\n{'family':{width}}  tried  got through")
        for family in sorted(self.tried):
            print(f"{family:{width}}  {self.tried[family]:5}  {got[family]:11}")
        failed = len(self.through) + len(self.faults)
        print(f"attacks: {sum(self.tried.values()) - len(self.through)} passed, {failed} failed")
        return failed == 0
