/**
 * Number of repetitions in a test: a sample in `npm test`, all of them in `npm run test:crash`, which names the test's file. A check that
 * only one case makes must not be left to the full run.
 */
export function repeats<Count = number>({ sample, whole }: { readonly sample: Count; readonly whole: Count }): Count {
  return process.env["SVC_CRASH_ROUNDS"] === undefined ? sample : whole;
}

/** Returns cases of one kind: every `step`-th in `npm test`, all of them in `npm run test:crash`, which names the file. */
export function sampleOf<Case>(cases: readonly Case[], step: number): readonly Case[] {
  return repeats({ sample: cases.filter((_, index) => index % step === 0), whole: cases });
}
