/** Where the console is served: below this path, and at it without its slash. */
export const consolePath = "/console/";

/** Whether a path is the console's. */
export function isConsolePath(path: string): boolean {
  return path.startsWith(consolePath) || path === "/console";
}
