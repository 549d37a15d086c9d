import type { Grant } from "@svc/gen/grants";

/**
 * The permissions that remain after a user reduces a grant (a person's permission for an agent). `typed`: the allowed toolkits (apps),
 * separated by commas; used if the grant itself allows all toolkits.
 */
export type KeptGrant = { accessClasses: readonly string[]; toolkitSlugs: readonly string[]; typed: string } & {
  agentTools: readonly string[];
  confirm: Confirmed;
};

/** Calls of the agent that a person must confirm (`person`), and the contact whom svc then asks (`contact`). */
type Confirmed = { person: string; contact: string };

type Narrowed = Pick<Grant, "accessClasses" | "toolkitSlugs" | "agentTools"> & { confirm?: Confirmed | undefined };

/** Returns the initial values of the form, which keep all permissions of the grant (a person's permission for an agent). */
export function keptOf({ accessClasses, toolkitSlugs, agentTools, confirm }: Narrowed): KeptGrant {
  const confirmed = { person: confirm?.person || "never", contact: confirm?.contact ?? "" };
  return { accessClasses, toolkitSlugs, typed: "", agentTools, confirm: confirmed };
}

/**
 * Returns the fields of the request that reduces the permissions of a grant (a person's permission for an agent). Each list contains the
 * entries to keep. If all entries of a list are kept, the list is sent empty, because the service then leaves it unchanged.
 */
export function narrowing(grant: Narrowed, { accessClasses, toolkitSlugs, typed, agentTools, confirm }: KeptGrant) {
  const part = (kept: readonly string[], all: readonly string[]) => (kept.length === all.length ? [] : [...kept]);
  const named = typed
    .split(",")
    .map((slug) => slug.trim())
    .filter(Boolean);
  const before = keptOf(grant).confirm;
  const isSame = confirm.person === before.person && confirm.contact.trim() === before.contact;
  return {
    accessClasses: part(accessClasses, grant.accessClasses),
    toolkitSlugs: grant.toolkitSlugs.length === 0 ? named : part(toolkitSlugs, grant.toolkitSlugs),
    // An empty list would leave the tools unchanged. Therefore "none" is sent if no tools are kept.
    agentTools: agentTools.length === 0 && grant.agentTools.length > 0 ? ["none"] : part(agentTools, grant.agentTools),
    ...(!isSame && { confirm: { person: confirm.person, contact: confirm.contact.trim() } }),
  };
}

/** Returns the reason why the user's changes to a grant (access given to an MCP client) cannot be sent. Undefined if they can. */
export function whyNotNarrowed(grant: Narrowed, kept: KeptGrant): string | undefined {
  const isNothing =
    kept.accessClasses.length === 0 || (grant.toolkitSlugs.length > 0 && kept.toolkitSlugs.length === 0);
  if (isNothing) return "Nothing would be left. Disconnect the agent instead.";
  const { accessClasses, toolkitSlugs, agentTools, confirm } = narrowing(grant, kept);
  if (confirm !== undefined && confirm.contact === "") return "Enter who has to confirm.";
  const isSome = accessClasses.length + toolkitSlugs.length + agentTools.length > 0 || confirm !== undefined;
  return isSome ? undefined : "No permission is removed yet.";
}
