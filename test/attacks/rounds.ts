const given = process.env["SVC_ATTACK_ROUNDS"];

/** How often each attack is repeated: a sample in `npm test`, SVC_ATTACK_ROUNDS times in `npm run test:attacks`. */
export const rounds = Number(given ?? 1);

/**
 * The slowest hundredth of another project's calls while one attacks, milliseconds. In `npm test` other test files work beside the
 * server, so the bound there tells a node that stands still from one that is busy; the promise is what runs alone.
 */
export const bystanderP99MaxMs = given === undefined ? 4_000 : 250;

/**
 * How a test is run that times a bystander. In `npm test` once more where it fails: a stall by what other files do passes, and one
 * that is the node's own does not. Where the attacks run alone, once.
 */
export const timed: { readonly retry: number } = { retry: given === undefined ? 1 : 0 };

/** Memory of a server under attack, MiB. */
export const rssMaxMiB = 600;
