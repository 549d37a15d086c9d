/** Path of the console, with or without its final slash. */
export const consolePath = "/console/";

/** True if a path belongs to the console. */
export function isConsolePath(path: string): boolean {
  return path.startsWith(consolePath) || path === "/console";
}
