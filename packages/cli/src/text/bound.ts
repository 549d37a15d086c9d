import { plainText } from "./plain.ts";

/** What a key is bound to as the contract has it. */
type Bound = {
  readonly entityId: string;
  readonly accessClasses: readonly string[];
  readonly toolkitSlugs: readonly string[];
};

/** Which calls a person confirms, such as `destructive by lead`; empty for none. */
export function confirmText(policy: { readonly person: string; readonly contact: string } | undefined): string {
  return policy === undefined || policy.contact === "" ? "" : `${policy.person} by ${plainText(policy.contact)}`;
}

/** What a key is bound to, such as `ada; read,write; calendar`, a star for what is not bounded; empty for a key that is not bound. */
export function boundText({ entityId, accessClasses, toolkitSlugs }: Bound): string {
  const parts = [entityId, accessClasses.join(","), toolkitSlugs.join(",")];
  return parts.every((part) => part === "") ? "" : parts.map((part) => part || "*").join("; ");
}
