const given = process.env["SVC_ATTACK_ROUNDS"];

/** Number of times that each attack is repeated: a sample in `npm test`, SVC_ATTACK_ROUNDS times in `npm run test:attacks`. */
export const rounds = Number(given ?? 1);

/**
 * Maximum p99 of another project's calls during an attack, in milliseconds. In `npm test` other test files run at the same time, so the
 * value there only detects a node that is blocked. The exact value applies if the attacks run alone.
 */
export const bystanderP99MaxMs = given === undefined ? 4_000 : 250;

/**
 * Options of tests that measure another project. In `npm test` a failed test is repeated once, because a delay by other test files passes
 * and a delay by the node itself does not.
 */
export const timed: { readonly retry: number } = { retry: given === undefined ? 1 : 0 };

/** Maximum memory of a server under attack, in MiB. */
export const rssMaxMiB = 600;
