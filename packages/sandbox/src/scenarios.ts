const failures = ["429", "500", "slow", "cut", "unauthorized", "error"] as const;

/**
 * Behaviour of the sandbox (apps that svc plays itself) for calls of one entity (customer or user): the usual answers, one kind of failure,
 * or a number of pages.
 */
export type Scenario =
  | { readonly name: "usual" }
  | {
      readonly name: (typeof failures)[number];
      /** The first `times` calls of each tool fail in this way. Later calls get the usual answers. Undefined means that all calls fail. */
      readonly times: number | undefined;
      /** The only tool to which this behaviour of the sandbox (for example an error) applies. Undefined means all tools. */
      readonly tool: string | undefined;
    }
  | { readonly name: "pages"; readonly pages: number };

const prefix = "sandbox:";

/**
 * Maximum number of pages that the name of a scenario may ask for. A scenario is a special behaviour of the sandbox, which the caller
 * selects by the name of the entity (customer or user).
 */
const pagesMax = 10_000;
/**
 * Maximum number of failing calls in the name of a scenario. For example, with `sandbox:500=2` the first two calls of each tool fail, and
 * later calls get the usual answers.
 */
const timesMax = 99;

/**
 * The scenarios of the sandbox. A caller selects a scenario by using an entity (customer or user) named `sandbox:` and the scenario's name.
 * Any other entity gets the usual answers. Before a scenario applies, the request is checked as usual: a request that the app would not
 * understand is refused.
 */
export const scenarios: readonly { readonly name: string; readonly does: string }[] = [
  { name: "429", does: "answers 429 with retry-after: 1; nothing is changed" },
  { name: "500", does: "answers 500; nothing is changed" },
  { name: "slow", does: "performs the call, and answers after the caller's timeout" },
  { name: "cut", does: "performs the call, and breaks the connection before the answer" },
  { name: "pages=N", does: `lists serve N full pages (1 to ${pagesMax}), then no further token` },
  { name: "unauthorized", does: "answers 401, as for a credential that was withdrawn" },
  {
    name: "error",
    does: "answers an error in the app's own form: inside a 200 where its definition says so, else 422",
  },
  { name: "500=2", does: `any of the failures so often (1 to ${timesMax}) for each tool, then answers as usual` },
  { name: "500=2@TOOL", does: "a failure, with or without a number, for this tool alone" },
];

/**
 * Returns the behaviour of the sandbox that the name of an entity (customer or user) requests, for example `sandbox:429`. Names without the
 * prefix `sandbox:` get the usual behaviour. Returns undefined if the text after the prefix is unknown.
 */
export function scenarioOf(entityId: string): Scenario | undefined {
  if (!entityId.startsWith(prefix)) return { name: "usual" };
  const text = entityId.slice(prefix.length);
  const pages = Number(/^pages=(\d{1,5})$/.exec(text)?.[1]);
  if (pages >= 1 && pages <= pagesMax) return { name: "pages", pages };
  const [, named, number, tool] = /^([a-z0-9]+)(?:=([1-9]\d?))?(?:@([a-z0-9_]+))?$/.exec(text) ?? [];
  const name = failures.find((failure) => failure === named);
  return name && { name, times: number === undefined ? undefined : Number(number), tool };
}
