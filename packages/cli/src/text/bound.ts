import type { Timestamp } from "@bufbuild/protobuf/wkt";
import { Role, RoleSchema } from "@svc/gen/options";
import { plainText } from "./plain.ts";
import { timeText } from "./table.ts";

/** The access scope of a key, as in the API. */
type ScopeOfKey = {
  readonly entityId: string;
  readonly accessClasses: readonly string[];
  readonly toolkitSlugs: readonly string[];
};

type Confirmed = { readonly person: string; readonly contact: string; readonly elicitation?: boolean | undefined };

/**
 * Returns which calls need a confirmation, and by which contact: for example `destructive by lead` for the contact `lead`. Empty if no
 * calls need one.
 */
export function confirmText(policy: Confirmed | undefined): string {
  if (policy === undefined || policy.contact === "") return "";
  const { person, contact, elicitation } = policy;
  return `${person} by ${plainText(contact)}${elicitation === true ? " or in the client" : ""}`;
}

/**
 * Returns the access scope of a key (for example `ada; read,write; calendar`). A star means that the part is not limited. Empty if the key
 * is not scoped.
 */
export function boundText({ entityId, accessClasses, toolkitSlugs }: ScopeOfKey): string {
  const parts = [entityId, accessClasses.join(","), toolkitSlugs.join(",")];
  return parts.every((part) => part === "") ? "" : parts.map((part) => part || "*").join("; ");
}

/** Returns the state of a key: `revoked`, `valid`, or `until` with the time at which the key expires. */
export function keyStateText({
  revokedAt,
  expiresAt,
}: {
  readonly revokedAt?: Timestamp | undefined;
  readonly expiresAt?: Timestamp | undefined;
}): string {
  if (revokedAt !== undefined) return "revoked";
  return expiresAt === undefined ? "valid" : `until ${timeText(expiresAt)}`;
}

/** Returns the name of a role as users write it, such as `member`. */
export function roleText(role: Role): string {
  return (RoleSchema.value[role]?.name ?? String(role)).replace("ROLE_", "").toLowerCase();
}

/** Returns the role that a user wrote, such as `member`. */
export function roleOf(text: string): Role {
  return Role[text.toUpperCase() as keyof typeof Role];
}
