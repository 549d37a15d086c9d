import { Role } from "@svc/gen/options";

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
