/**
 * How often a test does what it repeats: a sample in `npm test`, the whole in `npm run test:crash`, which names its file. Nothing that
 * is told by one case alone is left to the whole.
 */
export function repeats<Count = number>({ sample, whole }: { readonly sample: Count; readonly whole: Count }): Count {
  return process.env["SVC_CRASH_ROUNDS"] === undefined ? sample : whole;
}

/** Cases of one kind: every `step`-th in `npm test`, all of them in `npm run test:crash`, which names the file. */
export function sampleOf<Case>(cases: readonly Case[], step: number): readonly Case[] {
  return repeats({ sample: cases.filter((_, index) => index % step === 0), whole: cases });
}
