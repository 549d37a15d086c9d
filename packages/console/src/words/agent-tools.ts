import type { ApiKey } from "@svc/gen/admin";

type Choice = { value: string; words: string; says: string };

/** What a key or grant may be given beside the tools of apps. */
export const agentToolChoices: readonly Choice[] = [
  { value: "programs", words: "Programs", says: "Many calls at once, which go on by themselves." },
  { value: "connect", words: "Connect", says: "Links by which accounts are connected." },
  { value: "operate", words: "Operate", says: "How events and deliveries of the whole project stand." },
  { value: "repair", words: "Repair", says: "Deliveries are sent again, and posts that were held back are released." },
];

/** Which calls a person confirms before they are sent, whatever the agent writes; each has more confirmed than the one before. */
export const confirmedCalls: readonly Choice[] = [
  { value: "never", words: "Nothing", says: "A destructive call is held until the agent itself confirms it." },
  { value: "destructive", words: "What destroys", says: "Calls of destructive tools, and programs with such calls." },
  { value: "writes", words: "What writes or destroys", says: "Everything that changes something." },
];

/** What has as much confirmed as this, or more: what a grant may be narrowed to. Empty is `never`. */
export function asStrict(person: string): readonly Choice[] {
  return confirmedCalls.slice(
    Math.max(
      0,
      confirmedCalls.findIndex(({ value }) => value === person),
    ),
  );
}

/** What a key or grant is given beside the tools of apps, such as "Beside the tools of apps: programs, connect."; undefined for nothing. */
export function agentToolsText({ agentTools }: Pick<ApiKey, "agentTools">): string | undefined {
  return agentTools.length === 0 ? undefined : `Beside the tools of apps: ${agentTools.join(", ")}.`;
}

/** Which calls a person confirms, and who is asked; undefined where a key or grant asks for nobody. */
export function confirmText(confirm: { person: string; contact: string } | undefined): string | undefined {
  if (confirm === undefined || confirm.person === "" || confirm.person === "never") return undefined;
  const calls = confirm.person === "writes" ? "calls that write or destroy" : `${confirm.person} calls`;
  return `Its ${calls} wait until ${confirm.contact} confirms them.`;
}
