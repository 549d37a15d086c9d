import { systemClock } from "@svc/core";

/**
 * Returns the number of times that a test repeats a case: `sample` in `npm test`, `whole` in `npm run test:crash` (for the test files that
 * it lists). A case that checks something that no other case checks must also run in `npm test`.
 */
export function repeats<Count = number>({ sample, whole }: { readonly sample: Count; readonly whole: Count }): Count {
  return process.env["SVC_CRASH_ROUNDS"] === undefined ? sample : whole;
}

/**
 * Returns the cases that a test runs: every `step`-th case in `npm test`, all cases in `npm run test:crash`. The chosen cases change each
 * day (UTC). The cases must all be of the same kind.
 */
export function sampleOf<Case>(cases: readonly Case[], step: number): readonly Case[] {
  const day = Math.floor(systemClock.now() / 86_400_000);
  return repeats({ sample: cases.filter((_, index) => index % step === day % step), whole: cases });
}
