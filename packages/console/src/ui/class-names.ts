/** Returns the class names joined by spaces. Leaves out false and undefined. */
export function classNames(...names: readonly (string | false | undefined)[]): string {
  return names.filter(Boolean).join(" ");
}
