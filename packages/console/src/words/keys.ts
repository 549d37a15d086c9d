import { timestampMs } from "@bufbuild/protobuf/wkt";
import type { ApiKey } from "@svc/gen/admin";
import type { Grant } from "@svc/gen/grants";
import { Role } from "@svc/gen/options";
import type { Word } from "./word.ts";

const revoked: Word = { word: "revoked", tone: "plain", icon: "ban", says: "It was revoked, and is refused for good." };
const expired: Word = { word: "expired", tone: "warn", icon: "clock", says: "Its time is over, and it is refused." };
const valid: Word = { word: "valid", tone: "ok", icon: "check", says: "It is taken." };

/** True if a key is neither revoked nor expired at a time, in milliseconds. */
export function isKeyValid({ revokedAt, expiresAt }: Pick<ApiKey, "revokedAt" | "expiresAt">, now: number): boolean {
  return revokedAt === undefined && (expiresAt === undefined || timestampMs(expiresAt) > now);
}

/** How a key stands at a time, in milliseconds. */
export function keyStateWord(key: Pick<ApiKey, "revokedAt" | "expiresAt">, now: number): Word {
  if (isKeyValid(key, now)) return valid;
  return key.revokedAt === undefined ? expired : revoked;
}

/** What a key is bound to, such as "ada alone, read tools of calendar"; undefined for a key that is bound to nothing. */
export function boundText({
  entityId,
  accessClasses,
  toolkitSlugs,
}: Pick<ApiKey, "entityId" | "accessClasses" | "toolkitSlugs">): string | undefined {
  const isOfTools = accessClasses.length > 0 || toolkitSlugs.length > 0;
  const classes = accessClasses.length === 0 ? "tools" : `${accessClasses.join(" and ")} tools`;
  const tools = toolkitSlugs.length === 0 ? classes : `${classes} of ${toolkitSlugs.join(", ")}`;
  const parts = [...(entityId === "" ? [] : [`${entityId} alone`]), ...(isOfTools ? [tools] : [])];
  return parts.length === 0 ? undefined : parts.join(", ");
}

/** The words of a role, as seats and keys have it. */
const words: Record<Role, string> = {
  [Role.UNSPECIFIED]: "unknown",
  [Role.MEMBER]: "member",
  [Role.APPROVER]: "approver",
  [Role.ADMIN]: "administrator",
};

/** A role in a word. */
export function roleWord(role: Role): string {
  return (words as Record<number, string>)[role] ?? String(role);
}

const active: Word = { word: "active", tone: "ok", icon: "check", says: "The agent may do what is said here." };
const ended: Word = { word: "ended", tone: "plain", icon: "ban", says: "Nothing of it is taken any more." };
const keyEnded: Word = { ...ended, says: "The key that it was given with is refused, and so is the grant." };

/** How a grant stands. */
export function grantStateWord({ active: isActive, endedAt }: Pick<Grant, "active" | "endedAt">): Word {
  if (isActive) return active;
  return endedAt === undefined ? keyEnded : ended;
}

/** What an agent calls itself, else the id of its program. */
export function agentName({ clientName, clientId }: Pick<Grant, "clientName" | "clientId">): string {
  return clientName === "" ? clientId : clientName;
}

/** What a grant lets an agent do, such as "read and write tools of calendar, for ada alone". */
export function grantText({
  entityId,
  accessClasses,
  toolkitSlugs,
}: Pick<Grant, "entityId" | "accessClasses" | "toolkitSlugs">): string {
  const classes = [accessClasses.slice(0, -1).join(", "), accessClasses.at(-1) ?? "no"].filter(Boolean).join(" and ");
  const toolkits = toolkitSlugs.length === 0 ? "every toolkit" : toolkitSlugs.join(", ");
  return `${classes} tools of ${toolkits}, for ${entityId === "" ? "any entity" : `${entityId} alone`}`;
}

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
