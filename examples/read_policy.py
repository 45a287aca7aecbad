"""Reads a policy that was written as JSON, in plain Python: what the format means, without seqclass.

python examples/read_policy.py
python examples/read_policy.py policy.json "worst area=900" "worst texture=?" --known "worst symmetry=0.2"

Answers are told by the name of the question, ``?`` where there is none; of a question that shows several features they
stand in a row, commas between. It reads programs of any order; `docs/format.md` has those of a fixed order in words.
"""

from __future__ import annotations

import argparse
import bisect
import functools
import itertools
import json
import math
import operator
import tempfile
from pathlib import Path

TIE, TINY, INF = 1e-12, 2.2250738585072014e-308, math.inf


def plogp(p):
    return p * math.log(p + TINY)


class Reader:
    """A case, by the program of a policy: `tell` it answers; `stand` says what is believed, asked and decided."""

    def __init__(self, data):
        self.data, self.questions = data, data["questions"]
        vars(self).update(data["program"])
        self.spreads, self.optima = {}, {}
        self.stages = min(self.n_questions if self.max_questions is None else self.max_questions, self.n_questions)
        self.dearest = max(map(max, data["decision_costs"])) or 1.0
        self.perfect = [min(row) for row in data["decision_costs"]]
        self.case = {"w": self.hidden_prior, "seen": {}, "shown": {}, "paid": set(), "spent": 0.0, "known": 0}
        self.case |= {"ordered": [], "owed": {}, "visits": 0}
        free = {"cost": 0.0, "delay_cost": 0.0, "delays": [0.0] * len(self.questions), "max_panel": None}
        self.visit = data["visits"] or free
        self.waits = [delay * self.visit["delay_cost"] for delay in self.visit["delays"]]

    def visit_cost(self, panel):
        """What a visit costs beyond the prices of what is asked in it."""
        return self.visit["cost"] + max(self.waits[q] for q in panel) if panel else 0.0

    def order(self, panel):
        """Say what is ordered together. The first answer of `next_panel` says so by itself."""
        paid = self.case["spent"] + self.visit_cost(panel)
        self.case |= {"ordered": sorted(panel), "visits": self.case["visits"] + 1, "spent": paid}

    def leave(self):
        """Wait no more for the rest of what was ordered."""
        self.case |= {"ordered": []}
        self.settle()

    def settle(self):
        """Pay what is owed for groups of which nothing that is waited for would add less."""
        case, owed = self.case, {}
        for group, surcharge in case["owed"].items():
            if group not in case["paid"] and self.least_added(case["ordered"], group) < surcharge * (1 - TIE):
                owed[group] = surcharge
            elif group not in case["paid"]:
                case |= {"spent": case["spent"] + surcharge, "paid": case["paid"] | {group}}
        case["owed"] = owed

    def tell(self, question, outcomes, known=False):
        """Answer a question: an outcome for each of its features, -1 where it is not available."""
        known = known or "known" in self.questions[question]  # whenever it is told
        if self.data["visits"] and not known and question not in self.case["ordered"]:
            panel, waits = self.next_panel(), self.case["ordered"]
            self.order([question] if waits or question not in panel else panel)
            self.case["ordered"] = waits or self.case["ordered"]
        case, weight = self.case, self.case["w"]
        shown = dict(case["shown"])
        for feature, outcome in zip(self.questions[question]["features"], outcomes):
            if outcome >= 0:
                rows = self.spread_of(shown)[feature] if self.network else self.likelihoods[feature]
                weight = [w * p for w, p in zip(weight, rows[outcome])]
                shown[feature] = outcome
        pays = not known and (max(outcomes) >= 0 or self.data["charge_missing"])
        price, full = self.own(case, question) if pays else 0.0, pays and self.in_full(case, question)
        self.case = self.after(case, question, weight, tuple(outcomes), price, full)
        group = self.questions[question]["group"]
        if pays and not full and group is not None:
            self.case["owed"] = case["owed"] | {group: min(case["owed"].get(group, INF), self.surcharge(question))}
        self.case["known"] += known and question < self.n_questions
        self.case["ordered"] = [q for q in case["ordered"] if q != question]
        self.settle()

    def after(self, case, question, weight, outcomes, price=None, pays=True):
        """What is known after an answer."""
        group, total = self.questions[question]["group"], sum(weight)
        spent = case["spent"] + (self.price(case, question) if price is None else price)
        paid = case["paid"] | ({group} if pays and group is not None else set())
        shown = {f: v for f, v in zip(self.questions[question]["features"], outcomes) if v >= 0}
        told = {"seen": case["seen"] | {question: outcomes}, "shown": case["shown"] | shown, "paid": paid}
        told["w"] = [w / total for w in weight]
        case = {key: value for key, value in case.items() if key != "standing"}
        return case | told | {"spent": spent, "stage": case.get("stage", 0) + 1}

    def price(self, case, q):
        """Price of a question that is asked alone, in a visit of its own."""
        return self.own(case, q) + self.visit_cost([q])

    def own(self, case, q):
        """Price of a question, that of its visit left out."""
        price, shown = self.questions[q]["full_price" if self.in_full(case, q) else "price"], case["shown"]
        for one in self.prices_after:  # of those that hold the last one counts
            if one["question"] == q and all(shown.get(gate["feature"], -1) in gate["answers"] for gate in one["if"]):
                price = one["price"]
        return price

    def told(self, case):
        """Outcomes by feature, with those that are implied by what is known at the start."""
        implied = {self.questions[q]["features"][0]: v for q, v in case.get("implied", {}).items()}
        return implied | case["shown"]

    def in_full(self, case, q):
        """Whether it pays in full for its group: nothing did, and nothing that is waited for would add less."""
        group = self.questions[q]["group"]
        if group is None or group in case["paid"]:
            return False
        return not self.least_added(case["ordered"], group) < self.surcharge(q) * (1 - TIE)

    def surcharge(self, q):
        """Full price less price."""
        return self.questions[q]["full_price"] - self.questions[q]["price"]

    def least_added(self, panel, group):
        """Least surcharge of a group's questions in a panel."""
        return min([self.surcharge(q) for q in panel if self.questions[q]["group"] == group], default=INF)

    def belief(self, weight):
        """P(class) of weights of the hidden states."""
        return [sum(w for w, c in zip(weight, self.hidden_class) if c == i) for i in range(len(self.data["classes"]))]

    def decisions(self, belief):
        """Expected cost of each decision."""
        return [sum(b * cost for b, cost in zip(belief, costs)) for costs in zip(*self.data["decision_costs"])]

    def stop(self, weight):
        """Expected cost of the best decision."""
        return min(self.decisions(self.belief(weight)))

    def rows(self, case, q):
        """P(outcome | hidden state) of a question; in a network, whose classes are the states, given what was seen."""
        shows = self.questions[q]["features"]
        return self.jointly(case["shown"], *shows) if self.network else self.bundles[q] or self.likelihoods[shows[0]]

    def jointly(self, shown, feature, *others):
        """P(joint outcome | class, what was seen) of features of a network, the last one changes first."""
        rows = self.spread_of(shown)[feature]
        if not others:
            return rows
        after = [self.jointly(shown | {feature: v}, *others) for v in range(len(rows))]
        return [[p * q for p, q in zip(row, more)] for row, own in zip(rows, after) for more in own]

    def spread_of(self, shown):
        """P(outcome | class, what was seen) of each feature of a network."""
        seen = tuple(sorted(shown.items()))
        if seen not in self.spreads:
            classes = [self.spread(c, shown) for c in range(len(self.data["classes"]))]
            self.spreads[seen] = [[list(row) for row in zip(*of)] for of in zip(*classes)]
        return self.spreads[seen]

    def spread(self, c, seen):
        """P(outcome | class, what was seen) of each variable: messages go through the cliques to the roots and back."""
        sizes, cliques = self.network["sizes"], self.network["cliques"]
        full, sent, shared, found = [], {}, {}, [[] for _ in sizes]

        def key(k, at, kept):
            return tuple(x for v, x in sorted(zip(cliques[k]["variables"], at)) if v in kept)

        def sums(k, kept):
            message = dict.fromkeys((key(k, at, kept) for at in full[k]), 0.0)
            for at, p in full[k].items():
                message[key(k, at, kept)] += p
            most = max(message.values()) or 1.0
            return {at: p / most for at, p in message.items()}

        def times(k, kept, message):
            full[k] = {at: p * message[key(k, at, kept)] for at, p in full[k].items()}

        for one in cliques:
            cells = zip(
                itertools.product(*(range(sizes[v]) for v in one["variables"])), one["table"][c % len(one["table"])]
            )
            full.append({at: p * all(seen.get(v, x) == x for v, x in zip(one["variables"], at)) for at, p in cells})
        for k, one in enumerate(cliques):  # children stand before their parents
            if one["parent"] >= 0:
                shared[k] = {*one["variables"]} & {*cliques[one["parent"]]["variables"]}
                sent[k] = sums(k, shared[k])
                times(one["parent"], shared[k], sent[k])
        for k, one in reversed([*enumerate(cliques)]):
            if one["parent"] >= 0:
                back = sums(one["parent"], shared[k])
                times(k, shared[k], {at: p / (sent[k][at] or 1.0) for at, p in back.items()})
            for v in one["variables"]:
                shown = [p for _, p in sorted(sums(k, {v}).items())]
                found[v] = [p / sum(shown) if any(shown) else 1 / sizes[v] for p in shown]
        return found

    def joints(self, case, q):
        """P(hidden state, outcome | what was seen) of each outcome."""
        return [[w * p for w, p in zip(case["w"], row)] for row in self.rows(case, q)]

    def open(self, case):
        """Questions that may come next."""
        if case["stage"] >= self.stages:
            return []
        most = INF if self.max_cost is None else self.max_cost * (1 + TIE)
        asked = range(self.n_questions) if self.any_order else [case["stage"]]
        asked = [
            q for q in asked
            if not self.any_order or (q not in case["seen"] and case["spent"] + self.price(case, q) <= most)
        ]  # fmt: skip
        allowed = self.standing(case)["allowed"] if self.rules else {*asked} - {*case.get("implied", ())}
        return [q for q in asked if q in allowed and q not in case.get("closed", ())]

    def consequences(self, logic, answers, unasked, lost):
        """What skip logic says of answers by feature: with implied ones, what is open, and what never will be."""
        answers, closed, opens = dict(answers), set(lost), {}

        def hit(rule):
            return answers.get(rule["feature"], -1) in rule["answers"]

        def shows(rule):
            return self.questions[rule["question"]]["features"][0]

        while more := [
            r for r in logic
            if r["effect"] == "implies" and hit(r) and r["question"] in unasked and shows(r) not in answers
        ]:  # fmt: skip
            answers[shows(more[0])] = more[0]["implied"]
        for rule in logic:
            if rule["effect"] == "opens":
                opens.setdefault(rule["question"], []).append(rule)
        shut = {rule["question"] for rule in logic if rule["effect"] != "opens" and hit(rule)}
        closed |= shut

        def met(own, is_met):
            return (any if any(rule["any"] for rule in own) else all)(map(is_met, own))

        def may(rule):
            return hit(rule) if rule["feature"] in answers else rule["after"] not in closed

        while more := [q for q, own in opens.items() if q not in closed and not met(own, may)]:
            closed.update(more)
        return answers, {q for q in unasked - shut if q not in opens or met(opens[q], hit)}, closed

    def standing(self, case):
        """How a case stands to the rules: what they allow, what of it has to be asked, and the price of that."""
        if "standing" in case:
            return case["standing"]
        rules, every = self.rules, range(self.n_questions)
        area, required, sets = rules["area"], rules["required"], rules["sets"]
        asked, left = {q for q in case["seen"] if q < self.n_questions}, self.stages - case["stage"]
        must = [q for q in required if q not in asked]

        def count():
            n = [sum(area[q] == a for q in {*asked, *must}) for a in range(len(rules["at_least"]))]
            need = [max(least - number, 0) for least, number in zip(rules["at_least"], n)]
            there = {
                q for q in every
                if q not in asked and q not in rules["closed"]
                and (q in must or area[q] < 0 or n[area[q]] < rules["at_most"][area[q]])
                and not any(q in group and asked & {*group} for group in rules["enemies"])
            }  # fmt: skip
            return need, there

        need, there = count()
        if not there.issuperset(must):  # answers that nobody asked for leave it out
            must = [q for q in must if q in there]
            need, there = count()
        units = [{rules["unit"][q] for q in there - {*required} if area[q] in one["areas"]} for one in sets]
        if any(len(own) < sum(need[a] for a in one["areas"]) for own, one in zip(units, sets)):
            for own, one in zip(units, sets):
                *others, last = one["areas"]
                need[last] = min(need[last], len(own) - sum(need[a] for a in others))
        if len(must) + sum(need) > left:
            must = must[: max(left, 0)]
            before = [len(must), *need]
            need = [min(max(left - sum(before[: a + 1]), 0), n) for a, n in enumerate(need)]
        n = len(must) + sum(need)
        prices, full = ([self.questions[q][key] for q in every] for key in ("price", "full_price"))
        least = sum(prices[q] for q in must)
        for a, own in enumerate(rules["cheapest"]):
            least += sum([prices[q] for q in own if q in there][: need[a]] if rules["at_least"][a] else [])
        most = sum(full[q] for q in must)
        most += sum(k * max((full[q] for q in every if area[q] == a), default=0) for a, k in enumerate(need))
        unasked = {*every} - asked - {*case.get("implied", {})} - case.get("closed", set())
        allowed = there - {*case.get("implied", {})} - case.get("closed", set())
        allowed &= self.consequences(rules["answers"], self.told(case), unasked, set())[1]
        for q in rules["first"]:
            if q in allowed and (q in must or q not in required):
                allowed = {q}
                break
        wanted = {q for q in every if area[q] >= 0 and need[area[q]] > 0} - {*must}
        serves = wanted | {*must}
        if rules["demands"]:
            allowed = {q for q in allowed if n - left + (q not in serves) <= 0}
            for own, one in zip(units, sets):
                if all(need[a] > 0 for a in one["areas"]):
                    spare = len(own) - sum(need[a] for a in one["areas"])
                    own_ones = {q for q in wanted if area[q] in one["areas"]}
                    allowed = {q for q in allowed if spare >= one["takes"][q] or q in own_ones}
        case["standing"] = {
            "allowed": allowed, "serves": allowed & serves, "more": n > 0, "least": least, "most": most,
            "after": {q for q in every if n - (q in serves) > 0},
        }  # fmt: skip
        return case["standing"]

    def must(self, case):
        """Whether something has to be asked before anything is decided."""
        demands = self.rules and self.rules["demands"]
        return bool(demands and self.standing(case)["more"] and self.open(case))

    def among(self, case):
        """Questions among which heuristics choose: what has to be asked, or what can change anything."""
        if not self.rules or not self.rules["demands"]:
            return [q for q in self.open(case) if self.late(q) < 2]
        return [q for q in self.open(case) if not self.must(case) or q in self.standing(case)["serves"]]

    def stopping(self, case):
        """Cost of deciding now; infinite where something has to be asked first."""
        return INF if self.must(case) else self.stop(case["w"])

    def finish(self, case):
        """Cost of deciding once all was asked that has to be."""
        return self.stop(case["w"]) + (self.standing(case)["most"] if self.must(case) else 0.0)

    def least(self, case):
        """No way of going on costs less: one more price, then the class is known."""
        known = sum(b * cost for b, cost in zip(self.belief(case["w"]), self.perfect))
        demanded = self.standing(case)["least"] if self.rules and self.rules["demands"] else 0.0
        return max(min([self.price(case, q) for q in self.open(case)], default=INF), demanded) + known

    def settled(self, case):
        """Whether no question can pay."""
        return self.stopping(case) * (1 - TIE) <= self.least(case)

    def once(self, case, q):
        """Expected cost of asking and deciding then."""
        return self.price(case, q) + sum(map(self.stop, self.joints(case, q)))

    def expected(self, case, q, value):
        """Cost of asking, and of what follows."""
        cost = self.price(case, q)
        for v, joint in enumerate(self.joints(case, q)):
            if sum(joint) > 0:
                cost += sum(joint) * value(self.after(case, q, joint, self.shows(q, v)))
        return cost

    def few(self, costs, most):
        """Questions of the smallest costs; what differs by rounding alone goes by number."""
        return sorted(costs, key=lambda q: round(costs[q] / self.dearest, 10))[:most]

    def ahead(self, case, depth, most):
        """Cost of each question, looking some questions ahead at those that may be the best."""
        once = {q: self.once(case, q) for q in self.open(case)}
        if depth == 1 or case["stage"] + 1 >= self.stages:
            return once
        if self.any_order:
            cheapest = self.cheapest_price()
            after = self.standing(case)["after"] if self.rules else ()
            reached = min([self.finish(case), *(cost for q, cost in once.items() if q not in after)]) * (1 + TIE)
            once = {q: cost for q, cost in once.items() if self.bound(case, q, cheapest) <= reached}
            once = {q: once[q] for q in sorted(self.few(once, most))}
        return {q: self.expected(case, q, lambda after: self.best(after, depth - 1, most)) for q in once}

    def cheapest_price(self):
        """Least price of all."""
        return min(self.questions[q]["price"] + self.visit_cost([q]) for q in range(self.n_questions))

    def bound(self, case, q, cheapest):
        """What asking costs at least, whatever follows."""
        known = [
            sum(j) * cheapest + sum(map(math.prod, zip(self.belief(j), self.perfect))) for j in self.joints(case, q)
        ]
        return self.price(case, q) + sum(map(min, map(self.stop, self.joints(case, q)), known))

    def best(self, case, depth, most):
        """Expected cost of the best of stopping and looking so far ahead."""
        if not self.any_order:  # what was answered before its turn is passed over
            case = case | {"stage": self.unanswered(case, case["stage"])}
        stop = self.stopping(case)
        return stop if self.settled(case) else min([stop, *self.ahead(case, depth, most).values()])

    def unanswered(self, case, stage):
        """First question of a fixed order from a stage on that was not answered."""
        return next((q for q in range(stage, self.n_questions) if q not in case["seen"]), self.n_questions)

    def gain(self, rule, case, q):
        """What a question promises, by an ordering rule."""
        belief, joints, kind = self.belief(case["w"]), self.joints(case, q), rule["type"]
        if kind == "expected saving":
            return (self.stop(case["w"]) - self.once(case, q) + self.price(case, q)) / self.dearest
        if kind == "hidden information":
            given = sum(w * plogp(row[h]) for row in self.rows(case, q) for h, w in enumerate(case["w"]))
            return given - sum(plogp(sum(joint)) for joint in joints)
        if kind == "ec2":
            roots = [[w * math.sqrt(p) for w, p in zip(case["w"], row)] for row in self.rows(case, q)]
            apart = sum(sum(root) ** 2 - sum(b * b for b in self.belief(root)) for root in roots)
            return (1 - sum(b * b for b in belief) - apart) / 2
        told = sum(sum(map(plogp, self.belief(joint))) - plogp(sum(joint)) for joint in joints)
        entropy = -sum(map(plogp, belief))
        return (told + entropy) / (max(entropy, TINY) if kind == "cross entropy" else 1.0)

    def scores(self, rule, case):
        """What each open question promises, per price where the rule says so."""
        asked = self.among(case)
        if rule["type"] == "order":
            return {q: -rule["order"].index(q) for q in asked if q in rule["order"]}
        if rule["type"] == "lookahead":
            costs = self.ahead(case, rule["depth"], rule["n_candidates"])
            return {q: self.stop(case["w"]) - cost for q, cost in costs.items() if q in asked}
        if rule["type"] == "improved":
            tried = self.few({q: self.once(case, q) for q in asked}, rule["n_candidates"])
            tried = {*tried, self.next(rule["values"]["rule"], case)} - {-1}
            value = functools.partial(self.value, rule["values"])
            return {q: self.stop(case["w"]) - self.expected(case, q, value) for q in tried}
        least, found = TIE * self.dearest, {q: self.gain(rule, case, q) for q in asked}
        if not rule["per_price"]:
            return found
        per = {q: max(self.price(case, q), least) / self.dearest for q in asked}
        return {q: found[q] / per[q] if abs(found[q]) > TIE else 0.0 for q in asked}

    def tells(self, q):
        """Whether a question has several outcomes."""
        return any(self.data["features"][feature]["n_outcomes"] > 1 for feature in self.questions[q]["features"])

    def next(self, rule, case, among=lambda q: True):
        """The question of the best score, of equals the first; -1 where none is open."""
        scores = {q: score for q, score in self.scores(rule, case).items() if among(q)}
        top = max(scores.values(), default=-INF)
        return min([q for q, score in scores.items() if score >= top - 1e-10 * max(abs(top), 1)], default=-1)

    def going_on(self, values, case):
        """What the rule asks, and by regression what going on costs."""
        rule, stage, stop = values["rule"], case["stage"], self.stop(case["w"])
        q = self.next(rule, case)
        weights = values["weights"][stage] if q >= 0 and stage < values["n_stages"] else None
        once = self.once(case, q) if q >= 0 else INF
        dearest = max(once, self.finish(case)) if self.must(case) else once
        if weights is None:
            return q, dearest
        belief, best = self.belief(case["w"]), min(self.once(case, one) for one in self.open(case))
        entropy = -sum(map(plogp, belief))
        ahead = stop - self.scores(rule, case)[q] if rule["type"] in ("lookahead", "improved") else once
        told = [1, stop, once, best, ahead, entropy, *sorted(belief)[-2:], math.sqrt(stop)]
        told += belief if len(belief) <= 10 else []
        told += [stop**2, stop * ahead, ahead**2, entropy**2, stop * entropy, ahead * entropy]
        gone = {*case["seen"], *case.get("implied", ()), *case.get("closed", ())}
        asked = [float(one in gone) for one in range(self.n_questions)] if self.n_questions <= 40 else []
        told += asked + [one * stop for one in asked]
        cost = sum(weight * x for weight, x in zip(weights, told))
        return q, min(max(cost, self.least(case)), dearest)

    def value(self, values, case):
        """Expected cost of the best of stopping and going on along a rule."""
        if case["stage"] >= values["n_stages"] or self.settled(case):
            return self.finish(case)
        return min(self.finish(case), self.going_on(values, case)[1])

    def costs(self, policy, case):
        """Cost of each question: some questions ahead, or to the end."""
        if policy["type"] == "lookahead":
            return self.mine(case, self.ahead(case, policy["depth"], policy["n_candidates"]))
        if self.settled(case):
            return self.mine(case, self.ahead(case, 2, 5))
        if case["stage"] + 1 >= self.stages:
            return self.ahead(case, 2, 5)
        return {q: self.expected(case, q, self.optimum) for q in self.open(case)}

    def mine(self, case, costs):
        """Of costs those among which it chooses where there are rules."""
        return {q: costs[q] for q in self.among(case) if q in costs} if self.rules else costs

    def optimum(self, case):
        """Expected cost of the best of all that may follow; kept, as many orders lead to the same answers."""
        key = case["stage"], self.max_cost and case["spent"], *map(frozenset, (case["seen"].items(), case["paid"]))
        if key not in self.optima:
            stop, costs = self.stopping(case), {}
            if not self.settled(case):
                costs = self.costs({"type": "recursion"}, case)
            self.optima[key] = min([stop, *costs.values()])
        return self.optima[key]

    def prices(self, case, panel):
        """What is in a panel costs this: of a group that question pays in full for which this adds least."""
        groups = {self.questions[q]["group"] for q in panel} - {None} - case["paid"]
        added = sum(self.least_added(panel, group) for group in groups)
        return sum(self.questions[q]["price"] for q in panel) + added

    def after_panel(self, weights, case, q, last):
        """Expected cost of deciding after a question, or by regression of what follows the visit."""
        if weights is None or last:
            return sum(map(self.stop, self.joints(case, q)))
        asked = sum(one < self.n_questions for one in case["seen"]) if self.any_order else case["stage"]
        share, cost = (asked + 1) / self.n_questions, 0.0
        for joint in self.joints(case, q):
            belief, total, stop = self.belief(joint), sum(joint), self.stop(joint)
            if total > 0:
                spread = total - sum(b * b for b in belief) / total
                told = [total, stop, spread, math.sqrt(stop * total), math.sqrt(max(spread, 0.0) * total)]
                told += [stop**2 / total, stop * spread / total, spread**2 / total]
                told += (belief if len(belief) <= 10 else []) + [total * share, stop * share]
                least = total * self.cheapest_price() + sum(map(math.prod, zip(belief, self.perfect)))
                cost += min(stop, max(sum(map(math.prod, zip(weights, told))), least))
        return cost

    def follow(self, branches, q, most):
        """All answers of a question in each branch, or where they are many an even sample of fixed size."""
        found = [
            (share * sum(joint), self.after(case, q, joint, self.shows(q, v)))
            for share, case in branches for v, joint in enumerate(self.joints(case, q)) if sum(joint) > 0
        ]  # fmt: skip
        if len(found) <= most:
            return found
        ends, drawn = list(itertools.accumulate(share for share, _ in found)), {}
        for k in range(most):
            at = min(bisect.bisect_left(ends, (k + 0.5) / most * ends[-1]), len(ends) - 1)
            drawn[at] = drawn.get(at, 0) + 1
        return [(times / most, found[at][1]) for at, times in drawn.items()]

    def panel(self, policy, case, limit):
        """The best panel and its cost, by the table or grown question by question."""
        bits, cost = self.row(policy, case)
        if bits is not None:
            found = [q for q in range(self.n_questions) if bits >> q & 1]
            if len(found) <= limit - case["stage"]:
                return found, INF if cost is None else cost
        rest = [q for q in range(case["stage"], self.n_questions) if q not in case["seen"]]
        left = self.open(case) if self.any_order else rest
        most = min(policy["most"], limit - case["stage"], self.visit["max_panel"] or INF, len(left))
        dearest = INF if self.max_cost is None else self.max_cost * (1 + TIE) - case["spent"]
        known = sum(map(math.prod, zip(self.belief(case["w"]), self.perfect)))
        panel, best, least, since, branches = [], [], INF, 0, [(1.0, case)]
        for size in range(1, most + 1):
            asked, costs = [q for q in left if q not in panel], {}
            for q in asked if self.any_order else asked[:1]:
                paid = self.prices(case, [*panel, q]) + self.visit_cost([*panel, q])
                after = (share * self.after_panel(policy["weights"], b, q, len(asked) <= 1) for share, b in branches)
                costs[q] = paid + sum(after) if paid <= dearest else INF
            q = self.cheapest(costs)
            panel, counts = [*panel, q], size >= min(policy["least"], most)
            better = counts and costs[q] < least * (1 - TIE)
            if better:
                best, least = sorted(panel), costs[q]
            since = 0 if better or not counts else since + 1
            floor = self.prices(case, panel) + self.visit_cost(panel) + known
            if counts and (since >= 2 or floor >= least):
                break
            branches = self.follow(branches, q, policy["n_branches"])
            if not self.any_order:  # what was answered before its turn is passed over
                branches = [(n, b | {"stage": self.unanswered(b, b["stage"])}) for n, b in branches]
        return best, least

    def row(self, policy, case):
        """What a table says, and its cost, where it is about what was seen and all of it was asked and paid for."""
        own = {q: self.code(q, seen) for q, seen in sorted(case["seen"].items()) if q < self.n_questions}
        groups = {self.questions[q]["group"] for q in own} - {None}
        every = {question["group"] for question in self.questions[: self.n_questions]}
        if len(own) != case["stage"] or case["paid"] & every != groups:
            return None, None
        seen = [cell for pair in own.items() for cell in pair]
        spent = policy.get("spent") or [case["spent"]] * len(policy["plan"])
        rows = (
            row[:2]
            for row, paid in zip(policy["plan"], spent)
            if row[2:] == seen and math.isclose(paid, case["spent"], rel_tol=1e-10, abs_tol=1e-10)
        )
        return next(rows, (None, None))

    def view(self):
        """The case as the policy sees it."""
        own = [q for q in range(self.n_questions) if q in self.case["seen"]]
        stage = len(own) - (0 if self.max_questions is None else self.case["known"])
        if not self.any_order:
            stage = self.unanswered(self.case, 0)
        case = {key: value for key, value in self.case.items() if key != "standing"}
        if self.start:  # what is known at the start closes questions, or answers them
            first = {q for q, question in enumerate(self.questions) if "known" in question}
            told = {f: v for q in first for f in self.questions[q]["features"] if (v := case["shown"].get(f, -1)) >= 0}
            rest = {*range(len(self.questions))} - first
            answers, _, closed = self.consequences(self.start, told, rest, first)
            shows = {q: self.questions[q]["features"][0] for q in rest - {*case["seen"]}}
            implied = {q: answers[f] for q, f in shows.items() if f in answers}
            case |= {"implied": implied, "closed": (closed & rest) - {*implied, *case["seen"]}}
        return case | {"stage": stage}

    def next_panel(self):
        """The questions to order together, or those that are waited for; none where it decides."""
        return self.goes_on()[0]

    def goes_on(self):
        """The next panel, and what going on is expected to cost; None where the policy does not tell, or one waits."""
        if self.case["ordered"]:
            return self.case["ordered"], None
        case = self.view()
        q, cost = self.asks(self.policy, case)
        sure = self.policy["type"] == "sure"
        policy, limit = (self.policy["policy"], self.policy["n_stages"]) if sure else (self.policy, self.stages)
        if q < 0 or policy["type"] != "panels" or (policy["once"] and case["visits"]):
            return ([q] if q >= 0 else []), cost
        panel = self.panel(policy, case, limit)[0]
        if sure and self.any_order and self.asks(policy, case)[0] < 0:  # as it has to go on
            panel = [one for one in panel if self.tells(one)]
        return [one for one in panel or [q] if one not in case["seen"]], cost

    def cheapest(self, costs, late=lambda q: 0):
        """The first of the least costs, of equal ones those that are not put off."""
        equal = [q for q, cost in costs.items() if cost <= min(costs.values()) * (1 + TIE)]
        return min(equal, key=lambda q: (late(q), q), default=-1)

    def late(self, q):
        """Whether a question is for nothing, or can change nothing either, and so comes after equal ones."""
        return self.questions[q].get("put_off", 0)

    def asks(self, policy, case, certainly=False):
        """What a policy asks and what it expects going on to cost, or -1; ``certainly``: as if it had to go on."""
        q, cost = self.chooses(policy, case, certainly)
        if q < 0 and not certainly and self.must(case):  # whatever pays, what has to be asked is asked
            costs = {q: self.once(case, q) for q in self.open(case) if q in self.standing(case)["serves"]}
            return self.cheapest(costs), self.chooses(policy, case, True)[1]
        return q, cost

    def chooses(self, policy, case, certainly):
        """The same, whatever has to be asked."""
        kind, stop = policy["type"], self.stopping(case)
        if kind in ("rule", "recursion", "lookahead"):
            if case["stage"] >= policy["n_stages"] or (not certainly and self.settled(case)):
                return -1, None
            if kind == "rule":
                q, cost = self.going_on(policy["values"], case)
            else:
                costs = self.costs(policy, case)
                q, cost = self.cheapest(costs, self.late), min(costs.values(), default=INF)
            return (q, cost) if certainly or cost < stop * (1 - TIE) else (-1, None)
        if kind == "panels":
            if case["stage"] >= policy["n_stages"] or (policy["once"] and case["visits"]):
                return -1, None
            panel, cost = self.panel(policy, case, self.stages)
            goes = certainly or (cost < stop * (1 - TIE) and not self.settled(case))
            return min(panel, default=-1) if goes else -1, cost
        if kind == "plan":
            q, cost = self.row(policy, case)
            if q is None or (q < 0 and certainly):
                return self.asks(policy["otherwise"], case, certainly)
            if cost is None:
                return q, self.asks(policy["otherwise"], case, True)[1]
            return (q, cost) if certainly or cost < stop * (1 - TIE) else (-1, None)
        if kind not in ("first", "likely", "sure"):
            raise NotImplementedError(f"read policies of type {kind} as policy.js does")
        if case["stage"] >= policy["n_stages"] and (not certainly or kind == "sure" or policy["rule"] is None):
            return -1, None
        if kind == "sure":
            within = policy["policy"]
            if (not certainly and stop <= policy["cost"]) or (within.get("once") is True and case["visits"]):
                return -1, None  # sure enough, or the one visit was made
            q = self.asks(within, case, True)[0] if self.any_order else case["stage"]
            gates = [*(self.rules or {}).get("answers", ()), *(one for some in self.prices_after for one in some["if"])]
            opens = self.must(case) or any(rule["after"] == q for rule in gates)
            if self.any_order and q >= 0 and not self.tells(q) and not opens and self.asks(within, case)[0] != q:
                q = -1  # nothing is learnt of what has one outcome only
            told = {"type": "class information", "per_price": True}
            among = (lambda _: True) if self.must(case) else self.tells
            return (self.next(told, case, among) if q < 0 and self.open(case) else q), None
        if kind == "likely" and not certainly and max(self.belief(case["w"])) >= policy["threshold"] - TIE:
            return -1, None
        return (min(self.open(case), default=-1) if policy["rule"] is None else self.next(policy["rule"], case)), None

    def shows(self, q, code):
        """Outcomes of the features of a question by the number of a joint one."""
        sizes = [self.data["features"][feature]["n_outcomes"] for feature in self.questions[q]["features"]]
        steps = [*itertools.accumulate([1, *sizes[:0:-1]], operator.mul)][::-1]
        return tuple(code // step % size for step, size in zip(steps, sizes))

    def code(self, q, outcomes):
        """Number of a joint outcome; -1 where nothing was seen, None where only part of it was."""
        if min(outcomes) < 0:
            return -1 if max(outcomes) < 0 else None
        sizes = [self.data["features"][feature]["n_outcomes"] for feature in self.questions[q]["features"]]
        return functools.reduce(lambda code, one: code * one[1] + one[0], zip(outcomes, sizes), 0)

    def stand(self):
        """Belief, the question asked (-1: none), what going on is expected to save, and the decision for now."""
        belief, (panel, cost) = self.belief(self.case["w"]), self.goes_on()
        saving = None if cost in (None, INF) or not panel else self.stop(self.case["w"]) - cost
        return belief, panel[0] if panel else -1, saving, self.cheapest(dict(enumerate(self.decisions(belief))))


def outcome(feature, value):
    """Outcome that a value of a feature belongs to; without a value that of missing, or -1 where that tells nothing."""
    if value is None:
        return feature.get("missing", -1)
    if feature["type"] == "category":
        name = value.strip(" \t\n\r\f\v")
        others = feature.get("spellings", {})
        return others[name] if name in others else feature["categories"].index(name)
    if feature["type"] == "outcome":
        return int(float(value))
    return feature["places"][sum(edge <= float(value) for edge in feature["edges"])]


def answers(data, text):
    """Number of the question that ``NAME=VALUE`` answers, and the outcomes of its features."""
    name, _, told = text.partition("=")
    number = next(k for k, question in enumerate(data["questions"]) if question["name"] == name)
    shows = [data["features"][k] for k in data["questions"][number]["features"]]
    values = [None if value == "?" else value for value in (told.split(",") if len(shows) > 1 else [told])]
    return number, [outcome(feature, value) for feature, value in zip(shows, values)]


def written(folder):
    """A policy to read where none is given."""
    from sklearn.datasets import load_iris

    import seqclass
    from seqclass.export import export_policy

    X, y = load_iris(return_X_y=True, as_frame=True)
    clf = seqclass.SequentialClassifier(order="adaptive").fit(X, y.map({0: "setosa", 1: "versicolor", 2: "virginica"}))
    export_policy(clf, folder / "policy.json")
    return folder / "policy.json"


def main():
    parser = argparse.ArgumentParser(description="Where a case stands, by a policy that was written as JSON.")
    parser.add_argument("policy", nargs="?", help="file of the policy; by default one is made")
    parser.add_argument("answers", nargs="*", help="NAME=VALUE, in the order in which they were given")
    parser.add_argument("--known", action="append", default=[], help="NAME=VALUE that was known before, at no price")
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        path = arguments.policy or written(Path(folder))
        data = json.loads(Path(path).read_text(encoding="utf-8"))
    told = arguments.answers or ([] if arguments.policy else ["petal width (cm)=1.7"])
    case = Reader(data)
    for text in arguments.known:
        case.tell(*answers(data, text), known=True)
    for text in told:
        case.tell(*answers(data, text))
    belief, question, saving, decision = case.stand()
    print("answered:", ", ".join([*arguments.known, *told]) or "nothing")
    print("belief:", ", ".join(f"{name} {p:.3f}" for name, p in zip(data["classes"], belief)))
    if question >= 0:
        more = "" if saving is None else f", going on is expected to save {saving:.4f} more than it costs"
        print(f"next: {data['questions'][question]['name']}{more}")
    print(f"paid {case.case['spent']:.4g}; decision as things stand: {data['decisions'][decision]}")


if __name__ == "__main__":
    main()
