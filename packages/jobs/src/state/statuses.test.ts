import fc from "fast-check";
import { expect, test } from "vitest";
import {
  assertMove,
  firstStatuses,
  isEnd,
  isParkable,
  isRetryable,
  jobStatuses,
  mayMove,
  transitions,
} from "./statuses.ts";

test("every walk over the table ends in an end or may go on to one", () => {
  const walk = fc.array(fc.nat(20), { maxLength: 40 });
  fc.assert(
    fc.property(fc.constantFrom(...firstStatuses), walk, (first, choices) => {
      let status = first;
      for (const choice of choices) {
        const next = transitions[status];
        if (isEnd(status)) break;
        const to = next[choice % next.length];
        if (to === undefined) throw new Error("unreachable");
        assertMove(status, to);
        status = to;
      }
      expect(reachable(status).some(isEnd)).toBe(true);
    }),
  );
});

test("what the table does not name is refused, and an end is left by a retry alone", () => {
  fc.assert(
    fc.property(fc.constantFrom(...jobStatuses), fc.constantFrom(...jobStatuses), (from, to) => {
      if (transitions[from].includes(to)) assertMove(from, to);
      else expect(() => assertMove(from, to)).toThrow(`a job that is ${from} cannot become ${to}`);
      const isFirst = to === "queued" || to === "pending_plan_approval";
      if (isEnd(from)) expect(mayMove(from, to)).toBe(isRetryable(from) && isFirst);
    }),
  );
});

test("every status can be reached", () => {
  const reached = new Set(firstStatuses.flatMap(reachable));
  expect([...reached].sort()).toEqual([...jobStatuses].sort());
});

test("what may be parked from outside, or paused, goes to parked, and back to where it stood", () => {
  const parkable = jobStatuses.filter(isParkable);
  expect(parkable).toEqual(["queued", "running", "compensating"]);
  for (const status of parkable) expect([mayMove(status, "parked"), mayMove("parked", status)]).toEqual([true, true]);
});

function reachable(from: (typeof jobStatuses)[number]): (typeof jobStatuses)[number][] {
  const seen = new Set([from]);
  for (const status of seen) for (const next of transitions[status]) seen.add(next);
  return [...seen];
}
