import type { Role as KeyRole } from "@svc/core";
import { Role } from "@svc/gen/options";

const messages: Readonly<Record<KeyRole, Role>> = {
  viewer: Role.VIEWER,
  reader: Role.READER,
  member: Role.MEMBER,
  approver: Role.APPROVER,
};

/** Returns a key's role as the API writes it. */
export function roleMessage(role: KeyRole): Role {
  return messages[role];
}

/** Returns the role that a key can have, from the API's value; undefined for other values. */
export function readKeyRole(message: Role): KeyRole | undefined {
  return Object.entries(messages).find(([, value]) => value === message)?.[0] as KeyRole | undefined;
}
