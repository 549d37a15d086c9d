/** What a key is bound to as the contract has it. */
type Bound = {
  readonly entityId: string;
  readonly accessClasses: readonly string[];
  readonly toolkitSlugs: readonly string[];
};

/** What a key is bound to, such as `ada; read,write; calendar`, a star for what is not bounded; empty for a key that is not bound. */
export function boundText({ entityId, accessClasses, toolkitSlugs }: Bound): string {
  const parts = [entityId, accessClasses.join(","), toolkitSlugs.join(",")];
  return parts.every((part) => part === "") ? "" : parts.map((part) => part || "*").join("; ");
}
