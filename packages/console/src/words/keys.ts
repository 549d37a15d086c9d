import { timestampMs } from "@bufbuild/protobuf/wkt";
import type { ApiKey } from "@svc/gen/admin";
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
