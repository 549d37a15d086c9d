/** What a tool does to the data of its app, the least first. */
type AccessClass = "read" | "write" | "destructive";

/**
 * What a key, and whatever it began, may reach of its project. A part that is empty bounds nothing: `entityId` is the one entity whose
 * accounts and rows it reaches, `accessClasses` and `toolkitSlugs` the tools that it may call.
 */
export type Binding = {
  readonly entityId: string;
  readonly accessClasses: readonly AccessClass[];
  readonly toolkitSlugs: readonly string[];
};

/** The binding that stored parts make; undefined where none of them bounds anything. */
export function bindingOf({ entityId, accessClasses, toolkitSlugs }: Binding): Binding | undefined {
  if (entityId === "" && accessClasses.length === 0 && toolkitSlugs.length === 0) return undefined;
  return { entityId, accessClasses, toolkitSlugs };
}
