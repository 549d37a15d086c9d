/** How the sandbox behaves towards one entity. */
export type Scenario =
  | { readonly name: "usual" | "429" | "500" | "slow" | "cut" | "unauthorized" | "error" }
  | { readonly name: "pages"; readonly pages: number };

const prefix = "sandbox:";

/** Most pages that a scenario may ask for. */
const pagesMax = 10_000;

/**
 * The scenarios, chosen by naming the entity `sandbox:` and one of these. Requests are checked first in all of them: a request that the
 * app would not understand is refused as ever. Any other entity gets the usual answers.
 */
export const scenarios: readonly { readonly name: string; readonly does: string }[] = [
  { name: "429", does: "answers 429 with retry-after: 1; nothing is changed" },
  { name: "500", does: "answers 500; nothing is changed" },
  { name: "slow", does: "does what is asked, and answers after the caller's time is over" },
  { name: "cut", does: "does what is asked, and breaks the connection before the answer" },
  { name: "pages=N", does: `lists serve N full pages (1 to ${pagesMax}), then no further token` },
  { name: "unauthorized", does: "answers 401, as for a credential that was withdrawn" },
  {
    name: "error",
    does: "answers an error in the app's own form: inside a 200 where its definition says so, else 422",
  },
];

/** The scenario of an entity. Undefined when it begins with `sandbox:` and names none of the table. */
export function scenarioOf(entityId: string): Scenario | undefined {
  if (!entityId.startsWith(prefix)) return { name: "usual" };
  const name = entityId.slice(prefix.length);
  switch (name) {
    case "429":
    case "500":
    case "slow":
    case "cut":
    case "unauthorized":
    case "error":
      return { name };
  }
  const pages = Number(/^pages=(\d{1,5})$/.exec(name)?.[1]);
  return pages >= 1 && pages <= pagesMax ? { name: "pages", pages } : undefined;
}
