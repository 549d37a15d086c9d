/**
 * Returns how often a test repeats a case: `sample` times in `npm test`, `whole` times in `npm run test:crash` (only for test files in its
 * list). A check that only one case makes must also run in `npm test`.
 */
export function repeats<Count = number>({ sample, whole }: { readonly sample: Count; readonly whole: Count }): Count {
  return process.env["SVC_CRASH_ROUNDS"] === undefined ? sample : whole;
}

/**
 * Returns the cases that a test runs: every `step`-th case in `npm test`, all cases in `npm run test:crash` (only for test files in its
 * list). The cases must be of one kind.
 */
export function sampleOf<Case>(cases: readonly Case[], step: number): readonly Case[] {
  return repeats({ sample: cases.filter((_, index) => index % step === 0), whole: cases });
}
