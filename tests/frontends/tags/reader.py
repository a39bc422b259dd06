"""Structural tags read aloud, slowly: which runs of tokens are a sentence, and which begin one.

Every format is a function from a place in the run to the places where it may end there. Nothing
here knows of terms. A text stands for its bytes, or for special tokens where it has their names.
"""

from __future__ import annotations

from collections import defaultdict
from functools import cache

__all__ = ["Reader"]

NOTHING = frozenset()


class Reader:
    """One run of tokens.

    Attributes:
        open: Set when the run ended inside of something that could have gone on.
    """

    def __init__(self, tokens, ids):
        """Tokens are bytes, or the str that names a special one; `ids` are their ids."""
        self.symbols = []
        self.token_at = {}
        for token, i in zip(tokens, ids, strict=True):
            start = len(self.symbols)
            self.symbols += [token] if isinstance(token, str) else list(token)
            self.token_at[start] = (
                {i, token, None if isinstance(token, str) else token.decode()},
                len(self.symbols),
            )
        self.size = len(self.symbols)
        self.open = False
        self.known = {}
        self.spelled = {}

    def verdict(self, value):
        """Whether the run is a sentence of a format, and whether it begins one."""
        complete = self.size in self.read(value, 0)
        return complete, complete or self.open

    # Texts

    def spell(self, text, at, start=0, need=None):
        """Places where `text` from code point `start` on may end, if it begins at a place.

        With `need`, it is a beginning of the text that is wanted, just as long as `need` or, where
        a special token reaches past that, a little longer: (place, length).
        """
        goal = len(text) if need is None else need
        found, todo = set(), [(at, start)]
        while todo:
            place, k = todo.pop()
            if k >= goal:
                found.add((place, k))
            elif place == self.size:
                self.open = True
            else:
                symbol = self.symbols[place]
                if isinstance(symbol, str):
                    named = symbol[:1] + symbol[-1:] == "<>" or (k == 0 and symbol == text)
                    if named and text.startswith(symbol, k):
                        todo.append((place + 1, k + len(symbol)))
                elif ord(text[k]) == symbol:
                    todo.append((place + 1, k + 1))
        return found if need is not None else {place for place, _ in found}

    def one_token(self, at, names, others=False):
        """The place after a token out of these, or out of all others."""
        if at == self.size:
            self.open = True
            return NOTHING
        if at not in self.token_at:
            return NOTHING
        is_called, after = self.token_at[at]
        return {after} if bool(is_called & set(names)) != others else NOTHING

    # Formats

    def read(self, value, at):
        """Where a format may end that begins at a place."""
        key = id(value), at
        if key not in self.known:
            self.known[key] = value, getattr(self, value["type"])(value, at)
        return self.known[key][1]

    def read_until(self, value, at, ends):
        """Where a format and one of some ends after it may end."""
        kind = value["type"]
        if isinstance(ends, dict):
            name = ends["token"]
            if kind == "any_text":
                most = value.get("max_tokens")
                found = self.watch(at, [], value.get("excludes", ()), True, stop=name, most=most)
            elif kind in ("any_tokens", "exclude_token"):
                others = {"exclude_tokens": [*value["exclude_tokens"], name]}
                found = self.read(value | others, at)
            else:
                found = self.read(value, at)
            return self.all(found, lambda p: self.one_token(p, [name]))
        if kind in ("any_text", "triggered_tags", "dispatch"):
            return getattr(self, kind)(value, at, ends)
        if kind == "sequence":
            places = {at}
            for element in value["elements"][:-1]:
                places = self.all(places, lambda p, e=element: self.read(e, p))
            last = value["elements"][-1]
            return self.all(places, lambda p: self.read_until(last, p, ends))
        if kind == "or":
            return self.all(value["elements"], lambda e: self.read_until(e, at, ends))
        if kind == "optional":
            return self.read_until(value["content"], at, ends) | self.end(at, ends)
        return self.all(self.read(value, at), lambda p: self.end(p, ends))

    def all(self, items, function):
        return set().union(*[function(item) for item in items])

    def end(self, at, ends):
        return self.all(ends, lambda text: self.spell(text, at))

    def const_string(self, value, at):
        return self.spell(value["value"], at)

    def sequence(self, value, at):
        places = {at}
        for element in value["elements"]:
            places = self.all(places, lambda p, e=element: self.read(e, p))
        return places

    def or_(self, value, at):
        return self.all(value["elements"], lambda e: self.read(e, at))

    def optional(self, value, at):
        return {at} | self.read(value["content"], at)

    def repeat(self, value, at):
        hi = self.size + value["min"] + 1 if value["max"] < 0 else value["max"]
        found, places = ({at} if value["min"] == 0 else set()), {at}
        for i in range(1, hi + 1):
            places = self.all(places, lambda p: self.read(value["content"], p))
            found |= places if i >= value["min"] else NOTHING
        return found

    def star(self, value, at):
        return self.repeat(value | {"min": 0, "max": -1}, at)

    def plus(self, value, at):
        return self.repeat(value | {"min": 1, "max": -1}, at)

    def tag(self, value, at, start=0):
        begin, end = value["begin"], value["end"]
        places = (
            self.spell(begin, at, start)
            if isinstance(begin, str)
            else (self.one_token(at, [begin["token"]]))
        )
        ends = [end] if isinstance(end, str) else end
        return self.all(places, lambda p: self.read_until(value["content"], p, ends))

    def tags_with_separator(self, value, at):
        def one(place):
            return self.all(value["tags"], lambda tag: self.tag(tag, place))

        found = one(at)
        new = found if not value["stop_after_first"] else NOTHING
        while new:
            after = self.all(new, lambda p: self.spell(value["separator"], p))
            new = self.all(after, one) - found
            found = found | new
        return found if value["at_least_one"] else found | {at}

    # Free text

    def any_text(self, value, at, ends=None):
        watched = [] if ends is None else [(t, len(t), self.stay) for t in ends if t]
        may_end = ends is None or "" in ends
        most = value.get("max_tokens")
        return self.watch(at, watched, value.get("excludes", ()), may_end, most=most)

    def stay(self, place, length):
        return {place}

    def triggered_tags(self, value, at, ends=None):
        stop, first = value["stop_after_first"], value["at_least_one"]

        def after_tag(place):
            if not stop:
                return look(place)
            return {place} if ends is None else self.end(place, ends)

        def follow(tag):
            return lambda place, length: self.all(self.tag(tag, place, length), after_tag)

        watched = [
            (tag["begin"], len(trigger), follow(tag))
            for tag in value["tags"]
            for trigger in value["triggers"]
            if tag["begin"].startswith(trigger)
        ]
        look = self.looking(watched, value.get("excludes", ()), ends)
        if not first:
            return look(at)
        return self.all(value["tags"], lambda tag: self.all(self.tag(tag, at), after_tag))

    def dispatch(self, value, at, ends=None):
        loop = value.get("loop", True)

        def follow(content):
            def after(place, length):
                if loop:
                    return self.all(self.read(content, place), look)
                if ends is None:
                    return self.read(content, place)
                return self.read_until(content, place, ends)

            return after

        watched = [(text, len(text), follow(content)) for text, content in value["rules"]]
        look = self.looking(watched, value.get("excludes", ()), ends)
        return look(at)

    def looking(self, watched, excludes, ends):
        """`watch` from any place, for what is watched and for ends, each place looked at once."""
        closing = [] if ends is None else [(t, len(t), self.stay) for t in ends if t]
        may_end = ends is None or "" in ends
        return cache(lambda place: self.watch(place, watched + closing, excludes, may_end))

    def watch(self, at, watched, excludes, may_end, stop=None, most=None):
        """Free text from a place on, to the first end of what is watched, and what follows it.

        Args:
            at: The place.
            watched: (text, how much of it is waited for, what follows).
            excludes: Texts that end it all, unless what is watched ends there too.
            may_end: It may end anywhere before.
            stop: A special token that is no part of it.
            most: How many tokens it may come to before what is watched begins.
        """
        ends = [end for _, end in self.token_at.values() if end > at]
        last = self.size + 1 if most is None or len(ends) < most else ends[most - 1] if most else at
        found = {at} if may_end else set()
        was_open, begun = self.open, min(self.size, last) + 1  # what is watched begins before that
        excluded_yet = False
        for place in range(at, self.size):
            if self.symbols[place] == stop:
                self.open = was_open
                return found
            here = place + 1
            ended = [
                (follow, length)
                for text, need, follow in watched
                for length in self.lengths(text, need, at, here, begun)
            ]
            if ended:
                self.open = was_open
                for follow, length in ended:
                    found |= follow(here, length)
                return found
            excluded = [self.lengths(text, len(text), at, here, here) for text in excludes]
            if not excluded_yet and here <= last and any(excluded):
                begun, may_end, excluded_yet = here, False, True
            if may_end and here <= last:
                found.add(here)
            if here == last and not excluded_yet:  # it is cut short
                for text, need, follow in watched:
                    for after, length in self.spell(text, here, need=need):
                        found |= follow(after, length)
                was_open = was_open or self.open
        if excluded_yet or last <= self.size:
            self.open = was_open
            for text, need, _ in watched:
                for start in range(at, begun):
                    self.spell(text, start, need=need)
        else:
            self.open = True
        return found

    def lengths(self, text, need, at, here, begun):
        """How much of a text stands right before a place, if it begins in `at` to `begun`."""
        starts = range(at, min(here, begun))
        return {k for start in starts for k in self.ends_of(text, need, start)[here]}

    def ends_of(self, text, need, start):
        """For each place, how much of a text may stand before it from another place on."""
        found = self.spelled.get((text, need, start))
        if found is None:
            was_open = self.open
            found = self.spelled[text, need, start] = defaultdict(set)
            for place, k in self.spell(text, start, need=need):
                found[place].add(k)
            self.open = was_open
        return found

    # Tokens

    def token(self, value, at):
        return self.one_token(at, [value["token"]])

    def exclude_token(self, value, at):
        return self.one_token(at, value["exclude_tokens"], others=True)

    def any_tokens(self, value, at):
        found = new = {at}
        for _ in range(value.get("max_tokens", self.size + 1)):
            new = self.all(new, lambda p: self.exclude_token(value, p))
            found = found | new
        return found

    def token_triggered_tags(self, value, at):
        known = [*value["exclude_tokens"], *value["trigger_tokens"]]

        def one(place):
            return self.all(value["tags"], lambda tag: self.tag(tag, place))

        def free(place):
            return self.one_token(place, known, others=True)

        def rest(places, step):
            found = new = places
            while new:
                new = self.all(new, step) - found
                found = found | new
            return found

        if value["at_least_one"]:
            called = one(at)
            if value["stop_after_first"]:
                return called
            return rest(called, lambda p: free(p) | one(p))
        if value["stop_after_first"]:
            before = rest({at}, free)
            return before | self.all(before, one)
        return rest({at}, lambda p: free(p) | one(p))


setattr(Reader, "or", Reader.or_)
