import { timestampMs } from "@bufbuild/protobuf/wkt";
import type { ApiKey } from "@svc/gen/admin";
import type { Grant } from "@svc/gen/grants";
import { Role } from "@svc/gen/options";
import type { Word } from "./word.ts";

const revoked: Word = {
  word: "revoked",
  label: "Revoked",
  tone: "plain",
  icon: "ban",
  says: "The key was revoked and no longer works.",
};
const expired: Word = {
  word: "expired",
  label: "Expired",
  tone: "warn",
  icon: "clock",
  says: "The key has expired and no longer works.",
};
const valid: Word = { word: "valid", label: "Valid", tone: "ok", icon: "check", says: "The key works." };

/** True if a key is neither revoked nor expired. `now`: the time for which this is checked, in epoch milliseconds. */
export function isKeyValid({ revokedAt, expiresAt }: Pick<ApiKey, "revokedAt" | "expiresAt">, now: number): boolean {
  return revokedAt === undefined && (expiresAt === undefined || timestampMs(expiresAt) > now);
}

/** Returns the word for the state of a key at the time `now` (epoch milliseconds). */
export function keyStateWord(key: Pick<ApiKey, "revokedAt" | "expiresAt">, now: number): Word {
  if (isKeyValid(key, now)) return valid;
  return key.revokedAt === undefined ? expired : revoked;
}

/** Returns the limits of a scoped key (for example "user ada, read tools of calendar"). Returns undefined for a key without limits. */
export function boundText({
  entityId,
  accessClasses,
  toolkitSlugs,
}: Pick<ApiKey, "entityId" | "accessClasses" | "toolkitSlugs">): string | undefined {
  const isOfTools = accessClasses.length > 0 || toolkitSlugs.length > 0;
  const classes = accessClasses.length === 0 ? "tools" : `${accessClasses.join(" and ")} tools`;
  const tools = toolkitSlugs.length === 0 ? classes : `${classes} of ${toolkitSlugs.join(", ")}`;
  const parts = [...(entityId === "" ? [] : [`user ${entityId}`]), ...(isOfTools ? [tools] : [])];
  return parts.length === 0 ? undefined : parts.join(", ");
}

/** The words for the roles of seats (signed-in keys) and other keys. */
const words: Record<Role, string> = {
  [Role.UNSPECIFIED]: "unknown",
  [Role.VIEWER]: "viewer",
  [Role.READER]: "reader",
  [Role.MEMBER]: "member",
  [Role.APPROVER]: "approver",
  [Role.ADMIN]: "administrator",
};

/** Returns the word for a role. */
export function roleWord(role: Role): string {
  return (words as Record<number, string>)[role] ?? String(role);
}

const active: Word = {
  word: "active",
  label: "Active",
  tone: "ok",
  icon: "check",
  says: "The agent has these permissions.",
};
const ended: Word = {
  word: "ended",
  label: "Ended",
  tone: "plain",
  icon: "ban",
  says: "The agent no longer has these permissions.",
};
const keyEnded: Word = { ...ended, says: "The key that gave these permissions no longer works." };

/** Returns the word, colour and icon for the state of a grant (a person's permission for an agent). */
export function grantStateWord({ active: isActive, endedAt }: Pick<Grant, "active" | "endedAt">): Word {
  if (isActive) return active;
  return endedAt === undefined ? keyEnded : ended;
}

/** Returns the name of an agent. Without a name, returns the id of its client. */
export function agentName({ clientName, clientId }: Pick<Grant, "clientName" | "clientId">): string {
  return clientName === "" ? clientId : clientName;
}

/** Returns the permissions of a grant in words (for example "read and write tools of calendar, only for ada"). */
export function grantText({
  entityId,
  accessClasses,
  toolkitSlugs,
}: Pick<Grant, "entityId" | "accessClasses" | "toolkitSlugs">): string {
  const classes = [accessClasses.slice(0, -1).join(", "), accessClasses.at(-1) ?? "no"].filter(Boolean).join(" and ");
  const toolkits = toolkitSlugs.length === 0 ? "all apps" : toolkitSlugs.join(", ");
  return `${classes} tools of ${toolkits}, ${entityId === "" ? "for all users" : `only for ${entityId}`}`;
}

type Choice = { value: string; words: string; says: string };

/** Tools of svc itself that a key or grant (a person's permission for an agent) may use, in addition to the tools of apps. */
export const agentToolChoices: readonly Choice[] = [
  { value: "programs", words: "Programs", says: "Durable programs of many calls." },
  { value: "connect", words: "Connect", says: "Links for connecting accounts." },
  { value: "operate", words: "Operate", says: "Reads events and deliveries of the whole project." },
  { value: "repair", words: "Repair", says: "Resends deliveries, and releases quarantined posts." },
];

/**
 * The choices for calls that a person must confirm before svc sends them. The agent cannot change this choice. Each choice includes the
 * calls of the choice before it.
 */
export const confirmedCalls: readonly Choice[] = [
  { value: "never", words: "None", says: "The agent itself confirms calls that delete data." },
  { value: "destructive", words: "Deletes only", says: "Calls that delete data, and programs with such calls." },
  { value: "writes", words: "All changes", says: "Calls that write or delete data." },
];

/**
 * Returns the choices for confirmed calls that are at least as strict as the present one, because a grant can only become stricter.
 * `person`: the present choice; empty means `never`.
 */
export function asStrict(person: string): readonly Choice[] {
  return confirmedCalls.slice(
    Math.max(
      0,
      confirmedCalls.findIndex(({ value }) => value === person),
    ),
  );
}

/**
 * Returns a sentence with the groups of svc's own tools that a key or grant (a person's permission for an agent) may use in addition to the
 * tools of apps. Returns undefined if there are none.
 */
export function agentToolsText({ agentTools }: Pick<ApiKey, "agentTools">): string | undefined {
  return agentTools.length === 0 ? undefined : `Further abilities: ${agentTools.join(", ")}.`;
}

/**
 * Returns which calls a person confirms, and which contact (person) svc asks. Returns undefined if a key or grant (a person's permission
 * for an agent) needs no confirmation.
 */
export function confirmText(confirm: { person: string; contact: string } | undefined): string | undefined {
  if (confirm === undefined || confirm.person === "" || confirm.person === "never") return undefined;
  const calls = confirm.person === "writes" ? "calls that write or delete data" : "calls that delete data";
  return `${confirm.contact} must confirm ${calls}.`;
}

/**
 * Times, as options of a field, for which an old secret stays valid after a new one has replaced it. The values are seconds. The first is
 * the service's default.
 */
export const secretOverlaps: readonly { value: string; words: string }[] = [
  { value: "86400", words: "1 day" },
  { value: "604800", words: "7 days" },
  { value: "3600", words: "1 hour" },
  { value: "0", words: "ends now" },
];

/** The roles that a key or a person can have, each with what it may do. */
export const keyRoles: readonly { readonly value: string; readonly words: string; readonly says: string }[] = [
  { value: "viewer", words: "Viewer", says: "Can only read, and sees neither payloads nor results." },
  { value: "reader", words: "Reader", says: "Can only read, payloads and results too." },
  { value: "member", words: "Member", says: "Can use the project: read, call tools, submit jobs, answer questions." },
  { value: "approver", words: "Approver", says: "Can also approve programs and change the project's settings." },
];
