/**
 * Returns the number of repetitions in a test: `sample` in `npm test`, `whole` in `npm run test:crash`, whose list names the test's file. A
 * check that only one case makes must also run in `npm test`.
 */
export function repeats<Count = number>({ sample, whole }: { readonly sample: Count; readonly whole: Count }): Count {
  return process.env["SVC_CRASH_ROUNDS"] === undefined ? sample : whole;
}

/** Returns cases of one kind: every `step`-th case in `npm test`, all cases in `npm run test:crash`, whose list names the test's file. */
export function sampleOf<Case>(cases: readonly Case[], step: number): readonly Case[] {
  return repeats({ sample: cases.filter((_, index) => index % step === 0), whole: cases });
}
