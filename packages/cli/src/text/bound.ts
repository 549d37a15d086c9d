import type { Timestamp } from "@bufbuild/protobuf/wkt";
import { plainText } from "./plain.ts";
import { timeText } from "./table.ts";

/** What a key is bound to as the contract has it. */
type Bound = {
  readonly entityId: string;
  readonly accessClasses: readonly string[];
  readonly toolkitSlugs: readonly string[];
};

type Confirmed = { readonly person: string; readonly contact: string; readonly elicitation?: boolean | undefined };

/** Which calls a person confirms, such as `destructive by lead` or `destructive by lead or in the client`; empty for none. */
export function confirmText(policy: Confirmed | undefined): string {
  if (policy === undefined || policy.contact === "") return "";
  const { person, contact, elicitation } = policy;
  return `${person} by ${plainText(contact)}${elicitation === true ? " or in the client" : ""}`;
}

/** What a key is bound to, such as `ada; read,write; calendar`, a star for what is not bounded; empty for a key that is not bound. */
export function boundText({ entityId, accessClasses, toolkitSlugs }: Bound): string {
  const parts = [entityId, accessClasses.join(","), toolkitSlugs.join(",")];
  return parts.every((part) => part === "") ? "" : parts.map((part) => part || "*").join("; ");
}

/** The state of a key: `revoked`, `until` its end, or `valid`. */
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
